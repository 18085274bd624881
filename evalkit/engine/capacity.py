"""How many trials may run at the same time?

A number that was asked for stays what it is. Otherwise it begins with what processors and memory promise and follows
what they show: it grows while trials wait and processors are idle, since trials that wait for a model use none, and
shrinks, by beginning no further trial, where processors are saturated or memory becomes short.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio

from evalkit.engine.machine import Machine, Meter, this_machine
from evalkit.errors import UsageError
from evalkit.tasks.task import Task

PERIOD_S = 2.0
MIB = 1024 * 1024
SANDBOX_BYTES = 128 * MIB
"""Counted for a sandbox whose task asks for no memory, until more is seen: an interpreter or a small build. A sandbox
in which nothing runs takes up to 20 MiB, in docker with what the engine keeps for it."""
PER_PROCESSOR = 16
MOST = 256
OPEN_FILES = 16
"""Of this process, for each trial at the same time; what else it opens takes 128 at most."""
SATURATED = 0.95
IDLE = 0.9
"""As busy as the processors may become by growing. Below `SATURATED`, so that growing never causes shrinking."""
SPARE = 1.5
"""Reserves that must stay free after growing, for the same reason."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Between what the number of trials moves."""

    first: int
    """Where it begins."""
    floor: int
    """Busy processors do not bring it below this; only short memory does."""
    ceiling: int
    reserve_bytes: int
    """Memory that is left to everything else on the machine."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What was seen since the last decision."""

    running: int
    waiting: int
    """Trials that could begin at once if there were room."""
    busy: float | None
    """Share of the processors' time that was used; None: not known, and no reason to grow."""
    free_bytes: int | None
    """None: not known, and no reason for anything."""
    sandbox_bytes: int
    """What one more sandbox takes, as far as is known."""


def bounds_of(machine: Machine, free_bytes: int | None) -> Bounds:
    """Two trials for each processor to begin with, `PER_PROCESSOR` and `MOST` at most, and what memory and open
    files allow. A twentieth of the memory, at least 512 MiB but never more than a quarter, is left free.
    """
    memory = machine.memory_bytes
    reserve = 0 if memory is None else min(max(512 * MIB, memory // 20), memory // 4)
    files = max(1, (machine.open_files - 128) // OPEN_FILES)
    ceiling = min(PER_PROCESSOR * machine.processors, MOST, files)
    fitting = ceiling if free_bytes is None else max(1, (free_bytes - reserve) // SANDBOX_BYTES)
    first = min(2 * machine.processors, ceiling, fitting)
    return Bounds(first=first, floor=min(machine.processors, first), ceiling=ceiling, reserve_bytes=reserve)


def next_number(number: int, seen: Observation, bounds: Bounds) -> int:
    """The number of trials at the same time from now on, between 1 and the ceiling.

    - Memory under the reserve: a quarter fewer than are running.
    - Processors saturated: an eighth fewer than are running, down to the floor.
    - All that may run do, others wait, processors idle: half as many again, as far as memory and, if those to come
      are like those that run, processors allow.
    - Otherwise: as before.
    """
    number = min(max(1, number), bounds.ceiling)
    fewer = [number]
    if seen.free_bytes is not None and seen.free_bytes < bounds.reserve_bytes:
        fewer.append(max(1, seen.running - max(1, seen.running // 4)))
    if seen.busy is not None and seen.busy >= SATURATED:
        fewer.append(max(bounds.floor, seen.running - max(1, seen.running // 8)))
    if len(fewer) > 1 or not seen.waiting or seen.running < number or seen.busy is None:
        return min(fewer)
    more = [number + max(1, number // 2), bounds.ceiling, int(seen.running * IDLE / max(seen.busy, 0.01))]
    if seen.free_bytes is not None:
        spare = seen.free_bytes - int(SPARE * bounds.reserve_bytes)
        more.append(seen.running + max(0, spare) // max(1, seen.sandbox_bytes))
    return max(number, min(more))


def refuse_oversized(tasks: Iterable[Task], sandbox: str) -> None:
    """Raise UsageError for a task that asks for more memory than the machine has: it would never begin."""
    memory = this_machine(own_limits=sandbox == "local").memory_bytes
    if memory is None:
        return
    for task in tasks:
        asked = task.harbor.environment.memory_mb
        if asked is not None and asked * MIB > memory:
            raise UsageError(
                f"task '{task.id}' asks for {asked} MB of memory, and this machine has {memory // MIB} MB",
                where=str(task.path / "task.toml"),
                hint=f"Run it on a larger machine, leave it out with --task '!{task.id}', or lower memory_mb under "
                "[environment].",
            )


class Capacity:
    """Lets trials in, one after the other, as long as there is room for them."""

    def __init__(self, bounds: Bounds, meter: Meter | None, *, period_s: float = PERIOD_S) -> None:
        self.ceiling = bounds.ceiling
        """No more than this are ever let in at the same time."""
        self._bounds, self._meter, self._period_s = bounds, meter, period_s
        self._slots = anyio.CapacityLimiter(bounds.first)
        self._inside = 0
        self._busy: float | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._memory = None if meter is None else _Memory(meter, bounds.reserve_bytes)

    @property
    def number(self) -> int:
        """How many trials may run at the same time now."""
        return int(self._slots.total_tokens)

    @asynccontextmanager
    async def slot(self, memory_mb: int | None) -> AsyncGenerator[None]:
        """Wait for room for one trial, and hold it. `memory_mb` is what its task asks for; None: nothing."""
        self._inside += 1
        self._watch()
        try:
            async with self._slots:
                if self._memory is None:
                    yield
                    return
                async with self._memory.held(memory_mb):
                    yield
        finally:
            self._inside -= 1
            if not self._inside and self._timer is not None:
                self._timer.cancel()
                self._timer = None

    def _watch(self) -> None:
        if self._timer is None and self._meter is not None:
            self._meter.read()
            self._timer = asyncio.get_running_loop().call_later(self._period_s, self._look)

    def _look(self) -> None:
        self._timer = None
        if self._meter is None or self._memory is None:
            return
        now, trials = self._meter.read(), self._slots.statistics()
        # A single look may fall on a burst, such as the start of many sandboxes.
        both = [share for share in (self._busy, now.busy) if share is not None]
        self._busy = sum(both) / len(both) if both else None
        seen = Observation(
            running=trials.borrowed_tokens,
            waiting=trials.tasks_waiting,
            busy=self._busy,
            free_bytes=now.free_bytes,
            sandbox_bytes=self._memory.each(now.free_bytes, trials.borrowed_tokens),
        )
        self._slots.total_tokens = next_number(self.number, seen, self._bounds)
        self._memory.look_again()
        self._timer = asyncio.get_running_loop().call_later(self._period_s, self._look)


def make_capacity(max_trials: int | None, sandbox: str) -> Capacity:
    """The capacity of this machine; of `max_trials`, whatever the machine shows, where a number is given."""
    if max_trials is not None:
        return Capacity(Bounds(max_trials, max_trials, max_trials, 0), None)
    own_limits = sandbox == "local"
    meter = Meter(own_limits=own_limits)
    return Capacity(bounds_of(this_machine(own_limits=own_limits), meter.free_bytes()), meter)


class _Memory:
    """Promises memory to trials in the order in which they ask, so that a large one is not passed for ever."""

    def __init__(self, meter: Meter, reserve_bytes: int) -> None:
        self._meter, self._reserve = meter, reserve_bytes
        self._at_first = meter.free_bytes()
        self._promised = self._holders = 0
        self._turn = anyio.Lock()
        self._changed = anyio.Event()

    @asynccontextmanager
    async def held(self, asked_mb: int | None) -> AsyncGenerator[None]:
        """Wait until a trial's memory is free, and promise it. One alone never waits."""
        needed = SANDBOX_BYTES if asked_mb is None else asked_mb * MIB
        async with self._turn:
            while not self._fits(needed):
                self._changed = anyio.Event()
                await self._changed.wait()
            self._promised, self._holders = self._promised + needed, self._holders + 1
        try:
            yield
        finally:
            self._promised, self._holders = self._promised - needed, self._holders - 1
            self.look_again()

    def look_again(self) -> None:
        """Let whoever waits for memory see whether there is some now."""
        self._changed.set()

    def each(self, free_bytes: int | None, running: int) -> int:
        """What a running trial has taken on average, at least `SANDBOX_BYTES`."""
        if free_bytes is None or self._at_first is None or not running:
            return SANDBOX_BYTES
        return max(SANDBOX_BYTES, (self._at_first - free_bytes) // running)

    def _fits(self, needed: int) -> bool:
        if not self._holders or self._at_first is None:
            return True
        if self._promised + needed > self._at_first - self._reserve:
            return False
        free = self._meter.free_bytes()
        return free is None or needed <= free - self._reserve
