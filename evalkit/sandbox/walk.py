"""How is every path of a tree listed that somebody hostile has made?

Names may be any bytes, trees may be 10,000 levels deep, links may point anywhere, and everything may change
while it is read. So nothing is opened by its full path: each folder is opened from its parent without
following links, and going back up is checked against the folder that was left.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

PATH_BYTES = 4096
"""A folder with a longer path is listed but not entered: no program can open what is below by its path."""

OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

_BY_PATH = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_OWNERS = 0o700
"""What a folder must allow its owner while it is read. Root is allowed everything without."""


Skip = Callable[[os.stat_result], bool]


class TreeChanged(Exception):
    """A folder was moved away while it was being read."""


@dataclass(frozen=True, slots=True)
class Visit:
    """One path that was found. `folder` is its open parent, valid until the next visit."""

    path: str
    name: str
    folder: int
    stat: os.stat_result


@dataclass(slots=True)
class _Level:
    path: str | None
    identity: tuple[int, int]
    pending: list[str] = field(default_factory=list[str])
    mode: int | None = None
    """What to restore when leaving, where the folder had to be made readable."""


def walk(root: int, path: str | None, *, reopen: bool = False, skip: Skip | None = None) -> Iterator[Visit]:
    """Everything below the open folder `root`, which is called `path`; parents first, names sorted.

    Folders that `skip` says so of are listed and not entered.

    With `reopen`, folders that may not be read are made readable while they are read (which changes their ctime);
    otherwise they are listed and not entered. Without a `path` no visit has one, and every depth is reached. Uses two
    file descriptors however deep the tree is. Raises TreeChanged; without `reopen` also the OSErrors of a folder
    that cannot be searched.
    """
    try:
        yield from _walk(root, path, reopen=reopen, skip=skip)
    except (PermissionError, FileNotFoundError, NotADirectoryError) as error:
        if not reopen:
            raise
        raise TreeChanged(path or "") from error


def identity(status: os.stat_result) -> tuple[int, int]:
    """What tells one file from every other on this machine."""
    return status.st_dev, status.st_ino


def enter(parent: int, name: str, *, reopen: bool, write: bool = False) -> tuple[int, int | None] | None:
    """Open a folder in an open folder, never through a link, to list and search it (and to `write` into it).

    Returns it with the mode that it had where `reopen` had to change it, for `restore`; None where it is gone, was
    replaced, or cannot be read.
    """
    try:
        handle = os.open(name, _BY_PATH, dir_fd=parent)
    except OSError:
        return None
    try:
        return open_again(handle, reopen=reopen, write=write)
    except OSError:
        return None
    finally:
        os.close(handle)


def open_again(folder: int, *, reopen: bool, write: bool = False) -> tuple[int, int | None]:
    """A second descriptor for an open folder that may have been opened by O_PATH; see `enter`. Raises OSError."""
    try:
        # Finding `.` needs leave to search the folder, and opening it leave to list it.
        handle = os.open(".", OPEN_FOLDER, dir_fd=folder)
    except PermissionError:
        if not reopen:
            raise
    else:
        if not (write and reopen) or os.access(".", os.W_OK, dir_fd=handle, effective_ids=True):
            return handle, None
        os.close(handle)
    mode = stat.S_IMODE(os.fstat(folder).st_mode)
    os.chmod(f"/proc/self/fd/{folder}", mode | _OWNERS)  # noqa: PTH101  -- by descriptor, so no link is followed
    return os.open(".", OPEN_FOLDER, dir_fd=folder), mode


def restore(folder: int, mode: int | None) -> None:
    """Give an open folder the mode back that `enter` returned, unless somebody has changed it since."""
    if mode is not None:
        with contextlib.suppress(OSError):
            if stat.S_IMODE(os.fstat(folder).st_mode) == mode | _OWNERS:
                os.fchmod(folder, mode)


def _walk(root: int, path: str | None, *, reopen: bool, skip: Skip | None) -> Iterator[Visit]:
    here, mode = open_again(root, reopen=reopen)
    level = _Level(path, identity(os.fstat(here)), mode=mode)
    trail: list[_Level] = []
    try:
        yield from _visits(here, level, skip)
        while level.pending or trail:
            if level.pending:
                name = level.pending.pop()
                entered = enter(here, name, reopen=reopen)
                if entered is None:
                    continue
                child, mode = entered
                os.close(here)
                here = child
                trail.append(level)
                level = _Level(_join(level.path, name), identity(os.fstat(here)), mode=mode)
                yield from _visits(here, level, skip)
            else:
                here = _leave(here, level)
                level = trail.pop()
                if identity(os.fstat(here)) != level.identity:
                    raise TreeChanged(level.path)
    finally:
        while trail and any(one.mode is not None for one in trail):
            try:
                here = _leave(here, level)
            except OSError:
                break
            level = trail.pop()
            if identity(os.fstat(here)) != level.identity:
                break
        if identity(os.fstat(here)) == level.identity:
            restore(here, level.mode)
        os.close(here)


def _leave(here: int, level: _Level) -> int:
    """Go up to the folder above, and close this one as it was."""
    parent = os.open("..", OPEN_FOLDER, dir_fd=here)
    restore(here, level.mode)
    os.close(here)
    return parent


def _join(path: str | None, name: str) -> str | None:
    return None if path is None else f"{path}/{name}"


def _visits(folder: int, level: _Level, skip: Skip | None) -> Iterator[Visit]:
    deeper = level.path is None or len(os.fsencode(level.path)) < PATH_BYTES
    for name in _names(folder):
        try:
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            continue
        if deeper and stat.S_ISDIR(status.st_mode) and not (skip and skip(status)):
            level.pending.append(name)
        yield Visit(_join(level.path, name) or "", name, folder, status)
    level.pending.reverse()


def _names(folder: int) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except FileNotFoundError:  # it was removed since it was opened
        return []
