"""Sides of a gate, made of outcomes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest

from evalkit.gate.judge import Case, judge
from evalkit.gate.policy import GatePolicy, MetricRule
from evalkit.gate.side import Side, SideRun, planned_key
from evalkit.gate.trial_number import TRIAL_NUMBERS
from evalkit.gate.verdict import MetricVerdict, Verdict
from evalkit.scoring.metric import Metric
from evalkit.scoring.scored_trials import Column, LightTrial, ScoredTrials

Tries = Mapping[str, Sequence[float | None]]
"""By task, what its epochs score; None is unscored."""

SUCCESS = Metric(name="success", meaning="passed", unit="share", better="higher", low=0, high=1)
ERRORS = Metric(name="errors", meaning="errors", unit="share", better="lower", low=0, high=1)
EPISODES = (
    Metric(name="closed", meaning="closed", low=0),
    Metric(name="opened", meaning="opened", low=0),
    Metric(
        name="recovery",
        meaning="closed / opened",
        unit="share",
        better="higher",
        low=0,
        high=1,
        aggregation="ratio_of_sums",
        of=("closed", "opened"),
    ),
)
TAMPERED = Metric(name="tamper_confirmed", meaning="tampered", better="lower", low=0)
DECLARED = {"outcome": (SUCCESS, ERRORS, *EPISODES)}


def make_side(
    tries: Tries,
    *,
    name: str = "run",
    agent: str = "a",
    variant: str = "clean",
    metrics: Mapping[str, Tries] | None = None,
    numbers: Mapping[str, Tries] | None = None,
    digests: Mapping[str, str] | None = None,
    suite_digest: str | None = "s1",
    versions: Sequence[str] = ("1",),
    planned: bool = True,
) -> Side:
    """Trials of one agent at the suite `s`; by `metrics` more scores, by `numbers` more of the trials' own numbers."""
    trials = [
        LightTrial(
            trial_id=f"{task}.{agent}.{epoch}",
            suite="s",
            suite_digest=suite_digest,
            task_id=task,
            task_digest=(digests or {}).get(task, "d1"),
            variant=variant,
            epoch=epoch,
            agent=agent,
            skills=(),
            difficulty=None,
            status="unscored" if value is None else "passed" if value == 1 else "failed",
        )
        for task, own in tries.items()
        for epoch, value in enumerate(own, start=1)
    ]
    columns = {"success": tries, **(metrics or {})}
    return Side(
        name=name,
        runs=(
            SideRun(
                run_id=f"r-{name}",
                created_at="2026-01-02T03:04:05+00:00",
                suites={"s": suite_digest},
                planned=frozenset(map(planned_key, trials)) if planned else None,
            ),
        ),
        scored=ScoredTrials(
            trials, {("outcome", key): _column(own, tries, versions) for key, own in columns.items()}, {}
        ),
        run_of=np.zeros(len(trials), dtype=np.int64),
        graders=("g1",) * len(trials),
        numbers={key: _column((numbers or {}).get(key, {}), tries, ()) for key in TRIAL_NUMBERS},
    )


def _column(own: Tries, tries: Tries, versions: Sequence[str]) -> Column:
    values = [
        own[task][place] if task in own else None
        for task, epochs in tries.items()
        for place in range(len(epochs))
    ]
    return Column(np.array([math.nan if value is None else value for value in values]), None, set(versions))


def make_verdict(
    candidate: Side,
    baseline: Side,
    *rules: MetricRule,
    declared: Mapping[str, Sequence[Metric]] = DECLARED,
    mapped: Mapping[str, str] | None = None,
    **policy: object,
) -> Verdict:
    """What the gate says, of success with a margin of 5 points where no rule is given."""
    given = {"metrics": rules} if rules else {}
    return judge(
        Case(
            candidate=candidate,
            baseline=baseline,
            policy=GatePolicy(**given, **policy),  # type: ignore[arg-type]
            declared=declared,
            find_evidence=lambda _scorer, _metric, _ids: {},
            mapped=dict(mapped or {}),
        )
    )


def make_rule(
    name: str = "success", margin: float = 0.05, kind: str = "drop", arm: str = "clean"
) -> MetricRule:
    """One line of a gate policy."""
    return MetricRule(name=name, margin=margin, kind=kind, arm=arm)  # type: ignore[arg-type]


def only_metric(verdict: Verdict) -> MetricVerdict:
    """The verdict on the only metric of the only agent."""
    (agent,) = verdict.agents
    (metric,) = agent.metrics
    return metric


@pytest.fixture(scope="session")
def side() -> Callable[..., Side]:
    return make_side


@pytest.fixture(scope="session")
def verdict() -> Callable[..., Verdict]:
    return make_verdict


@pytest.fixture(scope="session")
def rule() -> Callable[..., MetricRule]:
    return make_rule


@pytest.fixture(scope="session")
def only() -> Callable[[Verdict], MetricVerdict]:
    return only_metric
