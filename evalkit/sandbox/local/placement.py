"""How do files of the host come into a sandbox before it starts?"""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

from evalkit.errors import TaskError
from evalkit.sandbox.local.tree import Tree
from evalkit.sandbox.protocol import Placement
from evalkit.sandbox.walk import OPEN_FOLDER, TreeChanged, Visit, walk

_HINT = "A task may place regular files, folders, and links; links are copied as links."


def place_files(tree: Tree, placement: Placement) -> None:
    """Copy one file, or a folder's contents.

    Raises TaskError where the source is missing, is something else, or does not fit where it should go.
    """
    try:
        mode = placement.source.lstat().st_mode
        if stat.S_ISREG(mode):
            with (
                placement.source.open("rb") as source,
                tree.parent_of(placement.target, make=True) as (folder, name),
            ):
                _write(folder, name, source.fileno(), mode | (0o111 if placement.executable else 0))
        elif stat.S_ISDIR(mode):
            tree.make_folder(placement.target)
            _place_folder(tree, placement)
        else:
            raise TaskError("only a file or a folder can be placed", where=str(placement.source), hint=_HINT)
    except (OSError, TreeChanged) as error:
        why = error.strerror if isinstance(error, OSError) else "it changes while it is read"
        raise TaskError(
            f"cannot be placed at {placement.target}: {why}", where=str(placement.source)
        ) from error


def _place_folder(tree: Tree, placement: Placement) -> None:
    root = os.open(placement.source, OPEN_FOLDER)
    try:
        for visit in walk(root, placement.target.rstrip("/")):
            with tree.parent_of(visit.path, make=True, follow_last=False) as (folder, name):
                _place_one(folder, name, visit, placement.source)
    finally:
        os.close(root)


def _place_one(folder: int, name: str, visit: Visit, where: Path) -> None:
    mode = visit.stat.st_mode
    if stat.S_ISDIR(mode):
        if not _is_folder(folder, name):
            os.mkdir(name, 0o755, dir_fd=folder)
    elif stat.S_ISLNK(mode):
        os.symlink(os.readlink(visit.name, dir_fd=visit.folder), name, dir_fd=folder)
    elif stat.S_ISREG(mode):
        handle = os.open(visit.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=visit.folder)
        try:
            _write(folder, name, handle, mode)
        finally:
            os.close(handle)
    else:
        raise TaskError(f"{visit.name} is a device, fifo or socket", where=str(where), hint=_HINT)


def _write(folder: int, name: str, source: int, mode: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(name, flags, 0o600, dir_fd=folder)
    with os.fdopen(handle, "wb") as out, os.fdopen(os.dup(source), "rb") as data:
        shutil.copyfileobj(data, out, 1024 * 1024)
        # Two modes only, so that the umask of a checkout makes no difference to a trial.
        os.fchmod(handle, 0o755 if mode & 0o111 else 0o644)


def _is_folder(folder: int, name: str) -> bool:
    try:
        return stat.S_ISDIR(os.stat(name, dir_fd=folder).st_mode)
    except FileNotFoundError:
        return False
