"""How often does an agent pass, and how surely?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evalkit import Metric, Score, Scorer, Trial


@dataclass(frozen=True)
class Success(Scorer):
    """Success in the final state, per trial, and what several attempts at a task add up to."""

    metrics = (
        Metric(
            name="success", meaning="passed in the final state", unit="share", better="higher", low=0, high=1
        ),
        Metric(
            name="reward",
            meaning="what the grader gave",
            better="higher",
            null_when="the grader gave no reward",
        ),
        Metric(
            name="pass^k",
            meaning="probability that k attempts at a task all pass",
            unit="share",
            better="higher",
            low=0,
            high=1,
            aggregation="curve",
            curve="pass^k",
            of=("success",),
        ),
    )

    def score(self, trial: Trial) -> Iterator[Score]:
        if trial.row.variant == "twin":
            return
        status = trial.row.status
        yield Score("success", float(status == "passed"), f"the grader's verdict is {status}")
        yield Score("reward", trial.row.reward, f"the grader gave {trial.row.reward}")
