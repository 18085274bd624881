"""How is every path of a tree listed that somebody hostile has made?

Names may be any bytes, trees may be 10,000 levels deep, links may point anywhere, and everything may change
while it is read. So nothing is opened by its full path: each folder is opened from its parent without
following links, and going back up is checked against the folder that was left.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field

PATH_BYTES = 4096
"""A folder with a longer path is listed but not entered: no program can open what is below by its path."""

OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


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
    path: str
    identity: tuple[int, int]
    pending: list[str] = field(default_factory=list[str])
    mode: int | None = None
    """What to restore when leaving, where the folder had to be made readable."""


def walk(root: int, path: str, *, reopen: bool = False) -> Iterator[Visit]:
    """Everything below the open folder `root`, which is called `path`; parents first, names sorted.

    With `reopen`, folders that may not be read are made readable while they are read (which changes their ctime);
    otherwise they are listed and not entered. Uses two file descriptors however deep the tree is. Raises TreeChanged.
    """
    here = os.open(".", OPEN_FOLDER, dir_fd=root)
    level = _Level(path, identity(os.fstat(here)))
    trail: list[_Level] = []
    try:
        yield from _visits(here, level)
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
                level = _Level(f"{level.path}/{name}", identity(os.fstat(here)), mode=mode)
                yield from _visits(here, level)
            else:
                parent = os.open("..", OPEN_FOLDER, dir_fd=here)
                if level.mode is not None:
                    os.fchmod(here, level.mode)
                os.close(here)
                here = parent
                level = trail.pop()
                if identity(os.fstat(here)) != level.identity:
                    raise TreeChanged(level.path)
    finally:
        if level.mode is not None:
            with contextlib.suppress(OSError):
                os.fchmod(here, level.mode)
        os.close(here)


def identity(status: os.stat_result) -> tuple[int, int]:
    """What tells one file from every other on this machine."""
    return status.st_dev, status.st_ino


def enter(parent: int, name: str, *, reopen: bool) -> tuple[int, int | None] | None:
    """Open a folder in an open folder, never through a link.

    Returns it with the mode that it had where `reopen` had to make it readable; None where it is gone, was replaced,
    or cannot be read.
    """
    try:
        return os.open(name, OPEN_FOLDER, dir_fd=parent), None
    except PermissionError:
        if not reopen:
            return None
    except OSError:
        return None
    with contextlib.suppress(OSError):
        handle = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
        try:
            mode = stat.S_IMODE(os.fstat(handle).st_mode)
            os.chmod(f"/proc/self/fd/{handle}", mode | 0o700)  # noqa: PTH101  -- by descriptor, so no link is followed
            return os.open(name, OPEN_FOLDER, dir_fd=parent), mode
        finally:
            os.close(handle)
    return None


def _visits(folder: int, level: _Level) -> Iterator[Visit]:
    deeper = len(os.fsencode(level.path)) < PATH_BYTES
    for name in sorted(os.listdir(folder)):
        try:
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            continue
        if deeper and stat.S_ISDIR(status.st_mode):
            level.pending.append(name)
        yield Visit(f"{level.path}/{name}", name, folder, status)
    level.pending.reverse()
