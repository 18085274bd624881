"""What may a run, and each of its trials, cost?"""

from __future__ import annotations

from collections.abc import Iterable

from evalkit.models.budget import Budget, Purses
from evalkit.trajectory.step import Step, Think
from evalkit.trajectory.trial import Trial


class CostLimits:
    """The purse of a run, from which all its trials take, and the size of each trial's own."""

    def __init__(
        self, run_usd: float | None = None, trial_usd: float | None = None, *, spent_usd: float = 0.0
    ) -> None:
        """None: no limit. `spent_usd` is what a run that is gone on with has cost before."""
        self._trial_usd = trial_usd
        self._unlimited = run_usd is None and trial_usd is None
        self.run = Budget(run_usd, realised_usd=spent_usd)

    def purses(self) -> Purses | None:
        """What a new trial may spend from; None where nothing is limited."""
        return None if self._unlimited else Purses(trial=Budget(self._trial_usd), run=self.run)


def spent_usd(trials: Iterable[tuple[Trial, Iterable[Step]]]) -> float:
    """What attempts have cost so far, as far as it is known: where a sum is unknown, its known parts."""
    return sum(
        sum(step.cost_usd or 0.0 for step in steps if isinstance(step, Think))
        if trial.cost_usd is None
        else trial.cost_usd
        for trial, steps in trials
    )
