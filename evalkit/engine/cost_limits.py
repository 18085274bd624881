"""What may a run, and each of its trials, cost?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from evalkit.models.budget import Budget, Purses
from evalkit.trajectory.spent import write_spent
from evalkit.trajectory.step import Step, Think
from evalkit.trajectory.trial import Trial


class CostLimits:
    """The purse of a run, from which all its trials take, and the size of each trial's own."""

    def __init__(
        self,
        folder: Path,
        run_usd: float | None = None,
        trial_usd: float | None = None,
        *,
        spent_usd: float = 0.0,
    ) -> None:
        """None: no limit. `spent_usd` is what a run that is gone on with has cost before."""
        self._folder = folder
        self._limited = run_usd is not None
        self._trial_usd = trial_usd
        self._run = Budget(run_usd, realised_usd=spent_usd)

    def of_trial(self) -> TrialMoney | None:
        """What a new trial may spend; None where nothing is limited."""
        if not self._limited and self._trial_usd is None:
            return None
        return TrialMoney(Purses(trial=Budget(self._trial_usd), run=self._run), self)

    def note(self) -> None:
        """Write down what the run has cost at most, calls in flight included, where that has a limit."""
        if self._limited:
            write_spent(self._folder, self._run.realised_at_most_usd + self._run.reserved_usd)


@dataclass(frozen=True, slots=True)
class TrialMoney:
    """What one trial may spend."""

    purses: Purses
    limits: CostLimits


def spent_usd(trials: Iterable[tuple[Trial, Iterable[Step]]]) -> float:
    """What attempts have cost so far, as far as it is known: where a sum is unknown, its known parts."""
    return sum(
        sum(step.cost_usd or 0.0 for step in steps if isinstance(step, Think))
        if trial.cost_usd is None
        else trial.cost_usd
        for trial, steps in trials
    )
