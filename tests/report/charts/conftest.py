"""Boards of made-up runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from evalkit.report.board import Board, make_board
from evalkit.scoring.metric import Metric
from evalkit.scoring.scored_trials import Column, LightTrial, ScoredTrials
from evalkit.trajectory.manifest import RunManifest, SuiteEntry

NOON = datetime(2025, 1, 2, 12, tzinfo=UTC)
STEPS = Metric(
    name="steps_to_recover",
    meaning="generations until it is put right",
    unit="steps",
    better="lower",
    low=0,
    aggregation="curve",
    curve="survival",
)
KEPT = (
    Metric(name="retained", meaning="success under a fault", low=0, high=1),
    Metric(name="clean_rate", meaning="success without", low=0, high=1),
    Metric(
        name="retention",
        meaning="kept",
        better="higher",
        low=0,
        aggregation="ratio_of_means",
        of=("retained", "clean_rate"),
    ),
)
DECLARED = {"recovery_time": (STEPS,), "retention": KEPT}

MakeBoard = Callable[..., Board]


@dataclass(frozen=True)
class RowsInMemory:
    """The trials of a run, as a board reads them; written to disk, ten thousand would take minutes."""

    rows: Sequence[dict[str, Any]]

    def to_table(self, columns: Sequence[str]) -> pa.Table:
        return pa.table({name: [row.get(name) for row in self.rows] for name in columns})


@dataclass(frozen=True)
class RunInMemory:
    trials: RowsInMemory
    manifest: RunManifest


@pytest.fixture(scope="session")
def board_of() -> MakeBoard:
    """A board of trials: `board_of({"agent": "a", "task_id": "t", "status": "passed", "output_tokens": 7}, ...)`.

    `times` of a trial, such as `2, 5+`, is how long its failures waited; where trials are under faults, what is kept of
    success is scored, too.
    """
    return made_board


def made_board(*given: dict[str, Any]) -> Board:
    rows = [
        {"suite": "s", "variant": "clean", "epoch": 1, "agent": "a", "status": "passed"}
        | {"trial_id": f"t{number}", "skills": (), **row}
        for number, row in enumerate(given)
    ]
    suites = tuple(SuiteEntry(name=name) for name in sorted({row["suite"] for row in rows}))
    run: Any = RunInMemory(RowsInMemory(rows), RunManifest(run_id="r", created_at=NOON, suites=suites))
    names = [field.name for field in fields(LightTrial)]
    trials = [LightTrial(**{name: row.get(name) for name in names}) for row in rows]
    scored = _scored(trials, [row.get("times") for row in rows])
    return make_board([("run", run)], [scored], DECLARED)


def _scored(trials: Sequence[LightTrial], labels: list[str | None]) -> ScoredTrials:
    columns = {
        ("recovery_time", "steps_to_recover"): Column(
            np.array([math.nan if label is None else 1.0 for label in labels]), labels
        )
    }
    if any(trial.variant != "clean" for trial in trials):
        clean = {
            (trial.agent, trial.task_id): trial.status == "passed"
            for trial in trials
            if trial.variant == "clean"
        }
        faulted = [trial.variant != "clean" and (trial.agent, trial.task_id) in clean for trial in trials]
        columns["retention", "retained"] = _column(
            [t.status == "passed" if own else None for t, own in zip(trials, faulted, strict=True)]
        )
        columns["retention", "clean_rate"] = _column(
            [clean[t.agent, t.task_id] if own else None for t, own in zip(trials, faulted, strict=True)]
        )
    seen = np.ones(len(trials), dtype=np.bool_)
    return ScoredTrials(trials, columns, {scorer: seen for scorer, _ in columns})


def _column(values: Sequence[bool | None]) -> Column:
    return Column(np.array([math.nan if value is None else float(value) for value in values]))


@pytest.fixture(scope="session")
def grid() -> Callable[[int, int], Board]:
    """A board of so many agents and tasks, without faults and under one; every fifth agent's tokens are unknown."""

    def make(agents: int, tasks: int) -> Board:
        rows: list[dict[str, Any]] = []
        for agent in range(agents):
            for task in range(tasks):
                own = {
                    "agent": f"agent-{agent:02}",
                    "task_id": f"task-{task:03}",
                    "skills": (f"skill-{task % 5}",),
                    "difficulty": ("easy", "medium", "hard")[task % 3],
                }
                won = (agent * 7 + task * task) % 11 < 4 + agent % 5
                known = None if agent % 5 == 4 else 100 * (1 + agent) + task
                rows.append(
                    own
                    | {
                        "status": "passed" if won else "failed",
                        "output_tokens": known,
                        "agent_s": 1.0 + agent,
                    }
                )
                if task % 2:
                    lost = (agent + task) % 3 == 0
                    rows.append(
                        own
                        | {
                            "variant": "slow",
                            "status": "failed" if lost or not won else "passed",
                            "times": f"{1 + (agent + task) % 9}{'+' if lost else ''}",
                            "output_tokens": known,
                        }
                    )
        return made_board(*rows)

    return make
