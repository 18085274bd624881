"""How much more does an agent write under faults, where it succeeds all the same?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from evalkit import Metric, Score, Scorer, Trial


@dataclass(frozen=True)
class Overhead(Scorer):
    """The logarithm of a passed trial's output tokens over those of the passed clean trials, in geometric mean."""

    reads_steps = False
    metrics = (
        Metric(
            name="overhead",
            meaning="more output tokens than without the fault, on tasks solved in both arms (selected)",
            unit="share",
            better="lower",
            null_when="the task is not solved in both arms, or tokens are unknown",
            shown="expm1",
        ),
    )

    def score(self, trial: Trial) -> Iterator[Score]:
        row = trial.row
        clean = trial.cohort.cell(row.agent, row.suite, row.task_id)
        if trial.is_faulted and trial.earned and row.output_tokens and clean.mean_ln_tokens is not None:
            usual = math.exp(clean.mean_ln_tokens)
            told = f"ln({row.output_tokens} / {usual:g}) output tokens, against {clean.priced} passed clean trials"
            yield Score("overhead", math.log(row.output_tokens) - clean.mean_ln_tokens, told)
