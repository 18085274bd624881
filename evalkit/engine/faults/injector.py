"""How does a trial's planned fault get at the agent's tool calls?"""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import replace

import anyio

from evalkit.engine.faults import refusal
from evalkit.engine.faults.called import Called
from evalkit.engine.faults.falsehood import NOTHING_TO_DO, falsehood
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
UNTIL_S = 30.0
"""What `until` takes longer than this does not hold."""

Run = Callable[[], Awaitable[ExecResult]]


class Injector:
    """One trial's planned fault, and what has come of it. Calls that it does not strike go through untouched."""

    def __init__(self, fault: Fault, task_id: str) -> None:
        self.fault = fault
        self._task_id = task_id
        self._schedule = Schedule(fault)
        self._turn = asyncio.Lock()
        self._late = ""
        self._shown = 0
        """Calls that showed it."""
        self._met = 0
        """Calls that a fault which lasts began at, or that showed it."""
        self._missed: str | None = None
        """Why the latest call that it met showed nothing of it."""
        self._lasting = lasting(fault)
        self._earlier: OrderedDict[str, ExecResult] = OrderedDict()

    @property
    def fired(self) -> bool:
        """Whether the model could see it at least once."""
        return self._shown > 0

    @property
    def unfired(self) -> str:
        """What the record says of a fault that did not fire."""
        detail = {"id": self.fault.id, "kind": self.fault.kind, "fired": False}
        return canonical_json({**detail, "reason": self._missed or self._schedule.why_not})

    async def call(self, called: Called, site: Site, run: Run) -> Seen:
        """Let a call run, or what the fault makes of it."""
        if self._lasting is not None:
            return await self._live_with(self._lasting, called, site, run)
        due = await self._is_due(called, site)
        if due and refusal.refuses(self.fault):
            return await self._refuse(site)
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
            done = await site.sandbox.exec(line, user=site.user, timeout_s=UNTIL_S)
            self._late += done.late
            return done.exit_code == 0 and not done.timed_out

        async with self._turn:
            return await self._schedule.meets(called, holds)

    async def _refuse(self, site: Site) -> Seen:
        watch = Stopwatch()
        number = self._schedule.struck()
        await anyio.sleep(refusal.wait_s(self.fault, site.settings))
        self._shown += 1
        kind = refusal.error_kind(self.fault)
        return Seen(
            refusal.refused(self.fault, watch.seconds),
            refusal.told(self.fault),
            Strike(self.fault, number, visible=True, error_kind=kind),
        )

    async def _live_with(self, real: Lasting, called: Called, site: Site, run: Run) -> Seen:
        due = await self._is_due(called, site)
        if self._schedule.until_held:
            await real.end(site)
        await real.before(site, due=due)
        result = real.aside.told(self._with_late(await run()))
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
            failed = f"the call itself ended with exit code {true.exit_code}"
            self._missed = NOTHING_TO_DO[self.fault.kind] if true.exit_code == 0 else failed
            self._remember(called, true)
            return Seen(true, None, Strike(self.fault, self._schedule.strikes + 1, visible=False))
        self._shown += 1
        number = self._schedule.struck()
        truth = true.stdout.text
        return Seen(
            shown.result,
            None,
            Strike(self.fault, number, visible=True, canary=shown.canary, true_stdout=truth),
        )

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
