"""Which stored scores are none that their metrics can have?

Scores are checked when they are computed. What is stored can be of an older version of a scorer, or of another's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evalkit.scoring.curve_score import curve_problem
from evalkit.scoring.judge import curves_of
from evalkit.scoring.metric import Curve, Metric
from evalkit.scoring.scored_trials import Column, ScoredTrials
from evalkit.trajectory.printable import cut

_MOST = 200
"""Characters of a name, which anybody may have written."""
LARGEST = 1e100
"""Squares of larger values cannot be added up."""
LARGEST_LOG = 700.0
"""Of a value that is shown as its exponential."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A metric whose stored scores make no number."""

    scorer: str
    metric: str
    scores: int
    """How many of its scores are none that it can have."""
    known: int
    """How many it has."""
    trial_id: str
    """One of them."""
    problem: str

    def __str__(self) -> str:
        return (
            f"{cut(self.metric, _MOST)} of {cut(self.scorer, _MOST)} cannot be read: {self.scores} of {self.known} "
            f"stored scores are none that it can have, such as that of {cut(self.trial_id, _MOST)}: {self.problem}"
        )


def readable(
    scored: ScoredTrials, declared: Mapping[str, Sequence[Metric]]
) -> tuple[ScoredTrials, tuple[Unreadable, ...]]:
    """The trials without the metrics of which a stored score is none that they can have, and what is wrong with those.

    A mean over only the others would be a number of something else.
    """
    found: list[Unreadable] = []
    for (scorer, name), column in sorted(scored.columns.items(), key=lambda item: item[0]):
        metric = next((one for one in declared.get(scorer, ()) if one.name == name), None)
        if metric is not None and metric.of:
            continue  # the numbers are made of other scores
        wrong = dict(_wrong(column, metric, curves_of(declared.get(scorer, ())).get(name, ())))
        if wrong:
            place = min(wrong)
            known = int((~np.isnan(column.values)).sum()) + len(column.damaged)
            found.append(
                Unreadable(scorer, name, len(wrong), known, scored.trials[place].trial_id, wrong[place])
            )
    if not found:
        return scored, ()
    left_out = {(one.scorer, one.metric) for one in found}
    columns = {key: column for key, column in scored.columns.items() if key not in left_out}
    return ScoredTrials(scored.trials, columns, scored.scored_by), tuple(found)


def _wrong(column: Column, metric: Metric | None, curves: Sequence[Curve]) -> Iterator[tuple[int, str]]:
    """Places of scores that are none, and why."""
    yield from ((place, "it has two, which differ") for place in column.double)
    yield from ((place, "it is no finite number") for place in column.damaged)
    values = column.values
    most = LARGEST_LOG if metric is not None and metric.shown != "value" else LARGEST
    for place in np.flatnonzero((values > most) | (values < -LARGEST)).tolist():
        yield place, f"{values[place]:g} is too large to be added up"
    if metric is not None:
        low = -np.inf if metric.low is None else metric.low
        high = np.inf if metric.high is None else metric.high
        for place in np.flatnonzero((values < low) | (values > high)).tolist():
            yield place, metric.problem(float(values[place])) or ""
    if curves and column.labels is not None:
        yield from _wrong_for(curves, column, column.labels)


def _wrong_for(
    curves: Sequence[Curve], column: Column, labels: Sequence[str | None]
) -> Iterator[tuple[int, str]]:
    seen: dict[tuple[float | None, str | None], str | None] = {}
    for place, (number, label) in enumerate(zip(column.values.tolist(), labels, strict=True)):
        score = (None if number != number else number, label)  # noqa: PLR0124 - unknown is NaN
        if score not in seen:
            problems = (curve_problem(kind, *score) for kind in curves)
            seen[score] = next((problem for problem in problems if problem is not None), None)
        if (problem := seen[score]) is not None:
            yield place, problem
