"""How does a folder of the sandbox become empty, whatever the agent made of it?"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from pathlib import Path

from evalkit.errors import SandboxError
from evalkit.sandbox.local.removal import remove_tree
from evalkit.sandbox.local.tree import Tree
from evalkit.sandbox.walk import OPEN_FOLDER


def clear_folder(tree: Tree, path: str) -> None:
    """Make `path` an empty folder that its user may write to, and every folder on the way a real one.

    Nothing is deleted in place: what stood there is first moved out of the sandbox in one step, so that
    processes that are still alive cannot lead the deletion elsewhere.
    """
    parts = [part for part in path.split("/") if part not in {"", "."}]
    if not path.startswith("/") or ".." in parts or not parts or parts[0] not in tree.tops:
        raise SandboxError(f"{path!r} is not in a folder of this sandbox's own")
    trash = tree.root.parent / f"trash-{secrets.token_hex(4)}"
    trash.mkdir(mode=0o700)
    bin_ = os.open(trash, OPEN_FOLDER)
    root = os.open(tree.root, OPEN_FOLDER)
    try:
        _allow(root, parts[0])
        folder = os.open(parts[0], OPEN_FOLDER, dir_fd=root)
    finally:
        os.close(root)
    try:
        os.fchmod(folder, 0o755)
        if len(parts) == 1:
            for name in os.listdir(folder):  # noqa: PTH208  of an open folder
                _throw(folder, name, bin_)
        for part in parts[1:-1]:
            folder = _enter(tree, folder, part, bin_)
        if len(parts) > 1:
            _throw(folder, parts[-1], bin_)
            folder = _enter(tree, folder, parts[-1], bin_)
    finally:
        os.close(folder)
        os.close(bin_)
        remove_tree(trash)


def _enter(tree: Tree, folder: int, name: str, bin_: int) -> int:
    """Open a folder below an open one, which is closed; what is no folder is replaced by one."""
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            _throw(folder, name, bin_)
    with contextlib.suppress(FileExistsError):
        os.mkdir(name, 0o755, dir_fd=folder)
        tree.adopt_at(folder, name)
    _allow(folder, name)
    try:
        entered = os.open(name, OPEN_FOLDER, dir_fd=folder)
    finally:
        os.close(folder)
    os.fchmod(entered, 0o755)
    return entered


def _throw(folder: int, name: str, bin_: int) -> None:
    with contextlib.suppress(FileNotFoundError):
        if stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            _allow(folder, name)
        os.rename(name, secrets.token_hex(8), src_dir_fd=folder, dst_dir_fd=bin_)


def _allow(folder: int, name: str) -> None:
    """Let the owner of a folder enter and move it. By descriptor, so that no link is followed."""
    handle = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    try:
        Path(f"/proc/self/fd/{handle}").chmod(0o755)
    finally:
        os.close(handle)
