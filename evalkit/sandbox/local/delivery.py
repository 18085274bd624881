"""How is exported data put into a local sandbox?"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Sequence

from evalkit.errors import SandboxError
from evalkit.sandbox.export import check_link, normal
from evalkit.sandbox.local.tree import Tree
from evalkit.sandbox.protocol import Deliverable
from evalkit.trajectory.artifacts import ArtifactStore


def deliver(tree: Tree, deliverables: Sequence[Deliverable], store: ArtifactStore) -> None:
    """Write everything at the same paths. Links come last, and folders' modes after them.

    Raises SandboxError for a path that is not absolute or not this sandbox's own, a link that leads outside
    what is delivered, a path that leads through a link, and content that the store does not keep.
    """
    paths = [normal(one.path) for one in deliverables]
    links = [one for one in deliverables if one.kind == "link"]
    folders = [one for one in deliverables if one.kind == "dir"]
    for one in links:
        check_link(one.path, one.target or "", paths)
    for one in [*folders, *(one for one in deliverables if one.kind == "file"), *links]:
        try:
            _deliver_one(tree, one, store)
        except OSError as error:
            raise SandboxError(f"a deliverable cannot be placed: {error.strerror}", where=one.path) from error
    for one in sorted(folders, key=lambda each: each.path, reverse=True):
        _set_mode(tree, one.path, one.mode)


def _deliver_one(tree: Tree, one: Deliverable, store: ArtifactStore) -> None:
    if one.kind == "dir":
        _make_folder(tree, one.path)
    elif one.kind == "file":
        _write_file(tree, one, store)
    else:
        _make_link(tree, one.path, one.target or "")


def _make_folder(tree: Tree, path: str) -> None:
    with tree.parent_of(f"{path}/.", make=True, follow=False):
        pass


def _write_file(tree: Tree, one: Deliverable, store: ArtifactStore) -> None:
    try:
        source = store.open(one.digest or "")
    except (OSError, ValueError) as error:
        raise SandboxError("the content of a deliverable is not kept", where=one.path) from error
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with source, tree.parent_of(one.path, make=True, follow=False, follow_last=False) as (folder, name):
        handle = os.open(name, flags, 0o600, dir_fd=folder)
        with os.fdopen(handle, "wb") as out:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise SandboxError("a deliverable would replace something that is no file", where=one.path)
            shutil.copyfileobj(source, out, 1024 * 1024)
            tree.adopt(handle)
            os.fchmod(handle, one.mode & 0o777)


def _make_link(tree: Tree, path: str, target: str) -> None:
    with tree.parent_of(path, make=True, follow=False, follow_last=False) as (folder, name):
        os.symlink(target, name, dir_fd=folder)
        tree.adopt_at(folder, name)


def _set_mode(tree: Tree, path: str, mode: int) -> None:
    with tree.parent_of(f"{path}/.", follow=False) as (folder, _):
        os.fchmod(folder, mode & 0o777)
