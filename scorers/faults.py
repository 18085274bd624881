"""What do faults cost an agent, against the same tasks without them?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from evalkit import Metric, Score, Scorer, Trial

_NO_PAIR = "the trial has no fault, or the same agent has no scored trial without it"


def _part(name: str, meaning: str) -> Metric:
    return Metric(name=name, meaning=meaning, unit="share", low=0, high=1, null_when=_NO_PAIR)


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
            null_when=_NO_PAIR,
        ),
        _part("retained", "success under a fault, each (task, fault) counting once"),
        _part("clean_rate", "success rate without it, each (task, fault) counting once"),
        Metric(
            name="retention",
            meaning="success under faults / success without; may be above 1",
            unit="share",
            better="higher",
            low=0,
            null_when="the clean arm never passes, or is missing",
            aggregation="ratio_of_sums",
            of=("retained", "clean_rate"),
        ),
        Metric(
            name="per_fired_effect",
            meaning="degradation / firing rate; says little where fault_fired is below 0.5",
            better="lower",
            null_when="no fault fired, or there is no clean arm",
            aggregation="ratio_of_sums",
            of=("degradation", "fault_fired"),
        ),
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
        if not trial.is_faulted:
            return
        row = trial.row
        struck = tuple(strike.step for strike in trial.strikes if strike.visible)
        fired = row.faults_fired > 0 if row.faults_fired is not None else bool(struck)
        yield Score("fault_fired", float(fired), f"{len(struck)} calls were visibly struck", struck)
        clean = trial.cohort.cell(row.agent, row.suite, row.task_id)
        own = trial.cohort.cell(row.agent, row.suite, row.task_id, row.variant)
        rate, passed = clean.success_rate, float(bool(trial.passed))
        if rate is None:
            return
        pair = f"{clean.passed} of {clean.scored} clean trials passed, and this one {row.status}"
        yield Score("degradation", rate - passed, pair)
        if own.scored:
            told = f"{pair}; it is one of {own.scored} scored under this fault"
            yield Score("retained", passed / own.scored, told)
            yield Score("clean_rate", rate / own.scored, told)
        if trial.passed and row.output_tokens and clean.mean_ln_tokens is not None:
            usual = math.exp(clean.mean_ln_tokens)
            told = f"ln({row.output_tokens} / {usual:g}) output tokens, against {clean.priced} passed clean trials"
            yield Score("overhead", math.log(row.output_tokens) - clean.mean_ln_tokens, told)
