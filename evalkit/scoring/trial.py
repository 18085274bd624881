"""What does a scorer see of a trial?"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from evalkit.measures.action import Action, actions
from evalkit.measures.episode import Episode, episodes
from evalkit.measures.fault_strike import Strike, strikes
from evalkit.scoring.cohort import Cohort
from evalkit.scoring.facts import TaskFacts
from evalkit.trajectory.effect import Effect
from evalkit.trajectory.step import Act, Event, Step, Think
from evalkit.trajectory.trial import Trial as TrialRow


@dataclass(frozen=True)
class Trial:
    """One trial: its row, steps and effects, what was declared for its task, and the run's cohort.

    What several scorers need is computed once: `actions`, `episodes`, `strikes`.
    """

    row: TrialRow
    steps: tuple[Step, ...] = ()
    effects: tuple[Effect, ...] = ()
    task: TaskFacts = field(default_factory=TaskFacts)
    cohort: Cohort = field(default_factory=Cohort)
    horizon: int | None = None
    """The suite's step limit, the same for every arm; None where none is known."""

    @property
    def passed(self) -> bool | None:
        """Whether the grader passed it; None where it is unscored."""
        return None if self.row.status == "unscored" else self.row.status == "passed"

    @property
    def is_faulted(self) -> bool:
        return self.row.variant not in {"clean", "twin"}

    @cached_property
    def acts(self) -> tuple[Act, ...]:
        return tuple(step for step in self.steps if isinstance(step, Act))

    @cached_property
    def thinks(self) -> tuple[Think, ...]:
        return tuple(step for step in self.steps if isinstance(step, Think))

    @cached_property
    def events(self) -> tuple[Event, ...]:
        return tuple(step for step in self.steps if isinstance(step, Event))

    @cached_property
    def strikes(self) -> tuple[Strike, ...]:
        """Where faults struck, in order."""
        return strikes(self.steps)

    @cached_property
    def actions(self) -> tuple[Action, ...]:
        """Every tool call, as recovery sees it."""
        return actions(
            self.acts, resource_args=self.task.resource_args, silent_faults=self.task.silent_faults
        )

    @cached_property
    def episodes(self) -> tuple[Episode, ...]:
        """From each failure to where it was put right."""
        return episodes(self.actions)
