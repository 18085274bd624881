"""How did the same agent, and the others, do on the same task?"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from evalkit.scoring.frozen import Frozen
from evalkit.trajectory.trial import Trial as TrialRow


@dataclass(frozen=True, slots=True)
class Cell:
    """All trials of one agent at one variant of a task, summed up."""

    trials: int = 0
    scored: int = 0
    passed: int = 0
    ln_tokens: float = 0.0
    """The sum of the logarithms of output tokens, over passed trials where they are known and not 0."""
    priced: int = 0
    """How many trials that sum is over."""

    @property
    def success_rate(self) -> float | None:
        """Passed / scored, in [0, 1]; None where nothing is scored."""
        return self.passed / self.scored if self.scored else None

    @property
    def mean_ln_tokens(self) -> float | None:
        """Of the passed trials; None where none is known."""
        return self.ln_tokens / self.priced if self.priced else None

    def with_trial(self, trial: TrialRow, *, passed: bool) -> Cell:
        """With one trial more."""
        known = trial.output_tokens if passed else None
        return Cell(
            trials=self.trials + 1,
            scored=self.scored + (trial.status != "unscored"),
            passed=self.passed + passed,
            ln_tokens=self.ln_tokens + (math.log(known) if known else 0.0),
            priced=self.priced + bool(known),
        )


class Cohort:
    """The trials of a run, summed up by agent, task and variant. All scorers share it, and none can change it."""

    __slots__ = ("_cells", "_longest_s", "_most_steps", "_most_tokens")

    def __init__(self, trials: Iterable[TrialRow] = (), tampered: Collection[str] = ()) -> None:
        """`tampered` are the ids of trials that have earned nothing, whatever their graders said."""
        cells: dict[tuple[str, str, str, str], Cell] = {}
        longest_s, most_tokens, most_steps = 0.0, 0, 0
        for trial in trials:
            key = (trial.agent, trial.suite, trial.task_id, trial.variant)
            passed = trial.status == "passed" and not (trial.source == "run" and trial.trial_id in tampered)
            cells[key] = cells.get(key, _EMPTY).with_trial(trial, passed=passed)
            longest_s = max(longest_s, trial.agent_s or 0.0)
            most_tokens = max(most_tokens, trial.output_tokens or 0)
            most_steps = max(most_steps, trial.model_calls or 0)
        self._cells = Frozen(cells)
        self._longest_s, self._most_tokens, self._most_steps = longest_s, most_tokens, most_steps

    @property
    def longest_s(self) -> float:
        """The longest time that an agent had, in seconds."""
        return self._longest_s

    @property
    def most_tokens(self) -> int:
        """The most output tokens that a trial took."""
        return self._most_tokens

    @property
    def most_steps(self) -> int:
        """The most generations that a trial took."""
        return self._most_steps

    def cell(self, agent: str, suite: str, task_id: str, variant: str = "clean") -> Cell:
        """What is known of an agent at a task; an empty cell where it never tried."""
        return self._cells.get((agent, suite, task_id, variant), _EMPTY)


_EMPTY = Cell()
