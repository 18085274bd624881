"""Which tasks have a value on both sides, and how much do they differ?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evalkit.gate.gated import Gated
from evalkit.gate.side import Side
from evalkit.scoring.difference import named, shared, steps
from evalkit.scoring.estimate import mean
from evalkit.scoring.per_task import Means, Places, Ratios
from evalkit.scoring.scored_trials import Unit
from evalkit.stats.interval import Numbers

TaskKey = tuple[str, str]
"""Suite and task."""


@dataclass(frozen=True, slots=True)
class Share:
    """Some trials of a side: of one agent and arm, at the tasks that are compared."""

    side: Side
    places: Places


@dataclass(frozen=True, slots=True)
class Pairs:
    """One value a task on each side; of `ratio` rules logarithms."""

    tasks: tuple[TaskKey, ...]
    baseline: Numbers
    candidate: Numbers
    weights: Numbers
    """How much each task counts; on average 1."""

    @property
    def moved(self) -> Numbers:
        return steps(self.baseline, self.candidate)

    def mean(self, values: Numbers) -> float | None:
        """The mean of one value a task, by weight; None for no tasks."""
        return mean(values * self.weights) if len(values) else None


def paired(own: Gated, candidate: Share, baseline: Share, *, worst_case: bool = False) -> Pairs | str:
    """The tasks' values; or which side has none at all, `candidate` or `baseline`, so that nothing can be compared.

    In the `worst_case`, unscored trials have the worst value in the candidate, and the best in the baseline.
    """
    ours = own.by_unit(candidate.side, candidate.places, unscored="worst" if worst_case else None)
    theirs = own.by_unit(baseline.side, baseline.places, unscored="best" if worst_case else None)
    if ours is None or not len(ours.units):
        return "candidate"
    if theirs is None or not len(theirs.units):
        return "baseline"
    names_a, names_b = (
        named(some.units, share.side.scored.units) for some, share in ((ours, candidate), (theirs, baseline))
    )
    rows_a, rows_b = shared(names_a, names_b)
    tasks = sorted({names_a[int(row)][:2] for row in rows_a})
    after, before = _values(ours, rows_a), _values(theirs, rows_b)
    weights = np.array([candidate.side.weights.get(task, 1.0) for task in tasks])
    known = ~(np.isnan(after) | np.isnan(before)) & (weights > 0)
    weights = weights[known]
    return Pairs(
        tuple(task for task, has in zip(tasks, known, strict=True) if has),
        before[known],
        after[known],
        weights / weights.mean() if len(weights) else weights,
    )


def _values(own: Means | Ratios, rows: Places) -> Numbers:
    """One a task, in the order of their names; NaN where a ratio has nothing below the line."""
    if isinstance(own, Means):
        return own.by_task(rows)
    parts, wholes = own.by_task(rows)
    return np.divide(parts, wholes, out=np.full(len(parts), np.nan), where=wholes != 0)


def places_of(side: Side, agent: str, units: Sequence[Unit]) -> Places:
    """Where an agent's trials at these units are."""
    wanted = set(units)
    found = [
        place
        for place, trial in enumerate(side.scored.trials)
        if trial.agent == agent and trial.unit in wanted
    ]
    return np.array(found, dtype=np.int64)
