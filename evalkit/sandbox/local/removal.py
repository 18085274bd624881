"""How is a tree removed, whatever somebody hostile has put into it?"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from evalkit.errors import SandboxError
from evalkit.sandbox.walk import OPEN_FOLDER, enter, identity


def remove_tree(folder: Path) -> None:
    """Remove a folder with everything in it, however deep, unreadable or strangely named; links are not
    followed.

    Nothing may be running in it. A folder that is already gone is fine.
    """
    try:
        parent = os.open(folder.parent, OPEN_FOLDER)
    except FileNotFoundError:
        return
    try:
        entered = enter(parent, folder.name, reopen=True)
        if entered is not None:
            empty(entered[0])
            os.rmdir(folder.name, dir_fd=parent)
    finally:
        os.close(parent)


def remove_at(folder: int, name: str) -> None:
    """Remove a name in an open folder, whatever it is, with all that is below it; nothing where it is missing."""
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(status.st_mode):
        os.unlink(name, dir_fd=folder)
        return
    entered = enter(folder, name, reopen=True)
    if entered is None:
        raise SandboxError(f"a folder of a sandbox cannot be removed: {name!r}")
    empty(entered[0])
    os.rmdir(name, dir_fd=folder)


def empty(here: int) -> None:
    """Remove everything below an open folder, which is closed. Needs one descriptor however deep it is."""
    trail: list[tuple[str, tuple[int, int], list[str]]] = []
    name, pending = "", _unlink_all(here)
    try:
        while pending or trail:
            if pending:
                trail.append((name, identity(os.fstat(here)), pending))
                name = pending.pop()
                entered = enter(here, name, reopen=True)
                if entered is None:
                    raise SandboxError(f"a folder of a sandbox cannot be removed: {name!r}")
                os.close(here)
                here = entered[0]
                pending = _unlink_all(here)
                continue
            parent = os.open("..", OPEN_FOLDER, dir_fd=here)
            os.close(here)
            here = parent
            done = name
            name, expected, pending = trail.pop()
            if identity(os.fstat(here)) != expected:
                raise SandboxError("a sandbox's files were moved while they were being removed")
            os.rmdir(done, dir_fd=here)
    finally:
        os.close(here)


def _unlink_all(folder: int) -> list[str]:
    """Remove all but folders, also where the folder forbids it; returns the names of those."""
    folders: list[str] = []
    if stat.S_IMODE(os.fstat(folder).st_mode) & 0o700 != 0o700:
        os.fchmod(folder, 0o700)
    with os.scandir(folder) as entries:
        for entry in list(entries):
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.name)
            else:
                os.unlink(entry.name, dir_fd=folder)
    return folders
