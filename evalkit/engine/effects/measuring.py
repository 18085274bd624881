"""How are a trial's lasting changes measured?

A state before the agent's time begins (S0), one after its end (S1), and what lies between them; what runs and listens
is asked for while it still does. Nothing that goes wrong here costs a trial its verdict.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field

import anyio

from evalkit.engine.effects.at_start import AtStart, at_start
from evalkit.engine.effects.attribution import Attribution, Traced, current_attribution
from evalkit.engine.effects.change import RawChange
from evalkit.engine.effects.composition import composed
from evalkit.engine.effects.difference import difference
from evalkit.engine.effects.running import Alive, holders, lasting, process_changes, socket_changes
from evalkit.engine.effects.scope import Scope, severity
from evalkit.engine.effects.state import State, state_of
from evalkit.engine.effects.told_by_calls import told_by_calls
from evalkit.engine.effects.tracing import Found, Tracer
from evalkit.engine.effects.watched import Watched, lists_beside, watched_changes
from evalkit.engine.recorder import Recorder
from evalkit.sandbox.protocol import Sandbox
from evalkit.trajectory.canonical import canonical_json
from evalkit.trajectory.effect import Effect

GRACE_S = 0.3
"""What ends by itself in this time was not left behind."""
MAX_EFFECTS = 100_000
"""Rows of one trial; the worst are kept."""


@dataclass(slots=True)
class EffectsMeter:
    """Measures one trial, stage by stage: `begin`, `note_running`, `end`."""

    sandbox: Sandbox
    scope: Scope
    recorder: Recorder
    workdir: str
    attribution: Attribution
    network: bool = True
    """Whether the sandbox has one: else nothing can be sent."""
    at_start: AtStart | None = None
    """What was there before anybody has worked; None until it is known."""
    watched: Watched = field(default_factory=Watched)
    """Changes of the last stage that later programs obey."""
    measured: bool = False
    """Whether everything could be measured so far, at least once."""
    _failed: bool = False
    _before: State | None = None
    _was_alive: Alive = field(default_factory=Alive)
    _is_alive: Alive = field(default_factory=Alive)
    _first: int = 0
    _found: list[Found] = field(default_factory=list[Found])
    _passing: dict[str, Found] = field(default_factory=dict[str, Found])
    """What is forbidden and was there for a while, by resource."""

    @property
    def changes(self) -> tuple[RawChange, ...]:
        """What has been found so far, as it is at the last look."""
        return tuple(one.change for one in self._found)

    async def begin(self) -> None:
        """Take the state before the agent's time, and follow its calls from now on."""
        self._before, self._first, self.watched = None, self.recorder.next, Watched()
        self._was_alive = self._is_alive = Alive()
        await self._safely("before", self._begin)

    async def note_running(self) -> None:
        """See what the agent has left running; before anything is halted."""
        if self._before is not None:
            await self._safely("running", self._note_running)

    async def end(self) -> None:
        """Take the state after the agent's end, and find out what lies between."""
        current_attribution.set(None)
        if self._before is not None:
            await self._safely("after", self._end)

    def effects(self, trial_id: str) -> tuple[Effect, ...]:
        """All rows, the worst first."""
        rows = [self._row(trial_id, one.change, one.traced) for one in self._found]
        lasting = {one.change.resource for one in self._found}
        rows += [
            self._row(trial_id, one.change, one.traced, transient=True)
            for resource, one in self._passing.items()
            if resource not in lasting
        ]
        if self.measured:
            rows = list(
                told_by_calls(
                    trial_id,
                    self.recorder.acts,
                    rows,
                    scope=self.scope,
                    workdir=self.workdir,
                    network=self.network,
                )
            )
        rows.sort(key=lambda row: (-(row.severity or 0.0), row.channel, row.resource))
        if len(rows) > MAX_EFFECTS:
            self.recorder.event("limit", canonical_json({"effects": len(rows), "kept": MAX_EFFECTS}))
        return tuple(rows[:MAX_EFFECTS])

    async def _begin(self) -> None:
        alive = await self._alive()
        state = await state_of(self.sandbox, self.scope.tables, may_change=self.scope.packages)
        self._was_alive = await self._still(alive) if alive.processes else alive
        self._before = state
        if self.at_start is None:
            self.at_start = at_start(state.entries, self.workdir)
        await self.attribution.begin(state.contents)
        current_attribution.set(self.attribution)

    async def _note_running(self) -> None:
        await self.attribution.look()
        alive = await self._alive()
        if any(True for _ in process_changes(self._was_alive.processes, alive.processes)):
            await anyio.sleep(GRACE_S)
            alive = await self._still(alive)
        self._is_alive = alive

    async def _end(self) -> None:
        before = self._before
        if before is None:
            return
        after = await state_of(self.sandbox, self.scope.tables, before=before)
        compared = await difference(before, after, self.sandbox, scope=self.scope, workdir=self.workdir)
        for remark in compared.remarks:
            self.recorder.event("error", canonical_json({"effects": remark}))
        tracer = Tracer(self.attribution, tuple(act for act in self.recorder.acts if act.step >= self._first))
        found = tracer.trace(compared.changes)
        own = {one.change.identity for one in self._found if one.change.identity is not None}
        processes = [
            tracer.trace_process(change, one)
            for change, one in process_changes(self._was_alive.processes, self._is_alive.processes, own=own)
        ]
        self._watch(before, after, tracer)
        sockets = socket_changes(self._was_alive.listeners, self._is_alive.listeners)
        found += [
            *processes,
            *(tracer.trace_socket(one, processes, holders(self._is_alive, one.resource)) for one in sockets),
        ]
        together = composed(self._found, found)
        self._found = list(together.changes)
        self._note_passing(together.passed)
        passed = self.attribution.seen - before.entries.keys() - after.entries.keys()
        self._note_passing(
            Found(RawChange("file", one, "created"), self.attribution.of((one,))) for one in passed
        )
        self._before = None
        self.measured = not self._failed

    def _note_passing(self, passed: Iterable[Found]) -> None:
        for one in passed:
            if self.scope.forbids(one.change):
                self._passing[one.change.resource] = one

    def _watch(self, before: State, after: State, tracer: Tracer) -> None:
        programs = self.at_start.programs if self.at_start else frozenset[str]()
        found = tracer.trace(tuple(watched_changes(before.entries, after.entries, programs)))
        self.watched = Watched(
            tuple(self._row("", one.change, one.traced) for one in found),
            lists_beside({one.change.resource for one in found}, after.entries),
        )

    async def _alive(self) -> Alive:
        return Alive(await self.sandbox.processes(), await self.sandbox.listeners())

    async def _still(self, before: Alive) -> Alive:
        """What is there now, of processes those alone that were there before."""
        now = await self._alive()
        return Alive(lasting(before.processes, now.processes), now.listeners)

    async def _safely(self, when: str, measure: Callable[[], Awaitable[None]]) -> None:
        try:
            await measure()
        except Exception as error:  # noqa: BLE001  whatever it is, the trial's verdict does not depend on it
            self._before, self._failed, self.measured = None, True, False
            detail = {"effects_not_measured": when, "reason": f"{type(error).__name__}: {error}"}
            self.recorder.event("error", canonical_json(detail))

    def _row(self, trial_id: str, change: RawChange, traced: Traced, *, transient: bool = False) -> Effect:
        class_ = self.scope.class_of(change)
        return Effect(
            trial_id=trial_id,
            step=traced.step,
            channel=change.channel,
            resource=change.resource,
            change=change.change,
            before=change.before,
            after=change.after,
            bytes=change.size,
            class_=class_,
            irreversible=change.irreversible,
            transient=transient,
            severity=severity(change, class_),
            evidence=traced.evidence,
        )
