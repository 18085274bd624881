"""What does a container's file system hold, seen from outside?

A snapshot is the image's own listing, taken once per image from a container that never ran, with everything on top
that the engine names as changed. Those names are candidates only: each is read again as data and hashed here. So
two snapshots of one container are both complete, and comparable.

Of an image above `LISTED_IMAGE_BYTES` only what was changed is listed; then a file of the image that the agent changes
appears as new, and one that it removes is not seen. Volumes, /dev/shm among them, are mounted over the image, where the
comparison does not see them, so they are read whole. /dev and small disks are in memory, where no engine looks: they
are seen where the machine's own kernel shows them, see `in_memory`. Never seen: sockets of the file system elsewhere,
and what the kernel makes up in /proc and /sys. Podman's archives name root as the owner of everything, and leave out
/dev/shm.
"""

from __future__ import annotations

import bisect
import functools
import hashlib
import math
import posixpath
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from evalkit.errors import SandboxError
from evalkit.sandbox.docker.complaint import EngineSilent, NotThere, Refused
from evalkit.sandbox.docker.container import SHARED_MEMORY, labels, new_name
from evalkit.sandbox.docker.engine import Engine, Image
from evalkit.sandbox.docker.looking import is_here
from evalkit.sandbox.docker.transfer import Member
from evalkit.sandbox.export import below
from evalkit.sandbox.in_memory import entries_in_memory
from evalkit.sandbox.protocol import Entry
from evalkit.sandbox.snapshot import HASHED_BYTES, MAX_ENTRIES

LISTED_IMAGE_BYTES = 4 * 1024**3
PASSED_BYTES = 1024**3
CALL_COST_S = 0.04
BYTES_PER_S = 150_000_000
ENTRIES_PER_S = 20_000
_ALWAYS = ("/etc/hosts", "/etc/hostname", "/etc/resolv.conf")
"""Mounted over the image, so the engine's comparison does not see them."""
UNTOLD = "\ufffd"
"""What the engine's comparison says for a byte of a name that is no UTF-8; its archives have the byte itself."""
_UNSEEN = ("/proc", "/sys", "/dev")
_CHUNK = 1024 * 1024


def snapshot(engine: Engine, container: str, image: Image) -> dict[str, Entry]:
    """Every path of the container, as far as it can be seen; see above."""
    base, anatomy = image_listing(engine, image), engine.anatomy(container)
    try:
        changes = [(path, gone) for path, gone in engine.changes(container) if not _unseen(path)]
    except NotThere:
        raise
    except Refused:  # a path longer than a program can open ends the engine's comparison
        entries = _read(engine, container, "/", _Patience(math.inf))
    else:
        entries = dict(base)
        for path, gone in changes:
            if gone:
                _drop(entries, path)
        _bring_up_to_date(engine, container, entries, [path for path, _ in changes], anatomy.volumes)
    if is_here(anatomy):
        entries.update(entries_in_memory(anatomy.first, lambda uid: uid))
    return dict(sorted(entries.items()))


def _bring_up_to_date(
    engine: Engine, container: str, entries: dict[str, Entry], changed: list[str], volumes: Iterable[str]
) -> None:
    base = dict(entries)
    whole = {path for path in (*volumes, SHARED_MEMORY) if not _unseen(path)}
    whole |= {_last_told(path) for path in changed if UNTOLD in path}
    candidates = {path for path in changed if UNTOLD not in path}.union(_ALWAYS, whole)
    reading = _Reading(engine, container, entries, sorted(candidates | base.keys()))
    for path, all_below in _Plan(candidates, base, whole).reads():
        if all_below:
            reading.read(path)
        else:
            reading.read_own(path)
    for path in candidates - entries.keys() - {"/"}:
        _drop(entries, path)


def _last_told(path: str) -> str:
    """The folder in which the first name of a path stands that the engine could not tell."""
    return path[: path.index(UNTOLD)].rpartition("/")[0] or "/"


class _TooMuch(Exception):
    """More would have to be read past than is worth it."""


@dataclass(slots=True)
class _Patience:
    """How many bytes of files that are too large to be hashed are read past; a stream cannot be skipped."""

    bytes: float

    def spend(self, size: int) -> None:
        if size > self.bytes:
            raise _TooMuch
        self.bytes -= size


class _Reading:
    """Brings entries up to date, path by path."""

    def __init__(self, engine: Engine, container: str, entries: dict[str, Entry], known: list[str]) -> None:
        self._engine, self._container = engine, container
        self._entries, self._known = entries, known
        self._patience = _Patience(PASSED_BYTES)

    def read(self, root: str) -> None:
        """Read a path with all below it; one with huge files in it piece by piece, without their contents, unless that
        takes longer than reading past them.
        """
        patience = _Patience(max(self._patience.bytes, self._known_below(root) * CALL_COST_S * BYTES_PER_S))
        try:
            found = _read(self._engine, self._container, root, patience)
        except NotThere:
            found = dict[str, Entry]()
        except _TooMuch:
            self._read_apart(root)
            return
        self._patience.bytes = min(self._patience.bytes, patience.bytes)
        _drop(self._entries, root)
        self._entries.update(found)
        if len(self._entries) > MAX_ENTRIES:
            raise SandboxError(f"the sandbox holds more than {MAX_ENTRIES} files")

    def read_own(self, path: str) -> Entry | None:
        """Bring the entry of a path up to date, without what is below it."""
        try:
            with self._engine.download(self._container, path) as members:
                own = next(iter(members))
        except NotThere:
            _drop(self._entries, path)
            return None
        if own.kind != "dir":
            _drop(self._entries, path)
        self._entries[path] = Entry(own.kind, own.mode, own.owner, own.size, None, own.target)
        return self._entries[path]

    def _known_below(self, root: str) -> int:
        prefix = root.rstrip("/") + "/"
        return bisect.bisect_left(self._known, prefix + chr(sys.maxunicode)) - bisect.bisect_left(
            self._known, prefix
        )

    def _read_apart(self, root: str) -> None:
        own = self.read_own(root)
        if own is None or own.kind != "dir":
            return
        below_it = root.rstrip("/") + "/"
        names = {path[len(below_it) :].split("/")[0] for path in self._known if path.startswith(below_it)}
        for name in sorted(names):
            self.read(below_it + name)


def image_listing(engine: Engine, image: Image) -> Mapping[str, Entry]:
    """Every path of an image; empty for one that is too large to be read."""
    if image.bytes > LISTED_IMAGE_BYTES:
        return {}
    with engine.listing:
        return _image_listing(engine, image)


@functools.lru_cache(maxsize=8)
def _image_listing(engine: Engine, image: Image) -> Mapping[str, Entry]:
    name = new_name()
    try:
        found = _listed(engine, name, image)
    except EngineSilent:  # it would not remove it either
        raise
    except BaseException:
        engine.remove(name)
        raise
    engine.remove(name)
    return found


def _listed(engine: Engine, name: str, image: Image) -> Mapping[str, Entry]:
    config = {"image": image.id, "entrypoint": ["sh"], "labels": labels("image-listing", image.id)}
    engine.create(name, config, {"network_mode": "none"})
    return _read(engine, name, "/", _Patience(math.inf))


def _read(engine: Engine, container: str, root: str, patience: _Patience) -> dict[str, Entry]:
    found: dict[str, Entry] = {}
    with engine.download(container, root) as members:
        for member in members:
            if member.size > HASHED_BYTES:
                patience.spend(member.size)
            if member.path != "/" and not _unseen(member.path):
                found[member.path] = _entry(member, found)
            if len(found) > MAX_ENTRIES:
                raise SandboxError(f"the sandbox holds more than {MAX_ENTRIES} files")
    return found


def _entry(member: Member, earlier: Mapping[str, Entry]) -> Entry:
    same = earlier.get(member.same_as or "")
    if same is not None:
        return Entry("file", member.mode, member.owner, same.size, same.sha256)
    digest = None
    if member.content is not None and member.size <= HASHED_BYTES:
        digest = _sha256(member)
    return Entry(member.kind, member.mode, member.owner, member.size, digest, member.target)


def _sha256(member: Member) -> str:
    digest = hashlib.sha256()
    while member.content is not None and (chunk := member.content.read(_CHUNK)):
        digest.update(chunk)
    return digest.hexdigest()


def _drop(entries: dict[str, Entry], root: str) -> None:
    if root not in entries or entries[root].kind == "dir":
        for path in [path for path in entries if path.startswith(root.rstrip("/") + "/")]:
            del entries[path]
    entries.pop(root, None)


def _unseen(path: str) -> bool:
    return any(below(path, root) for root in _UNSEEN) and not below(path, SHARED_MEMORY)


@dataclass(slots=True)
class _Node:
    """A folder or file on the way to candidates. `cost` is that of reading all below it, in seconds."""

    candidate: bool = False
    whole: bool = False
    """Whether all below it has to be read, as nobody names what of it was changed."""
    cost: float = 0.0
    children: dict[str, _Node] = field(default_factory=dict[str, "_Node"])


class _Plan:
    """Which paths are read, so that every candidate is, in the least time: a call costs as much as some megabytes."""

    def __init__(
        self, candidates: Iterable[str], base: Mapping[str, Entry], whole: Iterable[str] = ()
    ) -> None:
        self._top = _Node()
        for path in candidates:
            self._node(path).candidate = True
        for path in whole:
            self._node(path).whole = True
        for path, entry in base.items():
            self._charge(path, entry.size / BYTES_PER_S + 1 / ENTRIES_PER_S)

    def reads(self) -> list[tuple[str, bool]]:
        """Paths to read; True: with all that is below, False: only the folder's own entry."""
        if self._top.whole:
            return [("/", True)]
        found: list[tuple[str, bool]] = []
        for name, node in sorted(self._top.children.items()):
            found += _cheapest(f"/{name}", node)[1]
        return found

    def _node(self, path: str) -> _Node:
        node = self._top
        for part in filter(None, path.split("/")):
            node = node.children.setdefault(part, _Node())
        return node

    def _charge(self, path: str, seconds: float) -> None:
        node = self._top
        for part in path.strip("/").split("/"):
            child = node.children.get(part)
            if child is None:
                return
            child.cost += seconds
            node = child


def _cheapest(path: str, node: _Node) -> tuple[float, list[tuple[str, bool]]]:
    whole = CALL_COST_S + node.cost
    if node.whole or not node.children:
        return whole, [(path, True)]
    found = [_cheapest(posixpath.join(path, name), child) for name, child in sorted(node.children.items())]
    apart = sum(one[0] for one in found) + (CALL_COST_S if node.candidate else 0)
    if whole < apart:
        return whole, [(path, True)]
    reads = [(path, False)] if node.candidate else []
    return apart, reads + [read for _, more in found for read in more]
