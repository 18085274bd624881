"""How do several accepted runs become one baseline?

By pooling all their trials: choosing the best of several would raise what a candidate has to reach by chance alone, and
with it the share of false alarms.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from evalkit.errors import NotComparable
from evalkit.gate.baseline import Baseline
from evalkit.gate.completeness import changed_tasks, suite_problems
from evalkit.gate.side import Side
from evalkit.scoring.scored_trials import Column, ScoredTrials
from evalkit.stats.interval import Numbers


def pooled(name: str, baselines: Sequence[Baseline]) -> Baseline:
    """One baseline of several. Raises NotComparable where a run is there twice, or a task has changed in between."""
    sides = [one.side for one in baselines]
    runs = tuple(run for side in sides for run in side.runs)
    ids = [run.run_id for run in runs]
    for run_id in ids:
        if ids.count(run_id) > 1:
            raise NotComparable(
                f"the run {run_id} is already part of the baseline", hint="A run counts once."
            )
    for before, after in itertools.pairwise(sides):
        for problem in suite_problems(after, before):
            raise NotComparable(
                f"this run does not go with those that the baseline holds: {problem.what}",
                hint="Begin a new baseline: accept without --pool.",
            )
        if changed := changed_tasks(before, after):
            unit, what = min(changed.items())
            raise NotComparable(
                f"the {what} of {'/'.join(unit[:2])} has changed since the runs that the baseline holds",
                hint="Begin a new baseline: accept without --pool.",
            )
    starts = np.cumsum([0, *(len(side.runs) for side in sides)])
    side = Side(
        name=name,
        runs=runs,
        scored=_trials(sides),
        run_of=np.concatenate([side.run_of + start for side, start in zip(sides, starts, strict=False)]),
        weights={task: weight for side in sides for task, weight in side.weights.items()},
        graders=tuple(grader for side in sides for grader in side.graders),
        numbers={
            number: Column(np.concatenate([_values(side.numbers.get(number), side) for side in sides]))
            for number in sorted({number for side in sides for number in side.numbers})
        },
    )
    return Baseline(tuple(own for one in baselines for own in one.accepted), side)


def _trials(sides: Sequence[Side]) -> ScoredTrials:
    keys = sorted({key for side in sides for key in side.scored.columns})
    columns = {
        key: Column(
            np.concatenate([_values(side.scored.columns.get(key), side) for side in sides]),
            None,
            {
                version
                for side in sides
                if key in side.scored.columns
                for version in side.scored.columns[key].versions
            },
            {
                digest
                for side in sides
                if key in side.scored.columns
                for digest in side.scored.columns[key].references
            },
        )
        for key in keys
    }
    return ScoredTrials([trial for side in sides for trial in side.scored.trials], columns, {})


def _values(column: Column | None, side: Side) -> Numbers:
    return np.full(len(side.scored.trials), np.nan) if column is None else column.values
