"""What does each task bring to a number?

This is as far as trials are added up without a decision on statistics: one value a task, or one sum each above and
below the line, or the task's own points. Estimates and paired differences both start here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
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
    """One value a task: the mean over its epochs, or what a curve gives for it alone."""

    units: Places
    values: Numbers
    trials: int
    unknown: int


@dataclass(frozen=True, slots=True)
class Ratios:
    """Sums over a task's trials."""

    units: Places
    parts: Numbers
    wholes: Numbers
    trials: int
    unknown: int


@dataclass(frozen=True, slots=True)
class Pool:
    """The points of trials, by task; a curve is made of all of them together."""

    metric: Metric
    points: Mapping[int, tuple[Point, ...]]
    trials: int
    unknown: int


@dataclass(frozen=True, slots=True)
class Largest:
    """The largest value of a task."""

    units: Places
    values: Numbers
    trials: int
    unknown: int


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
        case "ratio_of_sums":
            return {quantity.name: _ratios(scored, columns[0], columns[1], places)}
        case "max":
            return {quantity.name: _largest(scored, columns[0], places)}
        case "curve":
            return _curve(scored, quantity, columns[0], places)


def _means(scored: ScoredTrials, column: Column, places: Places) -> Means:
    known = places[~np.isnan(column.values[places])]
    units, starts, ordered = _by_unit(scored, column, known)
    counts = np.diff(np.append(starts, len(ordered)))
    sums = np.add.reduceat(column.values[ordered], starts) if len(ordered) else np.empty(0)
    return Means(units, sums / counts, len(known), len(places) - len(known))


def _ratios(scored: ScoredTrials, above: Column, below: Column, places: Places) -> Ratios:
    known = places[~np.isnan(above.values[places]) & ~np.isnan(below.values[places])]
    units, starts, ordered = _by_unit(scored, above, known, below)
    parts, wholes = (
        np.add.reduceat(column.values[ordered], starts) if len(ordered) else np.empty(0)
        for column in (above, below)
    )
    return Ratios(units, parts, wholes, len(known), len(places) - len(known))


def _largest(scored: ScoredTrials, column: Column, places: Places) -> Largest:
    known = places[~np.isnan(column.values[places])]
    units, starts, ordered = _by_unit(scored, column, known)
    values = np.maximum.reduceat(column.values[ordered], starts) if len(ordered) else np.empty(0)
    return Largest(units, values, len(known), len(places) - len(known))


def _by_unit(
    scored: ScoredTrials, column: Column, known: Places, *more: Column
) -> tuple[Places, Places, Places]:
    """The units, where each begins, and the trials in their order: by unit, then by value, so that sums never depend on
    the order of epochs."""
    keys = [*(other.values[known] for other in more), column.values[known], scored.unit_of[known]]
    ordered = known[np.lexsort(keys)]
    units, starts = np.unique(scored.unit_of[ordered], return_index=True)
    return units, starts, ordered


def _curve(scored: ScoredTrials, quantity: Quantity, column: Column, places: Places) -> dict[str, Brought]:
    metric = quantity.metric
    if metric is None or metric.curve is None:
        raise ValueError(f"{quantity.name} is no curve")
    points, trials = _points(scored, column, places)
    unknown = len(places) - trials
    if metric.curve not in OVER_TASKS:
        return {metric.name: Pool(metric, points, trials, unknown)}
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
        name: Means(np.array(list(values)), np.array(list(values.values())), trials, unknown)
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
