"""What came of changes that were made one after the other, stage by stage?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from evalkit.engine.effects.attribution import Traced
from evalkit.engine.effects.change import RawChange
from evalkit.engine.effects.tracing import Found
from evalkit.trajectory.effect import Change


def composed(earlier: Iterable[Found], later: Iterable[Found]) -> list[Found]:
    """One change for each resource; none where it is as it was. Processes are each by itself."""
    known = {_key(one): one for one in earlier}
    apart: list[Found] = []
    for one in later:
        before = known.pop(_key(one), None)
        if one.change.channel == "process":
            apart += [one] if before is None else [before, one]
        elif before is None:
            known[_key(one)] = one
        elif (both := _both(before, one)) is not None:
            known[_key(one)] = both
    return [*known.values(), *apart]


def _key(found: Found) -> tuple[str, str]:
    own = f"{id(found)}" if found.change.channel == "process" else ""
    return found.change.channel, f"{found.change.resource}{own}"


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
