"""Which files are not as they were?

Two snapshots, path by path. Modification times do not count. A folder is told by what is reported in it, and by itself
only where nothing is in it. Something renamed is gone in one place and new in another, with the same digest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from evalkit.engine.effects.change import RawChange
from evalkit.sandbox.protocol import Entry
from evalkit.trajectory.effect import Change

Snapshot = Mapping[str, Entry]


def file_changes(before: Snapshot, after: Snapshot, told: Callable[[str], bool]) -> Iterator[RawChange]:
    """Every difference, by path. `told` says which paths another channel tells of."""
    kept = {entry.sha256 for entry in after.values() if entry.sha256 is not None}
    parents_before, parents_after = _Parents(before), _Parents(after)
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path), after.get(path)
        if old == new or told(path):
            continue
        if old is None and new is not None:
            if not _is_told_by_content(path, new, parents_after):
                yield _change(path, "created", None, value_of(new), new.size)
        elif new is None and old is not None:
            if not _is_told_by_content(path, old, parents_before):
                lost = old.kind == "file" and old.size > 0 and old.sha256 not in kept
                yield _change(path, "deleted", value_of(old), None, old.size, irreversible=lost)
        elif old is not None and new is not None:
            yield from _altered(path, old, new)


def value_of(entry: Entry) -> str:
    """A path's content in one word: the digest of a file, what a link points at, or the kind of anything else."""
    if entry.kind == "link":
        return f"link:{entry.target}"
    if entry.kind == "file":
        return entry.sha256 or f"size:{entry.size}"
    return f"kind:{entry.kind}"


def _altered(path: str, old: Entry, new: Entry) -> Iterator[RawChange]:
    if old.kind != new.kind or old.target != new.target or _has_other_content(old, new):
        yield _change(path, "modified", value_of(old), value_of(new), new.size)
    elif old.owner != new.owner or (old.mode != new.mode and old.kind != "link"):
        yield _change(path, "mode", _rights(old), _rights(new), new.size)


def _has_other_content(old: Entry, new: Entry) -> bool:
    if old.size != new.size:
        return True
    known = old.sha256 is not None and new.sha256 is not None
    return known and old.sha256 != new.sha256


def _rights(entry: Entry) -> str:
    return f"{entry.mode:04o}:{entry.owner}"


def _change(
    path: str, change: Change, before: str | None, after: str | None, size: int, *, irreversible: bool = False
) -> RawChange:
    return RawChange(
        "file",
        path,
        change,
        before,
        after,
        size,
        irreversible=irreversible,
    )


def _is_told_by_content(path: str, entry: Entry, parents: _Parents) -> bool:
    return entry.kind == "dir" and path in parents


class _Parents:
    """The folders of a snapshot that hold something; found out only where somebody asks."""

    def __init__(self, entries: Iterable[str]) -> None:
        self._entries = entries
        self._known: frozenset[str] | None = None

    def __contains__(self, path: str) -> bool:
        if self._known is None:
            self._known = frozenset(entry.rpartition("/")[0] for entry in self._entries)
        return path in self._known
