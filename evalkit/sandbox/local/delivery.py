"""How is data taken out of a local sandbox, and how is exported data put into one?"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Generator, Sequence

from evalkit.errors import DeliverableRefused, SandboxError
from evalkit.sandbox.export import Export, check_link, normal, outermost
from evalkit.sandbox.local.removal import empty, remove_at
from evalkit.sandbox.local.tree import Tree
from evalkit.sandbox.protocol import Deliverable
from evalkit.sandbox.walk import TreeChanged, enter
from evalkit.trajectory.artifacts import ArtifactStore


def take_out(tree: Tree, paths: Sequence[str], store: ArtifactStore) -> tuple[Deliverable, ...]:
    """See `Sandbox.export`."""
    roots = outermost(paths)
    taking = Export(roots, store)
    for path in roots:
        try:
            with tree.parent_of(path, follow=False, follow_last=False) as (folder, name):
                taking.take(folder, name, path)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except PermissionError as error:
            raise DeliverableRefused("a deliverable cannot be read", where=path) from error
        except TreeChanged as error:
            raise SandboxError(
                "deliverables move while they are taken out", where=path, hint="Halt the sandbox first."
            ) from error
    return taking.finish()


def deliver(tree: Tree, deliverables: Sequence[Deliverable], store: ArtifactStore) -> None:
    """Write everything at the same paths. Links come last, and folders' modes after them.

    What stands at those paths is removed first, with all that is below: what was deleted in a delivered folder is
    not there afterwards. So is what stands on the way to them and is no folder; no link is followed.
    Raises SandboxError for a path that is not absolute or not this sandbox's own, a link that leads outside what is
    delivered, and content that the store does not keep.
    """
    at = {normal(one.path): one for one in deliverables}
    for path, one in at.items():
        if one.kind == "link":
            check_link(path, one.target or "", tuple(at))
    order = ("dir", "file", "link")
    for path in outermost(at):
        with _explained(path):
            _clear(tree, path, keep=at[path].kind == "dir")
    for path, one in sorted(at.items(), key=lambda item: (order.index(item[1].kind), item[0])):
        with _explained(path):
            _deliver_one(tree, path, one, store)
    for path in sorted((path for path, one in at.items() if one.kind == "dir"), reverse=True):
        with _explained(path):
            _set_mode(tree, path, at[path].mode)


@contextlib.contextmanager
def _explained(path: str) -> Generator[None, None, None]:
    try:
        yield
    except OSError as error:
        raise SandboxError(f"a deliverable cannot be placed: {error.strerror}", where=path) from error


def _clear(tree: Tree, path: str, *, keep: bool) -> None:
    """Remove what stands at `path`. With `keep` a folder stays itself, as it may be mounted, and loses its content."""
    if not keep and path.count("/") == 1:
        raise SandboxError("a deliverable would replace a folder of the sandbox's own", where=path)
    with tree.parent_of(path, make=True, follow=False, follow_last=False, replace=True) as (folder, name):
        entered = enter(folder, name, reopen=True) if keep else None
        if entered is not None:
            empty(entered[0])
        else:
            remove_at(folder, name)


def _deliver_one(tree: Tree, path: str, one: Deliverable, store: ArtifactStore) -> None:
    if one.kind == "dir":
        with tree.parent_of(f"{path}/.", make=True, follow=False, replace=True):
            return
    with tree.parent_of(path, make=True, follow=False, follow_last=False, replace=True) as (folder, name):
        if one.kind == "file":
            _write_file(tree, folder, name, one, store)
        else:
            os.symlink(one.target or "", name, dir_fd=folder)
            tree.adopt_at(folder, name)


def _write_file(tree: Tree, folder: int, name: str, one: Deliverable, store: ArtifactStore) -> None:
    try:
        source = store.open(one.digest or "")
    except (OSError, ValueError) as error:
        raise SandboxError("the content of a deliverable is not kept", where=one.path) from error
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with source, os.fdopen(os.open(name, flags, 0o600, dir_fd=folder), "wb") as out:
        shutil.copyfileobj(source, out, 1024 * 1024)
        tree.adopt(out.fileno())
        os.fchmod(out.fileno(), one.mode & 0o777)


def _set_mode(tree: Tree, path: str, mode: int) -> None:
    with tree.parent_of(f"{path}/.", follow=False) as (folder, _):
        os.fchmod(folder, mode & 0o777)
