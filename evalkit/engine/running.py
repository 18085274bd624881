"""Which run is it whose trials are being solved in this context?"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from evalkit.engine.plan import Planned, PlannedSample
from evalkit.engine.stopping import Stopping
from evalkit.engine.trial import RunContext
from evalkit.trajectory.trial import Trial


@dataclass(slots=True)
class RunResult:
    """What came of a run: the rows of its trials as they finished, and whether it was cut short."""

    path: Path
    trials: list[Trial] = field(default_factory=list[Trial])
    interrupted: bool = False
    broken: BaseException | None = None
    """What stopped the harness itself, such as a full disk; None for a run that went to its end."""


@dataclass(frozen=True)
class Running:
    """The run whose trials are being solved."""

    plan: Mapping[str, Planned]
    """By trial id."""
    context: RunContext
    result: RunResult
    stopping: Stopping

    @cached_property
    def samples(self) -> Mapping[tuple[str, str, int, str], PlannedSample]:
        """Trials of Inspect's own tasks by suite, agent, epoch and the sample's own id."""
        own = (planned for planned in self.plan.values() if isinstance(planned, PlannedSample))
        return {(one.suite.name, one.agent.id, one.epoch, str(one.task.sample.id)): one for one in own}

    @property
    def ends(self) -> bool:
        """Whether no further trial is to be begun."""
        return self.result.broken is not None or self.stopping.asked


running: ContextVar[Running] = ContextVar("evalkit_running")
"""No parameter of a solver, because Inspect keeps and logs a copy of every parameter."""
