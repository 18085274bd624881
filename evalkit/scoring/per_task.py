"""What does each task bring to a number?

This is as far as trials are added up without a decision on statistics. A task with faults brings something for each of
them; `by_task` makes one of these, as the task is the unit: how an agent takes three faults of one task says less of
further tasks than three tasks would.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evalkit.scoring.curves import curve
from evalkit.scoring.metric import Curve, Metric
from evalkit.scoring.point import Point
from evalkit.scoring.quantity import Quantity, sources
from evalkit.scoring.scored_trials import Column, ScoredTrials
from evalkit.stats.interval import Numbers

Places = NDArray[np.int64]
OVER_TASKS: frozenset[Curve] = frozenset({"pass^k", "pass@k", "maj@k", "agreement", "similarity"})
"""Curves whose numbers are means over tasks of what each task's points give alone."""


@dataclass(frozen=True, slots=True)
class Means:
    """One value a unit: the mean over its epochs, or what a curve gives for it alone."""

    units: Places
    tasks: Places
    """Which task each unit is of."""
    values: Numbers
    trials: int
    unknown: int

    def by_task(self, rows: Places | None = None) -> Numbers:
        """One value a task: the mean over its units, or those of them that `rows` names."""
        rows = np.arange(len(self.units)) if rows is None else rows
        return _added(self.values[rows], self.tasks[rows]) / _counts(self.tasks[rows])


@dataclass(frozen=True, slots=True)
class Ratios:
    """What stands above and below the line, a unit."""

    units: Places
    tasks: Places
    parts: Numbers
    wholes: Numbers
    of_means: bool
    """Whether both are means over the unit's trials, or else sums."""
    trials: int
    unknown: int

    def by_task(self, rows: Places | None = None) -> tuple[Numbers, Numbers]:
        """Both a task: the mean over its units, or their sum; or of those of them that `rows` names."""
        rows = np.arange(len(self.units)) if rows is None else rows
        count = _counts(self.tasks[rows]) if self.of_means else 1.0
        parts, wholes = (_added(column[rows], self.tasks[rows]) for column in (self.parts, self.wholes))
        return parts / count, wholes / count


@dataclass(frozen=True, slots=True)
class Pool:
    """The points of trials, by unit; a curve is made of all of them together."""

    metric: Metric
    points: Mapping[int, tuple[Point, ...]]
    tasks: Mapping[int, int]
    """Which task each unit is of."""
    trials: int
    unknown: int

    def by_task(self, units: Iterable[int] | None = None) -> dict[int, tuple[Point, ...]]:
        """The points of each task, whatever its variant, sorted; or only of these units."""
        found: defaultdict[int, list[Point]] = defaultdict(list)
        for unit in self.points if units is None else units:
            found[self.tasks[unit]] += self.points[unit]
        return {task: tuple(sorted(own, key=_key)) for task, own in found.items()}


@dataclass(frozen=True, slots=True)
class Largest:
    """The largest value of a unit."""

    units: Places
    tasks: Places
    values: Numbers
    trials: int
    unknown: int

    def by_task(self, rows: Places | None = None) -> Numbers:
        """The largest value of each task, or of those of its units that `rows` names."""
        rows = np.arange(len(self.units)) if rows is None else rows
        order = np.argsort(self.tasks[rows], kind="stable")
        starts = np.unique(self.tasks[rows][order], return_index=True)[1]
        return np.maximum.reduceat(self.values[rows][order], starts) if len(order) else np.empty(0)


Brought = Means | Ratios | Pool | Largest


def brought(scored: ScoredTrials, quantity: Quantity, places: Places) -> dict[str, Brought]:
    """What the tasks of these trials bring, by the name of the number; a curve can give several."""
    metric = quantity.metric
    if quantity.scorer is None:
        return {quantity.name: _means(scored, scored.outcomes, places)}
    columns = [
        scored.columns[quantity.scorer, name] for name in (sources(metric) if metric else (quantity.name,))
    ]
    match metric.aggregation if metric is not None else "task_mean":
        case "task_mean":
            return {quantity.name: _means(scored, columns[0], places)}
        case "ratio_of_sums" | "ratio_of_means" as how:
            return {quantity.name: _ratios(scored, columns, places, of_means=how == "ratio_of_means")}
        case "max":
            return {quantity.name: _largest(scored, columns[0], places)}
        case "curve":
            return _curve(scored, quantity, columns[0], places)


def _means(scored: ScoredTrials, column: Column, places: Places) -> Means:
    known = places[~np.isnan(column.values[places])]
    units, starts, ordered = _by_unit(scored, column, known)
    counts = np.diff(np.append(starts, len(ordered)))
    sums = np.add.reduceat(column.values[ordered], starts) if len(ordered) else np.empty(0)
    return Means(units, scored.task_of[units], sums / counts, len(known), len(places) - len(known))


def _ratios(scored: ScoredTrials, columns: list[Column], places: Places, *, of_means: bool) -> Ratios:
    above, below = columns
    known = places[~np.isnan(above.values[places]) & ~np.isnan(below.values[places])]
    units, starts, ordered = _by_unit(scored, above, known, below)
    counts = np.diff(np.append(starts, len(ordered))) if of_means else 1
    parts, wholes = (
        (np.add.reduceat(column.values[ordered], starts) if len(ordered) else np.empty(0)) / counts
        for column in (above, below)
    )
    unknown = len(places) - len(known)
    return Ratios(units, scored.task_of[units], parts, wholes, of_means, len(known), unknown)


def _largest(scored: ScoredTrials, column: Column, places: Places) -> Largest:
    known = places[~np.isnan(column.values[places])]
    units, starts, ordered = _by_unit(scored, column, known)
    values = np.maximum.reduceat(column.values[ordered], starts) if len(ordered) else np.empty(0)
    return Largest(units, scored.task_of[units], values, len(known), len(places) - len(known))


def _by_unit(
    scored: ScoredTrials, column: Column, known: Places, *more: Column
) -> tuple[Places, Places, Places]:
    """The units, where each begins, and the trials in their order: by unit, then by value, so that sums never depend on
    the order of epochs."""
    keys = [*(other.values[known] for other in more), column.values[known], scored.unit_of[known]]
    ordered = known[np.lexsort(keys)]
    units, starts = np.unique(scored.unit_of[ordered], return_index=True)
    return units, starts, ordered


def _added(values: Numbers, tasks: Places) -> Numbers:
    """The sum of each task's values, in the order of tasks; the same whatever its variants are called."""
    order = np.lexsort((values, tasks))
    starts = np.unique(tasks[order], return_index=True)[1]
    return np.add.reduceat(values[order], starts) if len(order) else np.empty(0)


def _counts(tasks: Places) -> Places:
    return np.unique(tasks, return_counts=True)[1]


def _curve(scored: ScoredTrials, quantity: Quantity, column: Column, places: Places) -> dict[str, Brought]:
    metric = quantity.metric
    if metric is None or metric.curve is None:
        raise ValueError(f"{quantity.name} is no curve")
    points, trials = _points(scored, column, places)
    unknown = len(places) - trials
    if metric.curve not in OVER_TASKS:
        tasks = {unit: int(scored.task_of[unit]) for unit in points}
        return {metric.name: Pool(metric, points, tasks, trials, unknown)}
    by_name: defaultdict[str, dict[int, float]] = defaultdict(dict)
    seen: dict[tuple[object, ...], Mapping[str, float | None]] = {}
    for unit, own in points.items():
        alike = tuple((point.value, point.label) for point in own)
        if alike not in seen:  # many tasks have the same outcomes
            seen[alike] = curve(metric, own)
        for name, value in seen[alike].items():
            if value is not None:
                by_name[name][unit] = value
    return {
        name: Means(
            units := np.array(list(values)),
            scored.task_of[units],
            np.array(list(values.values())),
            trials,
            unknown,
        )
        for name, values in by_name.items()
    }


def _points(scored: ScoredTrials, column: Column, places: Places) -> tuple[dict[int, tuple[Point, ...]], int]:
    """The points of each unit, sorted, and how many there are."""
    found: defaultdict[int, list[Point]] = defaultdict(list)
    trials = 0
    for place in map(int, places):
        value = float(column.values[place])
        label = column.labels[place] if column.labels is not None else None
        if value == value or label is not None:  # noqa: PLR0124 - unknown is NaN
            unit = int(scored.unit_of[place])
            found[unit].append(
                Point("/".join(scored.units[unit]), None if value != value else value, label)  # noqa: PLR0124
            )
            trials += 1
    return {unit: tuple(sorted(found[unit], key=_key)) for unit in sorted(found)}, trials


def _key(point: Point) -> tuple[bool, float, str]:
    return point.value is None, point.value or 0.0, point.label or ""
