"""How does a trial's planned fault get at the agent's tool calls?"""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

import anyio

from evalkit.engine.agent_clock import AgentClock
from evalkit.engine.faults import refusal
from evalkit.engine.faults.called import Called
from evalkit.engine.faults.condition import ask
from evalkit.engine.faults.falsehood import falsehood, nothing_to_do
from evalkit.engine.faults.lasting import Lasting, lasting
from evalkit.engine.faults.schedule import Schedule
from evalkit.engine.faults.site import Site
from evalkit.engine.faults.strike import Seen, Strike
from evalkit.engine.observation import observe
from evalkit.engine.recorder import Stopwatch
from evalkit.engine.tool_settings import ToolSettings
from evalkit.sandbox.protocol import ExecResult
from evalkit.tasks.faults import Fault
from evalkit.trajectory.canonical import canonical_json

_CUT = re.compile(r"\[\.\.\. \d+ bytes cut \.\.\.\]")
REMEMBERED = 32
"""Different calls whose latest result is kept."""

Run = Callable[[], Awaitable[ExecResult]]
Note = Callable[[Strike], None]
"""Hears of a strike before the call that it strikes is over, which may be cut off."""


class Injector:
    """One trial's planned fault, and what has come of it. Calls that it does not strike go through untouched."""

    def __init__(self, fault: Fault, task_id: str) -> None:
        self.fault = fault
        self.clock: AgentClock | None = None
        """The agent's, which stands still while the fault's condition is looked into; None: there is none."""
        self._task_id = task_id
        self._schedule = Schedule(fault)
        self._turn = asyncio.Lock()
        self._late = ""
        self._shown = 0
        """Calls that showed it."""
        self._met = 0
        """Calls that a fault which lasts began at, or that showed it."""
        self._trouble: str | None = None
        """Why its end could not be asked for the latest time."""
        self._missed: str | None = None
        """Why the latest call that it met showed nothing of it."""
        self._lasting = lasting(fault)
        self._earlier: OrderedDict[str, ExecResult] = OrderedDict()

    @property
    def fired(self) -> bool:
        """Whether the model could see it at least once."""
        return self._shown > 0

    @property
    def ending(self) -> str | None:
        """What the record says of it at the trial's end; None where its strikes say everything."""
        detail: dict[str, object] = {"id": self.fault.id, "kind": self.fault.kind, "fired": self.fired}
        if not self.fired:
            detail["reason"] = self._missed or self._schedule.why_not
        if self._trouble is not None:
            detail["until_failed"] = self._trouble
        return None if self.fired and self._trouble is None else canonical_json(detail)

    async def call(self, called: Called, site: Site, run: Run, note: Note) -> Seen:
        """Let a call run, or what the fault makes of it."""
        if self._lasting is not None:
            return await self._live_with(self._lasting, called, site, run)
        due = await self._is_due(called, site)
        if due and refusal.refuses(self.fault):
            return await self._refuse(site, note)
        result = self._with_late(await run())
        if due and not self._schedule.is_over:  # another call may have been faster
            return self._alter(called, result, site.settings)
        self._remember(called, result)
        return Seen(result)

    async def rest(self, site: Site) -> None:
        """Put right what can be put right, before somebody else than the agent works there."""
        if self._lasting is not None:
            await self._lasting.end(site)

    async def _is_due(self, called: Called, site: Site) -> bool:
        async def holds(line: str) -> bool:
            answer = await ask(line, site)
            self._late += answer.late
            self._trouble = answer.trouble
            return answer.holds

        async with self._turn:
            with self._off_the_clock():
                return await self._schedule.meets(called, holds)

    def _off_the_clock(self) -> AbstractContextManager[None]:
        """What the fault itself does is not the agent's time."""
        return self.clock.standing_still() if self.clock else nullcontext()

    async def _refuse(self, site: Site, note: Note) -> Seen:
        watch = Stopwatch()
        kind = refusal.error_kind(self.fault)
        strike = Strike(self.fault, self._schedule.struck(), visible=True, error_kind=kind)
        self._shown += 1
        note(strike)  # a wait may outlast the agent's time, and has struck it then
        await anyio.sleep(refusal.wait_s(self.fault, site.settings))
        return Seen(refusal.refused(self.fault, watch.seconds), refusal.told(self.fault), strike)

    async def _live_with(self, real: Lasting, called: Called, site: Site, run: Run) -> Seen:
        due = await self._is_due(called, site)
        with self._off_the_clock():
            if self._schedule.until_held:
                await real.end(site)
            await real.before(site, due=due)
        result = real.aside.told(self._with_late(await run()))
        with self._off_the_clock():
            visible = await real.shows(site, result)
            began = await real.after(site, due=due)
        if began:
            self._schedule.struck()
        if not (visible or began or due):
            return Seen(result)
        self._missed = real.failed
        self._met += visible or began
        self._shown += visible
        if visible and self._shown == self.fault.times:
            await real.end(site)
        return Seen(result, None, Strike(self.fault, max(1, self._met), visible=visible))

    def _alter(self, called: Called, true: ExecResult, settings: ToolSettings) -> Seen:
        shown = None
        if true.exit_code == 0:
            shown = falsehood(self.fault, self._task_id, true, self._earlier.get(called.key))
        if shown is None or _view(shown.result, settings) == _view(true, settings):
            self._missed = nothing_to_do(self.fault, true)
            self._remember(called, true)
            return Seen(true, None, Strike(self.fault, self._schedule.strikes + 1, visible=False))
        self._shown += 1
        strike = Strike(self.fault, self._schedule.struck(), visible=True)
        return Seen(shown.result, None, replace(strike, canary=shown.canary, true_stdout=true.stdout.text))

    def _remember(self, called: Called, result: ExecResult) -> None:
        """Keep what a call has truly shown, for a fault that shows it again."""
        if self.fault.kind != "stale" or result.exit_code != 0:
            return
        self._earlier[called.key] = result
        self._earlier.move_to_end(called.key)
        if len(self._earlier) > REMEMBERED:
            self._earlier.popitem(last=False)

    def _with_late(self, result: ExecResult) -> ExecResult:
        """With what the background wrote while `until` was asked."""
        if not self._late:
            return result
        late, self._late = self._late, ""
        return replace(result, late=late + result.late)


def _view(result: ExecResult, settings: ToolSettings) -> str:
    """What the model sees, whatever number of bytes is cut where it cannot see."""
    return _CUT.sub("", observe(result, settings))
