"""Hand-made trials, and scorers by name."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from evalkit import Score, Scorer, Trial
from evalkit.scoring.cohort import Cohort
from evalkit.scoring.facts import TaskFacts
from evalkit.scoring.scorer_file import load_scorer
from evalkit.trajectory.step import Act, Event, Step, Think
from evalkit.trajectory.trial import Trial as TrialRow

SCORERS = Path(__file__).resolve().parents[2] / "scorers"
START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="session")
def scorer() -> Callable[[str], Scorer]:
    """A bundled scorer by the name of its file."""

    return lambda name: load_scorer(SCORERS / f"{name}.py")


@pytest.fixture(scope="session")
def names() -> list[str]:
    """Of all bundled scorers."""
    return sorted(path.stem for path in SCORERS.glob("*.py"))


@pytest.fixture(scope="session")
def row() -> Callable[..., TrialRow]:
    """A trial's row: a passed one, unless told otherwise."""

    def make(**fields: Any) -> TrialRow:
        plain = {"run_id": "r", "trial_id": "t", "suite": "s", "task_id": "k", "epoch": 0, "agent": "a"}
        return TrialRow(**{**plain, "status": "passed", "stop_reason": "submitted", **fields})

    return make


@pytest.fixture(scope="session")
def trial(row) -> Callable[..., Trial]:
    """A trial of calls, each a shell line with what is different about it.

    Step 2n is a generation of 10 tokens and one second, step 2n+1 its call of another second; what happens beside a
    call (`event`, `detail`) comes after all of them.
    """

    def make(
        *calls: tuple[str, Mapping[str, Any]] | str,
        effects: tuple[Any, ...] = (),
        task: TaskFacts | None = None,
        cohort: Iterable[TrialRow] = (),
        horizon: int | None = None,
        events: Iterable[tuple[str, Mapping[str, Any], int | None]] = (),
        **fields: Any,
    ) -> Trial:
        steps: list[Step] = []
        for n, call in enumerate(calls):
            line, more = (call, {}) if isinstance(call, str) else call
            began = START + timedelta(seconds=2 * n)
            steps.append(Think(step=2 * n, output_tokens=10, started_at=began, duration_s=1.0))
            told = {
                "tool": "bash",
                "arguments": json.dumps({"command": line}),
                "exit_code": 0,
                "started_at": began + timedelta(seconds=1),
                "duration_s": 1.0,
            }
            steps.append(Act(step=2 * n + 1, think_step=2 * n, call_index=0, **{**told, **more}))
        for name, detail, parent in events:
            steps.append(Event(step=len(steps), event=name, detail=json.dumps(detail), parent_step=parent))
        return Trial(
            row=row(**fields),
            steps=tuple(steps),
            effects=effects,
            task=task or TaskFacts(),
            cohort=Cohort(cohort),
            horizon=horizon,
        )

    return make


@pytest.fixture(scope="session")
def scores(scorer) -> Callable[[str, Trial], dict[str, Score]]:
    """What a scorer says of a trial, by metric; each metric declared, once, and in its range. `a+b` are two."""

    def of(name: str, trial: Trial) -> dict[str, Score]:
        first, _, others = name.partition("+")
        if others:
            return of(first, trial) | of(others, trial)
        judge = scorer(name)
        declared = {metric.name: metric for metric in judge.metrics}
        found: dict[str, Score] = {}
        steps = {step.step for step in trial.steps}
        for score in judge.score(trial):
            assert score.metric in declared
            assert score.metric not in found
            assert score.reason
            assert score.value is None or declared[score.metric].problem(score.value) is None
            assert set(score.evidence) <= steps
            found[score.metric] = score
        return found

    return of


@pytest.fixture(scope="session")
def values(scores) -> Callable[[str, Trial], dict[str, float | None]]:
    """The same, values only."""
    return lambda name, trial: {metric: score.value for metric, score in scores(name, trial).items()}
