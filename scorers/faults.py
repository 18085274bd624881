"""What do faults cost an agent, against the same tasks without them?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evalkit import Metric, Score, Scorer, Trial


@dataclass(frozen=True)
class Faults(Scorer):
    """Faulted trials, paired with the clean ones of the same agent at the same task."""

    metrics = (
        Metric(
            name="fault_fired",
            meaning="a planned fault struck",
            unit="share",
            low=0,
            high=1,
            null_when="the trial has no fault",
        ),
        Metric(
            name="degradation",
            meaning="clean success rate - success under a fault",
            unit="share",
            better="lower",
            low=-1,
            high=1,
            null_when="the trial has no fault, or the same agent has no scored trial without it",
        ),
        Metric(
            name="per_fired_effect",
            meaning="degradation / firing rate; says little where fault_fired is below 0.5",
            better="lower",
            null_when="no fault fired, or there is no clean arm",
            aggregation="ratio_of_means",
            of=("degradation", "fault_fired"),
        ),
    )

    def score(self, trial: Trial) -> Iterator[Score]:
        if not trial.is_faulted:
            return
        row = trial.row
        struck = tuple(strike.step for strike in trial.strikes if strike.visible)
        fired = row.faults_fired > 0 if row.faults_fired is not None else bool(struck)
        yield Score("fault_fired", float(fired), f"{len(struck)} calls were visibly struck", struck)
        clean = trial.cohort.cell(row.agent, row.suite, row.task_id)
        if clean.success_rate is not None:
            lost = clean.success_rate - float(bool(trial.earned))
            told = f"{clean.passed} of {clean.scored} clean trials passed, and this one {row.status}"
            yield Score("degradation", lost, told)
