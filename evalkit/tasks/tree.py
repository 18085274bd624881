"""Which files does a task folder hold, and does any of them lead outside?"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from evalkit.errors import ConfigError

MAX_ENTRIES = 200_000


def check_tree(root: Path) -> None:
    """Raise ConfigError where a folder holds links that lead outside or in circles, pipes or devices.

    `root` may itself be reached through a link.
    """
    home = root.resolve()
    for count, path in enumerate(_entries(root)):
        if count >= MAX_ENTRIES:
            raise ConfigError(f"the folder holds more than {MAX_ENTRIES:,} files", where=str(root))
        try:
            path.name.encode()
            mode = path.lstat().st_mode
            target = _target(path) if stat.S_ISLNK(mode) else None
        except UnicodeEncodeError:
            raise ConfigError(f"the name {path.name!a} is not UTF-8", where=str(path.parent)) from None
        except OSError as error:
            raise ConfigError(f"the path cannot be read: {error.strerror}", where=str(path)) from None
        if target is not None:
            _check_link(path, target, home)
        elif not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise ConfigError(
                "a pipe, socket or device cannot be part of a task",
                where=str(path),
                hint="Delete it, or let the task's set-up make it.",
            )


def _check_link(path: Path, target: Path, home: Path) -> None:
    if not target.is_relative_to(home):
        raise ConfigError(
            f"the link leads outside the folder, to {path.readlink()}",
            where=str(path),
            hint="Copy the file into the folder instead of linking to it.",
        )
    if path.parent.resolve().is_relative_to(target):
        raise ConfigError("the link leads back to a folder around it", where=str(path))


def files_below(folder: Path) -> Iterator[Path]:
    """All regular files below a folder, and links to such; links to folders are not followed."""
    for path in _entries(folder):
        if path.is_file():
            yield path


def _target(path: Path) -> Path:
    try:
        return path.resolve()
    except RuntimeError:
        raise ConfigError("the link leads back to itself", where=str(path)) from None


def _entries(folder: Path) -> Iterator[Path]:
    """Everything below a folder, sorted by name within each folder; `.git` is left out."""
    pending = [folder]
    while pending:
        here = pending.pop()
        try:
            with os.scandir(here) as found:
                entries = sorted(found, key=lambda entry: os.fsencode(entry.name))
        except OSError as error:
            raise ConfigError(f"the folder cannot be read: {error.strerror}", where=str(here)) from None
        for entry in entries:
            if entry.name == ".git":
                continue
            path = here / entry.name
            yield path
            if entry.is_dir(follow_symlinks=False):
                pending.append(path)
