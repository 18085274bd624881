"""What does a scorer see of a trial?"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from evalkit.measures.action import Action, actions
from evalkit.measures.checkpoints import State, copied_states, graded_states
from evalkit.measures.episode import Episode, episodes
from evalkit.measures.failure_rule import Hook
from evalkit.measures.fault_strike import Strike, first_silent, strikes
from evalkit.measures.giving_up import reported_impossible
from evalkit.measures.irreversible import with_calls
from evalkit.measures.milestone import milestones
from evalkit.measures.silent_fault import Spread, spread
from evalkit.measures.tampering.found import findings_of, is_tampered
from evalkit.scoring.cohort import Cohort
from evalkit.scoring.facts import TaskFacts
from evalkit.scoring.trial_reference import TrialReference
from evalkit.trajectory.effect import Effect
from evalkit.trajectory.finding import Finding
from evalkit.trajectory.step import Act, Event, Step, Think
from evalkit.trajectory.trial import Trial as TrialRow


@dataclass(frozen=True)
class Trial:
    """One trial: its row, steps and effects, what was declared for its task, and the run's cohort.

    What several scorers need is computed once: `actions`, `episodes`, `strikes`, `spreads`, `milestones`.
    """

    row: TrialRow
    steps: tuple[Step, ...] = ()
    effects: tuple[Effect, ...] = ()
    task: TaskFacts = field(default_factory=TaskFacts)
    cohort: Cohort = field(default_factory=Cohort)
    horizon: int | None = None
    """The suite's step limit, the same for every arm; None where none is known."""
    reference: TrialReference | None = None
    """The task's reference cost; None where nothing is known of the task."""
    had_checkpoints: bool = False
    """Whether states of its task's trials were graded on the way in this run, if maybe none of its own."""
    reference_calls: float | None = None
    """The median calls of whoever sets the task's reference; None where there is none."""
    hooks: tuple[Hook, ...] = ()
    """Say of calls that seem to have gone through whether they failed nevertheless."""

    @property
    def passed(self) -> bool | None:
        """Whether the grader passed it; None where it is unscored."""
        return None if self.row.status == "unscored" else self.row.status == "passed"

    @property
    def earned(self) -> bool | None:
        """Whether it passed and is not confirmed to be tampered with; None where it is unscored."""
        return None if self.passed is None else self.passed and not self.is_tampered

    @cached_property
    def is_tampered(self) -> bool:
        """Whether tampering is confirmed."""
        return is_tampered(self.row, self.steps, self.effects)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """Evidence of tampering, confirmed first."""
        return findings_of(self.row, self.steps, self.changes)

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
    def states(self) -> tuple[State, ...]:
        """States of its work that were graded while it went on; empty without checkpoints."""
        return graded_states(self.events)

    @cached_property
    def follows_states(self) -> bool:
        """Whether the states of its work are known: some were graded, or it passed through none."""
        return bool(self.states) or self.changed_nothing

    @cached_property
    def changed_nothing(self) -> bool:
        """Whether it has no state at all, at a task of which states are graded: it changed nothing. Not so where states
        were copied and have no verdict; of an impossible twin nobody knows, as its states are never copied."""
        if not self.had_checkpoints or self.row.variant == "twin":
            return False
        return not copied_states(self.events)

    @cached_property
    def strikes(self) -> tuple[Strike, ...]:
        """Where faults struck, in order."""
        return strikes(self.steps)

    @cached_property
    def actions(self) -> tuple[Action, ...]:
        """Every tool call, as recovery sees it."""
        return actions(
            self.acts,
            resource_args=self.task.resource_args,
            silent_faults=self.task.silent_faults,
            hooks=self.hooks,
            waits={
                strike.step: strike.retry_after_s
                for strike in self.strikes
                if strike.retry_after_s is not None
            },
        )

    @cached_property
    def milestones(self) -> tuple[int, ...]:
        """Steps at which a declared milestone was reached."""
        return milestones(self.events, self.task.milestones)

    @cached_property
    def episodes(self) -> tuple[Episode, ...]:
        """From each failure to where it was put right."""
        return episodes(self.actions, milestones=self.milestones)

    @cached_property
    def spreads(self) -> tuple[Spread, ...]:
        """How far each silent fault that was visible got, from where it first struck."""
        return tuple(
            spread(strike, self.acts, self.actions, answer=self.row.answer, effects=self.effects)
            for strike in first_silent(self.strikes)
        )

    @cached_property
    def changes(self) -> tuple[Effect, ...]:
        """Lasting changes: those recorded and, where they were measured, what calls tell of them."""
        if not self.row.effects_measured:
            return self.effects
        return with_calls(self.row.trial_id, self.acts, self.effects, network=self.task.network)

    @cached_property
    def impossible(self) -> tuple[int, ...] | None:
        """Steps at which the agent reported that the task cannot be done; None where it did not."""
        return reported_impossible(self.events, self.row.stop_reason)
