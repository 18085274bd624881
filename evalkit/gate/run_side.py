# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyarrow ships no types.
"""How does a run become a side of a gate?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from evalkit.gate.side import Side, SideRun
from evalkit.gate.trial_number import TRIAL_NUMBERS
from evalkit.scoring.agent_settings import settings_of
from evalkit.scoring.reference_of_run import kept_reference
from evalkit.scoring.scored_trials import Column, read_scored
from evalkit.trajectory.reader import Run


def side_of_run(run: Run, *, name: str | None = None) -> Side:
    """Read what a gate needs of a run: its plan, its trials, their numbers and scores. Raises ConfigError for damaged
    files."""
    scored = read_scored(run)
    rows = run.trials.to_table(["trial_id", "grader_digest", *TRIAL_NUMBERS])
    place_of = {trial_id: place for place, trial_id in enumerate(rows.column("trial_id").to_pylist())}
    order = [place_of[trial.trial_id] for trial in scored.trials]
    graders: list[str | None] = rows.column("grader_digest").to_pylist()
    return Side(
        name=name or run.path,
        runs=(_facts(run),),
        scored=scored,
        run_of=np.zeros(len(order), dtype=np.int64),
        graders=tuple(graders[place] for place in order),
        reference_basis=None if (kept := kept_reference(Path(run.path))) is None else kept.basis,
        weights=dict(_weights(run)),
        numbers={number: _column(rows.column(number).to_pylist(), order) for number in TRIAL_NUMBERS},
    )


def _facts(run: Run) -> SideRun:
    manifest = run.manifest
    planned = frozenset(
        (row.suite, row.task_id, row.variant, row.epoch, row.agent) for row in manifest.planned
    )
    return SideRun(
        run_id=manifest.run_id,
        created_at=manifest.created_at.isoformat(),
        git_commit=manifest.git_commit,
        suites={suite.name: suite.digest for suite in manifest.suites},
        planned=planned or None,
        settings=settings_of(run),
    )


def _weights(run: Run) -> Iterator[tuple[tuple[str, str], float]]:
    for name, told in run.manifest.tasks.items():
        weight = told.get("weight") if isinstance(told, Mapping) else None
        if isinstance(weight, int | float) and math.isfinite(weight) and weight >= 0:
            suite, _, task = name.rpartition("/")
            yield (suite, task), float(weight)


def _column(values: list[float | None], order: list[int]) -> Column:
    return Column(
        np.array([np.nan if (value := values[place]) is None else value for place in order], dtype=np.float64)
    )
