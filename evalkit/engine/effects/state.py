"""What is the state of a sandbox, as far as lasting changes are told from it?"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from evalkit.engine.effects.git_state import GitState, find_repositories, read_state, state_files
from evalkit.engine.effects.package_files import MAX_LIST, lists_of
from evalkit.engine.effects.packages import DPKG, Packages, as_they_are, installed
from evalkit.engine.effects.reading import MAX_FILES, read_files
from evalkit.engine.effects.rows import KINDS
from evalkit.sandbox.protocol import Entry, Sandbox

Snapshot = Mapping[str, Entry]
_MAX_WORD = 1024 * 1024
_MAX_STATUS = 32 * 1024 * 1024
_MAX_DATABASE = 64 * 1024 * 1024


def _nothing() -> Mapping[str, bytes]:
    return {}


@dataclass(frozen=True, slots=True)
class State:
    """Everything that was read at one moment."""

    entries: Snapshot
    repositories: Mapping[str, GitState] = field(default_factory=dict[str, GitState])
    """By the folder that holds a repository's own files."""
    packages: Packages = field(default_factory=Packages)
    databases: Mapping[str, bytes] = field(default_factory=_nothing)
    """Contents of the files of declared databases; one that is too large is left out."""
    lists: Mapping[str, bytes] = field(default_factory=_nothing)
    """What packages that may change list as their files, by the file that says so."""
    contents: Mapping[str, bytes] = field(default_factory=_nothing)
    """Of all other files that were read."""


async def state_of(
    sandbox: Sandbox,
    tables: Mapping[str, str],
    *,
    before: State | None = None,
    may_change: Collection[str] = (),
) -> State:
    """Take a snapshot, and read the few files whose content says more than their digest.

    `before` is the state at the beginning: its repositories are asked for again, and what has not changed is not read
    again. `may_change` are patterns of packages whose lists of files are read. Raises
    SandboxError where a snapshot cannot be taken.
    """
    entries = await sandbox.snapshot()
    listed = _repository_files(entries, before.repositories if before else ())
    reader = _Reader(sandbox, entries, before)
    words = [path for files in listed.values() for path in files if not path.endswith("/packed-refs")]
    large = [DPKG, *(path for files in listed.values() for path in files if path.endswith("/packed-refs"))]
    contents = {**await reader.read(words, _MAX_WORD), **await reader.read(large, _MAX_STATUS)}
    databases = [name for path, kind in tables.items() for name in KINDS[kind].files(path)]
    for files in listed.values():
        for path in files:
            contents.setdefault(path, _unread(entries[path]))
    packages = installed(entries, contents.get(DPKG, b""))
    lists = lists_of(as_they_are(packages, may_change), entries.keys())[:MAX_FILES]
    return State(
        entries=entries,
        repositories={
            folder: read_state(folder, {path: contents[path] for path in files}, entries)
            for folder, files in listed.items()
        },
        packages=packages,
        databases=await reader.read(databases, _MAX_DATABASE),
        lists=await reader.read(lists, MAX_LIST),
        contents=contents,
    )


@dataclass(frozen=True, slots=True)
class _Reader:
    sandbox: Sandbox
    entries: Snapshot
    before: State | None

    async def read(self, paths: Collection[str], max_bytes: int) -> dict[str, bytes]:
        """What has not changed is as it was read before."""
        known = {path: content for path in paths if (content := self._known(path)) is not None}
        missing = [path for path in paths if path not in known]
        return {**known, **await read_files(self.sandbox, missing, self.entries, max_bytes=max_bytes)}

    def _known(self, path: str) -> bytes | None:
        before, entry = self.before, self.entries.get(path)
        if before is None or entry is None or entry.sha256 is None:
            return None
        old = before.entries.get(path)
        if old is None or old.sha256 != entry.sha256:
            return None
        return before.contents.get(path, before.databases.get(path))


def _repository_files(entries: Snapshot, also: Collection[str]) -> dict[str, list[str]]:
    """What each repository's state is read from. Beyond `MAX_FILES` further ones are files like all others."""
    folders = find_repositories(entries) | frozenset(also)
    if not folders:
        return {}
    paths = sorted(entries)
    listed: dict[str, list[str]] = {}
    left = MAX_FILES
    for folder in sorted(folders, key=lambda one: (one not in also, one)):
        below = _below(paths, f"{folder}/")
        files = [path for path in state_files(folder, below) if entries[path].kind in {"file", "link"}]
        left -= len(files)
        if left < 0:
            break
        listed[folder] = files
    return listed


def _below(paths: Sequence[str], start: str) -> Iterator[str]:
    """Those of sorted paths that begin so."""
    first = bisect.bisect_left(paths, start)
    return itertools.takewhile(lambda path: path.startswith(start), itertools.islice(paths, first, None))


def _unread(entry: Entry) -> bytes:
    """What stands for the content of a file that cannot be read, or is a link."""
    return (entry.sha256 or f"link:{entry.target}").encode("utf-8", "surrogateescape")
