"""How do files leave one sandbox as data and enter another?

Nothing is ever extracted on the host: contents go into the artifact store under their digest, and
everything else is a record. A tree that could lead its reader elsewhere is refused as a whole
(`DeliverableRefused`); one that is too big is a `SandboxError`.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterable, Sequence

from evalkit.errors import DeliverableRefused, DeliverableTooBig, SandboxError
from evalkit.sandbox.protocol import Deliverable
from evalkit.sandbox.snapshot import kind_of, open_file
from evalkit.sandbox.walk import PATH_BYTES, Visit, enter, restore, walk
from evalkit.trajectory.artifacts import ArtifactStore

MAX_ENTRIES = 20_000
MAX_BYTES = 1024**3
MAX_DEPTH = 200
"""Folders in folders. Deeper trees could be taken, but not be placed elsewhere in reasonable time."""
TOO_BIG_HINT = "Declare less under artifacts, or leave out with `exclude` what is not needed."
_HINT = "Deliverables are regular files, folders, and links that stay among what is taken out."


class Export:
    """Takes paths out of one tree. Links and hard links are judged when all has been seen, by `finish`."""

    def __init__(self, roots: Sequence[str], store: ArtifactStore) -> None:
        self._roots = roots
        self._store = store
        self._taken: list[Deliverable] = []
        self._bytes = 0
        self._links: Counter[tuple[int, int]] = Counter()
        self._expected: dict[tuple[int, int], tuple[int, str]] = {}

    def take(self, folder: int, name: str, path: str) -> None:
        """Take `name` in an open folder, and everything below it. Nothing happens where it is missing."""
        try:
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return
        self._take_one(Visit(path, name, folder, status))
        if not stat.S_ISDIR(status.st_mode):
            return
        entered = enter(folder, name, reopen=True)
        if entered is None:
            raise DeliverableRefused("a deliverable cannot be read", where=path, hint=_HINT)
        try:
            for visit in walk(entered[0], path, reopen=True):
                self._take_one(visit)
        finally:
            restore(entered[0], entered[1])
            os.close(entered[0])

    def finish(self) -> tuple[Deliverable, ...]:
        """Everything taken. Raises DeliverableRefused where a hard link also leads elsewhere."""
        for identity, (expected, path) in self._expected.items():
            if self._links[identity] < expected:
                raise DeliverableRefused("a hard link leads out of what is taken", where=path, hint=_HINT)
        return tuple(self._taken)

    def _take_one(self, visit: Visit) -> None:
        kind, mode = kind_of(visit.stat.st_mode), stat.S_IMODE(visit.stat.st_mode) & 0o777
        if len(self._taken) >= MAX_ENTRIES:
            raise DeliverableTooBig(
                f"more than {MAX_ENTRIES} files would be taken out", where=visit.path, hint=TOO_BIG_HINT
            )
        if len(os.fsencode(visit.path)) >= PATH_BYTES or visit.path.count("/") > MAX_DEPTH:
            raise DeliverableRefused("a deliverable's path is too long", where=visit.path[:200] + "...")
        if kind == "dir":
            self._taken.append(Deliverable(visit.path, "dir", mode))
        elif kind == "link":
            target = os.readlink(visit.name, dir_fd=visit.folder)
            check_link(visit.path, target, self._roots)
            self._taken.append(Deliverable(visit.path, "link", 0o777, target=target))
        elif kind == "file":
            self._taken.append(self._take_file(visit, mode))
        else:
            raise DeliverableRefused(f"a deliverable is a {kind}", where=visit.path, hint=_HINT)

    def _take_file(self, visit: Visit, mode: int) -> Deliverable:
        try:
            handle = open_file(visit.folder, visit.name)
        except OSError as error:
            raise DeliverableRefused(
                f"a deliverable cannot be read: {error.strerror}", where=visit.path
            ) from error
        with os.fdopen(handle, "rb") as source:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                raise DeliverableRefused("a deliverable changed while it was read", where=visit.path)
            if status.st_nlink > 1:
                identity = (status.st_dev, status.st_ino)
                self._links[identity] += 1
                self._expected[identity] = (status.st_nlink, visit.path)
            self._count(status.st_size, visit.path)
            digest, size = self._store.put(source)
        self._count(max(0, size - status.st_size), visit.path)
        return Deliverable(visit.path, "file", mode, size, digest)

    def _count(self, size: int, path: str) -> None:
        self._bytes += size
        if self._bytes > MAX_BYTES:
            raise DeliverableTooBig(
                f"more than {MAX_BYTES} bytes would be taken out", where=path, hint=TOO_BIG_HINT
            )


def outermost(paths: Iterable[str]) -> list[str]:
    """The paths in normal form, without those that lie below another. Raises SandboxError for relative
    ones.
    """
    kept: list[str] = []
    for path in sorted({normal(path) for path in paths}):
        if not any(below(path, other) for other in kept):
            kept.append(path)
    return kept


def normal(path: str) -> str:
    """An absolute path without dots. Raises SandboxError for what is not absolute, or climbs."""
    if not path.startswith("/") or "\0" in path or ".." in path.split("/"):
        raise SandboxError("a deliverable needs an absolute path without '..'", where=repr(path))
    return "/" + "/".join(part for part in path.split("/") if part not in {"", "."})


def below(path: str, root: str) -> bool:
    """Whether `path` is `root` or lies in it. Both in normal form."""
    return path == root or path.startswith(root.rstrip("/") + "/")


def check_link(path: str, target: str, roots: Sequence[str]) -> None:
    """Raise DeliverableRefused unless a link at `path` stays inside `roots`, wherever other such links may lead.

    A target may climb only at its beginning, where the folders on the way are real: after the name of
    another link, `..` could lead anywhere.
    """
    parts = [part for part in target.split("/") if part not in {"", "."}]
    start = [] if target.startswith("/") else path.split("/")[1:-1]
    while not target.startswith("/") and parts and parts[0] == "..":
        parts.pop(0)
        if not start:
            break
        start.pop()
    lands = "/" + "/".join([*start, *parts])
    if ".." in parts or not any(below(lands, root) for root in roots):
        raise DeliverableRefused(f"a link leads out of what is taken, to {target}", where=path, hint=_HINT)
