"""How much of its success does an agent keep under faults?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evalkit import Metric, Score, Scorer, Trial

_NO_PAIR = "the trial has no fault, or the same agent has no scored trial without it"


def _part(name: str, meaning: str) -> Metric:
    return Metric(name=name, meaning=meaning, unit="share", low=0, high=1, null_when=_NO_PAIR)


@dataclass(frozen=True)
class Retention(Scorer):
    """Success under faults over success without, both of the same agent at the same tasks."""

    version = "2"
    reads_steps = False
    metrics = (
        _part("retained", "success under a fault"),
        _part("clean_rate", "success rate of the same agent at the same task without the fault"),
        Metric(
            name="retention",
            meaning="success under faults / success without; may be above 1",
            unit="share",
            better="higher",
            low=0,
            null_when="the clean arm never passes, or is missing",
            aggregation="ratio_of_means",
            of=("retained", "clean_rate"),
        ),
    )

    def score(self, trial: Trial) -> Iterator[Score]:
        row = trial.row
        clean = trial.cohort.cell(row.agent, row.suite, row.task_id)
        if not trial.is_faulted or clean.success_rate is None:
            return
        told = f"{clean.passed} of {clean.scored} clean trials passed, and this one {row.status}"
        yield Score("retained", float(bool(trial.earned)), told)
        yield Score("clean_rate", clean.success_rate, told)
