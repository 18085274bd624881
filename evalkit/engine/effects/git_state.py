"""What does a git repository say, read as data and never by a git program?

A repository is any folder that holds HEAD, `objects` and `refs`: `.git` in a working tree, a bare one, a submodule's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from evalkit.sandbox.protocol import Entry

_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_MAX_VALUE = 200
STASH = "refs/stash"
STASH_LOG = "logs/refs/stash"
_SINGLE = frozenset({"HEAD", "config", "packed-refs", STASH_LOG})


@dataclass(frozen=True, slots=True)
class GitState:
    """What matters of one repository."""

    head: str | None = None
    config: str | None = None
    """Digest of the configuration."""
    refs: Mapping[str, str] = field(default_factory=dict[str, str])
    """Commit by full name such as `refs/heads/main`; without the stash."""
    stash: tuple[str, ...] = ()
    """Commits that are stashed away, latest first."""


def find_repositories(entries: Mapping[str, Entry]) -> frozenset[str]:
    """The folders that hold a repository's own files."""
    heads = (path.removesuffix("/HEAD") for path in entries if path.endswith("/HEAD"))
    return frozenset(
        folder
        for folder in heads
        if _is_folder(entries, f"{folder}/objects") and _is_folder(entries, f"{folder}/refs")
    )


def tree_of(folder: str) -> str:
    """Where the repository is, as people say: the folder that holds `.git`, else the folder itself."""
    return (folder.removesuffix("/.git") or "/") if folder.endswith("/.git") else folder


def state_files(folder: str, entries: Iterable[str]) -> list[str]:
    """The files that its state is read from."""
    single = {f"{folder}/{name}" for name in _SINGLE}
    below = f"{folder}/refs/"
    return [path for path in entries if path in single or path.startswith(below)]


def is_state_file(name: str) -> bool:
    """Whether the state is read from the file with this name below the repository's folder."""
    return name in _SINGLE or (name.startswith("refs/") and not name.endswith(".lock"))


def read_state(folder: str, files: Mapping[str, bytes], digests: Mapping[str, Entry]) -> GitState:
    """The state, from the contents of `state_files`."""
    refs = packed_refs(files.get(f"{folder}/packed-refs", b""))
    start = len(folder) + 1
    for path, content in files.items():
        if path.startswith(f"{folder}/refs/") and not path.endswith(".lock"):
            refs[path[start:]] = _word(content)
    latest = refs.pop(STASH, None)
    stash = tuple(reversed(list(_stashed(files.get(f"{folder}/{STASH_LOG}", b"")))))
    config = digests.get(f"{folder}/config")
    head = files.get(f"{folder}/HEAD")
    return GitState(
        head=None if head is None else _word(head),
        config=config.sha256 if config else None,
        refs=refs,
        stash=() if latest is None else stash or (latest,),
    )


def _is_folder(entries: Mapping[str, Entry], path: str) -> bool:
    entry = entries.get(path)
    return entry is not None and entry.kind == "dir"


def _word(content: bytes) -> str:
    line = content.strip().split(b"\n", 1)[0]
    return line[:_MAX_VALUE].decode("utf-8", "surrogateescape").strip()


def packed_refs(content: bytes) -> dict[str, str]:
    """What a file of packed refs holds: the commit of each."""
    return dict(_packed(content))


def _packed(content: bytes) -> Iterator[tuple[str, str]]:
    for line in content.decode("utf-8", "surrogateescape").split("\n"):
        sha, _, name = line.partition(" ")
        if _SHA.fullmatch(sha) and name.startswith("refs/"):
            yield name, sha


def _stashed(content: bytes) -> Iterator[str]:
    """The reflog has a line for each: the commit before, the commit, who, when, and why."""
    for line in content.decode("utf-8", "surrogateescape").split("\n"):
        words = line.split(" ", 2)
        if len(words) == 3 and _SHA.fullmatch(words[1]):
            yield words[1]
