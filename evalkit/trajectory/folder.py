"""Is something in a run's folder really in it, or does a link lead out of it?

A run may come from anyone. Nothing in it is followed, waited for or deleted unless it is what it should be:
a folder, or a regular file. The run's own folder may be a link, for that is what the user named.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import BinaryIO

from evalkit.errors import ConfigError, UsageError
from evalkit.trajectory.layout import TABLES, artifacts_folder, journal_folder

_REFUSED = (errno.ELOOP, errno.ENOTDIR, errno.ENXIO, errno.EISDIR)
"""What the system says to opening a link, something that is no folder, a socket, a folder as a file."""

_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC


def check_folders(run: Path) -> None:
    """Raise UsageError, naming it, for a sub-folder of a run that is a link or no folder at all."""
    for folder in (*(run / table for table in TABLES), journal_folder(run), artifacts_folder(run)):
        check_folder(folder)
    if artifacts_folder(run).is_dir():
        with os.scandir(artifacts_folder(run)) as entries:
            linked = min((entry.path for entry in entries if entry.is_symlink()), default=None)
        if linked is not None:
            raise _no_folder(Path(linked))


def check_folder(folder: Path) -> None:
    """Raise UsageError for a link, and for anything else that is there and is no folder."""
    try:
        mode = os.lstat(folder).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(mode):
        raise _no_folder(folder)


def check_file(path: str | Path) -> None:
    """Raise ConfigError for what is no regular file, FileNotFoundError for what is not there."""
    if not stat.S_ISREG(os.lstat(path).st_mode):
        raise _no_file(path)


@contextlib.contextmanager
def opened(folder: Path, *, link: bool = False) -> Generator[int, None, None]:
    """A handle of a folder, under which its files can be reached whatever its path becomes meanwhile.

    Raises UsageError for a link unless the folder may be one, FileNotFoundError where there is nothing.
    """
    try:
        handle = os.open(folder, _FOLDER & ~os.O_NOFOLLOW if link else _FOLDER)
    except OSError as error:
        if error.errno in _REFUSED:
            raise _no_folder(folder) from error
        raise
    try:
        yield handle
    finally:
        os.close(handle)


def names_in(folder: Path, *, link: bool = False) -> list[str]:
    """The names of all that is in a folder, sorted; none where it is not there.

    Raises UsageError for a link unless the folder may be one.
    """
    try:
        with opened(folder, link=link) as handle:
            return sorted(os.listdir(handle))  # noqa: PTH208 - pathlib knows no handles
    except FileNotFoundError:
        return []


def open_file(path: Path, within: int | None = None) -> BinaryIO:
    """Open a regular file for reading, by its name alone where a folder's handle is given.

    Raises ConfigError at once for a link, a pipe, a folder, a device, and FileNotFoundError.
    """
    try:
        handle = os.open(path if within is None else path.name, _FILE, dir_fd=within)
    except OSError as error:
        if error.errno in _REFUSED:
            raise _no_file(path) from error
        raise
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise _no_file(path)
    return os.fdopen(handle, "rb")


def delete_files(folder: Path, names: Iterable[str], *, link: bool = False) -> None:
    """Delete those regular files of a folder. What is something else, or is gone already, stays as it is.

    Raises UsageError for a link unless the folder may be one.
    """
    wanted = list(names)
    if not wanted:
        return
    with opened(folder, link=link) as handle:
        for name in wanted:
            with contextlib.suppress(FileNotFoundError):
                if stat.S_ISREG(os.stat(name, dir_fd=handle, follow_symlinks=False).st_mode):
                    os.unlink(name, dir_fd=handle)


def _no_folder(folder: Path) -> UsageError:
    return UsageError(
        "a link or no folder, where a run has a folder of its own: nothing is read or changed through it",
        where=str(folder),
        hint="Put the folder itself there; a run that you did not make yourself may be hostile.",
    )


def _no_file(path: str | Path) -> ConfigError:
    return ConfigError(
        "a link, pipe or folder, where a run has a regular file",
        where=str(path),
        hint="Put the file itself there; a run that you did not make yourself may be hostile.",
    )
