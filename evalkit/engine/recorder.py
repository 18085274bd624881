"""How do steps get into the record while a trial runs?"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from evalkit.trajectory.step import Act, Event, EventName, Prompt, Role, Step, Think


class Recorder:
    """Collects one trial's steps in order and hands each to a sink (the journal) as it happens."""

    def __init__(self, sink: Callable[[Step], None]) -> None:
        self._sink = sink
        self._steps: list[Step] = []

    @property
    def steps(self) -> tuple[Step, ...]:
        """Everything recorded so far."""
        return tuple(self._steps)

    @property
    def next(self) -> int:
        """The number that the next step gets."""
        return len(self._steps)

    def add(self, step: Step) -> None:
        """Keep a step. Its number must be `next`."""
        if step.step != self.next:
            raise ValueError(f"step {step.step} recorded where {self.next} was due")
        self._steps.append(step)
        self._sink(step)

    def prompt(self, role: Role, text: str) -> None:
        """Record what the agent is told."""
        self.add(Prompt(step=self.next, role=role, text=text, started_at=now()))

    def event(self, name: EventName, detail: str | None = None, *, parent: int | None = None) -> None:
        """Record something that nobody said or did."""
        self.add(Event(step=self.next, event=name, detail=detail, parent_step=parent, started_at=now()))

    @property
    def thinks(self) -> tuple[Think, ...]:
        """The generations so far."""
        return tuple(step for step in self._steps if isinstance(step, Think))

    @property
    def acts(self) -> tuple[Act, ...]:
        """The tool calls so far."""
        return tuple(step for step in self._steps if isinstance(step, Act))


class Stopwatch:
    """Measures one stretch of wall-clock time on the monotonic clock."""

    def __init__(self) -> None:
        self.started_at = now()
        self._began = time.perf_counter()

    def later(self, seconds: float) -> Stopwatch:
        """One that began so many seconds after this one."""
        watch = Stopwatch()
        watch.started_at = self.started_at + timedelta(seconds=seconds)
        watch._began = self._began + seconds
        return watch

    @property
    def seconds(self) -> float:
        """Seconds since it was made."""
        return time.perf_counter() - self._began


def now() -> datetime:
    """The present moment, in UTC."""
    return datetime.now(UTC)
