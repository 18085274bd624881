"""What came of changes that were made one after the other, stage by stage?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from evalkit.engine.effects.attribution import Traced
from evalkit.engine.effects.change import RawChange
from evalkit.engine.effects.tracing import Found
from evalkit.trajectory.effect import Change


@dataclass(frozen=True, slots=True)
class Composed:
    """What is left of all stages."""

    changes: tuple[Found, ...]
    passed: tuple[Found, ...]
    """What one stage has created and a later one has taken away again."""


def composed(earlier: Iterable[Found], later: Iterable[Found]) -> Composed:
    """One change for each resource; none where it is as it was."""
    known = {_key(one): one for one in earlier}
    passed: list[Found] = []
    for one in later:
        before = known.pop(_key(one), None)
        both = one if before is None else _both(before, one)
        if both is not None:
            known[_key(one)] = both
        elif before is not None and before.change.change == "created":
            passed.append(_with(before, one, before.change))
    return Composed(tuple(known.values()), tuple(passed))


def _key(found: Found) -> tuple[str, str]:
    return found.change.channel, found.change.identity or found.change.resource


def _both(first: Found, second: Found) -> Found | None:
    old, new = first.change, second.change
    if "mode" in {old.change, new.change}:
        return _with(first, second, old if new.change == "mode" else _since(old, new))
    if old.before == new.after:
        return None
    return _with(first, second, _since(old, new))


def _since(old: RawChange, new: RawChange) -> RawChange:
    """The later change, seen from before the earlier one."""
    created, gone = old.change == "created", new.change == "deleted"
    kind: Change = "created" if created else "deleted" if gone else "modified"
    before = new.before if old.change == "mode" else old.before
    lost = True if old.irreversible or new.irreversible else new.irreversible
    return replace(new, change=kind, before=before, irreversible=lost)


def _with(first: Found, second: Found, change: RawChange) -> Found:
    evidence = tuple(dict.fromkeys((*first.traced.evidence, *second.traced.evidence)))
    return Found(change, Traced(second.traced.step, evidence))
