"""Which step did it? From what the listings after each call show, and from what else is known of the steps."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from evalkit.engine.effects.attribution import Attribution, Traced
from evalkit.engine.effects.change import RawChange
from evalkit.sandbox.protocol import Running
from evalkit.trajectory.step import Act

_ENDS = frozenset({"submit", "report_impossible"})
_NOT_RUN = frozenset({"parsing", "denied"})
_CLOCK_S = 0.05
"""How far from a call a process may seem to have begun that this call has started."""
_TICK_S = 1 / os.sysconf("SC_CLK_TCK")
"""How exactly the kernel tells when a process was started; it rounds down."""


@dataclass(frozen=True, slots=True)
class Found:
    """A change, and who made it."""

    change: RawChange
    traced: Traced


@dataclass(frozen=True, slots=True)
class Tracer:
    """Knows the calls of one stretch of a trial."""

    attribution: Attribution
    acts: tuple[Act, ...]

    def trace(self, changes: Sequence[RawChange]) -> list[Found]:
        """Who made each of these changes."""
        found = [Found(change, self._of(change)) for change in changes]
        return _with_origins(found)

    def trace_process(self, change: RawChange, process: Running) -> Found:
        """Who has started a process: the call that ran at that moment."""
        traced = self._only if change.change != "created" else self._starter(process)
        return Found(change, traced)

    def _starter(self, process: Running) -> Traced:
        """The nearest call: the next one may have begun within a tick of the kernel's clock."""
        began = _moment(process.started + _TICK_S / 2)
        near = sorted((_distance(act, began), act.step) for act in self._ran)
        if not near or near[0][0] > _CLOCK_S or (len(near) > 1 and near[1][0] == near[0][0]):
            return self._only
        return Traced(near[0][1], (near[0][1],))

    def trace_socket(self, change: RawChange, processes: Sequence[Found], owners: Collection[str]) -> Found:
        """Who listens: whoever has started the processes that hold the socket, which `owners` are the identities of;
        where nobody knows them, all that were left.
        """
        started = [one for one in processes if one.change.change == "created"]
        holding = [one for one in started if one.change.identity in owners] or started
        steps = {one.traced.step for one in holding}
        if len(steps) == 1 and (step := steps.pop()) is not None:
            return Found(change, Traced(step, (step,)))
        return Found(change, self._only)

    def _of(self, change: RawChange) -> Traced:
        traced = self.attribution.of((change.resource, *change.places, *change.clues))
        return traced if traced.evidence else self._only

    @property
    def _ran(self) -> list[Act]:
        return [act for act in self.acts if act.tool not in _ENDS and act.error_kind not in _NOT_RUN]

    @property
    def _only(self) -> Traced:
        """The one call that has run, where it is one."""
        ran = self._ran
        return Traced(ran[0].step, (ran[0].step,)) if len(ran) == 1 else Traced()


def _with_origins(found: list[Found]) -> list[Found]:
    """Something that is gone here and new there was moved: each shows what the other does."""
    gone = {one.change.before: one for one in found if _is_file(one, "deleted")}
    come = {one.change.after: one for one in found if _is_file(one, "created")}
    shared: list[Found] = []
    for one in found:
        other = None
        if _is_file(one, "created"):
            other = gone.get(one.change.after)
        elif _is_file(one, "deleted"):
            other = come.get(one.change.before)
        if other is None:
            shared.append(one)
            continue
        both = tuple(sorted({*one.traced.evidence, *other.traced.evidence}))
        shared.append(Found(one.change, Traced(one.traced.step, both)))
    return shared


def _is_file(found: Found, kind: str) -> bool:
    value = found.change.before or found.change.after or ""
    return found.change.channel == "file" and found.change.change == kind and len(value) == 64


def _distance(act: Act, moment: datetime) -> float:
    """Seconds from a moment to the time in which a call ran; 0 within it."""
    if act.started_at is None or act.duration_s is None:
        return math.inf
    since = (moment - act.started_at).total_seconds()
    return max(-since, since - act.duration_s, 0.0)


def _moment(since_boot: float) -> datetime:
    """The kernel counts from the machine's start."""
    ago = time.clock_gettime(time.CLOCK_BOOTTIME) - since_boot
    return datetime.now(UTC) - timedelta(seconds=ago)
