"""How did the same agent, and the others, do on the same task?"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from evalkit.trajectory.trial import Trial as TrialRow


@dataclass(slots=True)
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


class Cohort:
    """The trials of a run, summed up by agent, task and variant."""

    def __init__(self, trials: Iterable[TrialRow] = ()) -> None:
        self._cells: defaultdict[tuple[str, str, str, str], Cell] = defaultdict(Cell)
        self.longest_s = 0.0
        """The longest time that an agent had, in seconds."""
        self.most_tokens = 0
        """The most output tokens that a trial took."""
        self.most_steps = 0
        """The most generations that a trial took."""
        for trial in trials:
            self._add(trial)

    def cell(self, agent: str, suite: str, task_id: str, variant: str = "clean") -> Cell:
        """What is known of an agent at a task; an empty cell where it never tried."""
        return self._cells.get((agent, suite, task_id, variant), Cell())

    def _add(self, trial: TrialRow) -> None:
        cell = self._cells[trial.agent, trial.suite, trial.task_id, trial.variant]
        cell.trials += 1
        self.longest_s = max(self.longest_s, trial.agent_s or 0.0)
        self.most_tokens = max(self.most_tokens, trial.output_tokens or 0)
        self.most_steps = max(self.most_steps, trial.model_calls or 0)
        if trial.status == "unscored":
            return
        cell.scored += 1
        if trial.status == "passed":
            cell.passed += 1
            if trial.output_tokens:
                cell.ln_tokens += math.log(trial.output_tokens)
                cell.priced += 1
