"""How do files leave a container as data, and how do they enter another?"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Sequence
from typing import BinaryIO, cast

from evalkit.errors import DeliverableRefused, DeliverableTooBig, SandboxError
from evalkit.sandbox import export
from evalkit.sandbox.docker.complaint import NotThere, Refused
from evalkit.sandbox.docker.engine import Engine, PathStatus
from evalkit.sandbox.docker.transfer import Member, Owner, Upload
from evalkit.sandbox.export import check_link, normal, outermost
from evalkit.sandbox.protocol import Deliverable
from evalkit.sandbox.walk import PATH_BYTES
from evalkit.trajectory.artifacts import ArtifactStore

_HINT = "Deliverables are regular files, folders, and links that stay among what is taken out."


class Tree:
    """A container's files, by paths as they are inside."""

    def __init__(self, engine: Engine, container: str) -> None:
        self._engine, self._container = engine, container
        self._known: dict[str, PathStatus | None] = {}

    def parent_is_there(self, path: str) -> bool:
        """Whether all folders above `path` are there. Raises DeliverableRefused where one is a link."""
        parts = path.strip("/").split("/")[:-1]
        for depth in range(1, len(parts) + 1):
            folder = "/" + "/".join(parts[:depth])
            status = self._status(folder)
            if status is None:
                return False
            if status.is_link:
                raise DeliverableRefused(f"{path} leads through a link: {parts[depth - 1]}", where=path)
            if not status.is_folder:
                return False
        return True

    def is_there(self, path: str) -> PathStatus | None:
        """What stands at the path itself."""
        return self._status(path)

    def _status(self, path: str) -> PathStatus | None:
        if path not in self._known:
            try:
                self._known[path] = self._engine.status(self._container, path)
            except NotThere:
                self._known[path] = None
            except Refused as error:
                if "not a directory" not in error.said:
                    raise
                self._known[path] = None
        return self._known[path]


class _Taking:
    """Judges one entry after another, and keeps what is taken."""

    def __init__(self, roots: Sequence[str], store: ArtifactStore) -> None:
        self._roots, self._store = roots, store
        self._bytes = 0
        self.taken: dict[str, Deliverable] = {}

    def take(self, member: Member) -> None:
        if len(self.taken) >= export.MAX_ENTRIES:
            raise DeliverableTooBig(
                f"more than {export.MAX_ENTRIES} files would be taken out",
                where=member.path,
                hint=export.TOO_BIG_HINT,
            )
        if len(os.fsencode(member.path)) >= PATH_BYTES or member.path.count("/") > export.MAX_DEPTH:
            raise DeliverableRefused("a deliverable's path is too long", where=member.path[:200] + "...")
        mode = member.mode & 0o777
        if member.kind == "dir":
            found = Deliverable(member.path, "dir", mode)
        elif member.kind == "link":
            check_link(member.path, member.target or "", self._roots)
            found = Deliverable(member.path, "link", 0o777, target=member.target)
        elif member.kind == "file":
            found = self._take_file(member, mode)
        else:
            raise DeliverableRefused(f"a deliverable is a {member.kind}", where=member.path, hint=_HINT)
        self.taken[member.path] = found

    def _take_file(self, member: Member, mode: int) -> Deliverable:
        if member.same_as is not None:
            other = self.taken.get(member.same_as)
            if other is None or other.kind != "file":
                raise DeliverableRefused(
                    "a hard link leads out of what is taken", where=member.path, hint=_HINT
                )
            return Deliverable(member.path, "file", mode, other.size, other.digest)
        self._bytes += member.size
        if self._bytes > export.MAX_BYTES:
            raise DeliverableTooBig(
                f"more than {export.MAX_BYTES} bytes would be taken out",
                where=member.path,
                hint=export.TOO_BIG_HINT,
            )
        if member.content is None:
            raise DeliverableRefused("a deliverable cannot be read", where=member.path, hint=_HINT)
        digest, size = self._store.put(cast("BinaryIO", member.content))
        return Deliverable(member.path, "file", mode, size, digest)


def take_out(
    engine: Engine, container: str, paths: Sequence[str], store: ArtifactStore
) -> tuple[Deliverable, ...]:
    """See `Sandbox.export`. Missing paths are left out.

    A hard link to a file that is not taken out looks like a file of its own here: its content leaves, as a copy's
    would. A socket is not part of the engine's archives, so it is refused only where it is named itself.
    """
    roots = outermost(paths)
    tree = Tree(engine, container)
    taking = _Taking(roots, store)
    for root in roots:
        if root != "/" and not tree.parent_is_there(root):
            continue
        with contextlib.suppress(NotThere), engine.download(container, root) as members:
            for member in members:
                taking.take(member)
        status = tree.is_there(root) if root not in taking.taken else None
        if status is not None and not status.is_folder:
            raise DeliverableRefused("a deliverable is a socket", where=root, hint=_HINT)
    return tuple(taking.taken.values())


def put_in(
    engine: Engine, container: str, deliverables: Sequence[Deliverable], store: ArtifactStore, owner: Owner
) -> None:
    """Write everything at the same paths, for a user. Links come last.

    What stands at those paths is removed first, with all that is below, and so is what stands on the way to them and
    is no folder; no link is followed. Raises SandboxError for a path that is not absolute or would replace a top
    folder, a link that leads outside what is delivered, and content that the store does not keep.
    """
    at = {normal(one.path): one for one in deliverables}
    for path, one in at.items():
        if one.kind == "link":
            check_link(path, one.target or "", tuple(at))
    tree = Tree(engine, container)
    order = ("dir", "file", "link")
    with tempfile.TemporaryFile() as file:
        upload = Upload(file)
        for path in outermost(at):
            _make_way(tree, upload, path, owner)
            status = tree.is_there(path) if at[path].kind != "dir" else None
            if path.count("/") == 1 and status is not None and status.is_folder:
                raise SandboxError("a deliverable would replace a folder of the system", where=path)
            _clear(upload, path, owner)
        for path, one in sorted(at.items(), key=lambda item: (order.index(item[1].kind), item[0])):
            if one.kind == "dir":
                upload.folder(path, one.mode & 0o777, owner)
            elif one.kind == "link":
                upload.link(path, one.target or "", owner)
            else:
                _add_file(upload, path, one, store, owner)
        engine.upload(container, "/", cast("BinaryIO", upload.finished()))


def clear_folder(engine: Engine, container: str, path: str, owner: Owner) -> None:
    """Make `path` an empty folder, whatever stood there or on the way to it. Processes that write into it meanwhile
    are given a few tries.
    """
    for _ in range(2):
        try:
            _clear_folder(engine, container, normal(path), owner)
        except Refused as error:
            if "not empty" not in error.said:
                raise
        else:
            return
    _clear_folder(engine, container, normal(path), owner)


def _clear_folder(engine: Engine, container: str, path: str, owner: Owner) -> None:
    upload = Upload()
    _make_way(Tree(engine, container), upload, path, owner)
    _clear(upload, path, owner)
    upload.folder(path, 0o755, owner)
    engine.upload(container, "/", cast("BinaryIO", upload.finished()))


def _make_way(tree: Tree, upload: Upload, path: str, owner: Owner) -> None:
    """Add the folders above `path` that are missing, or in whose place something else stands."""
    parts = path.strip("/").split("/")[:-1]
    missing = False
    for depth in range(1, len(parts) + 1):
        folder = "/" + "/".join(parts[:depth])
        status = None if missing else tree.is_there(folder)
        if status is None or not status.is_folder:
            if status is not None:
                _clear(upload, folder, owner)
            upload.folder(folder, 0o755, owner)
            missing = True


def _clear(upload: Upload, path: str, owner: Owner) -> None:
    """Add an empty file: when it is unpacked, the engine removes what stands there, a folder with its content."""
    upload.data(path, 0o600, owner, b"")


def _add_file(upload: Upload, path: str, one: Deliverable, store: ArtifactStore, owner: Owner) -> None:
    try:
        source = store.open(one.digest or "")
    except (OSError, ValueError) as error:
        raise SandboxError("the content of a deliverable is not kept", where=one.path) from error
    with source:
        size = os.fstat(source.fileno()).st_size
        upload.file(path, one.mode & 0o777, owner, size, source)
