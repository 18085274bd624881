"""What number do the trials of an agent add up to, and how sure is it?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evalkit.scoring.metric import Metric, Shown
from evalkit.scoring.per_task import OVER_TASKS, Brought, Largest, Means, Pool, Ratios
from evalkit.scoring.pool import draws_of, pool_draws, pool_values
from evalkit.stats.bootstrap import percentile_interval, seed_of, sums_interval
from evalkit.stats.interval import (
    Interval,
    Numbers,
    bounded_interval,
    bounded_ratio_interval,
    unbounded_interval,
)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its 95 % interval and what it rests on."""

    value: float | None
    """None where nothing is known, or the number is undefined."""
    low: float | None
    high: float | None
    """None where there is no value, only one task, or nothing that tells how much tasks differ."""
    n: int
    """Tasks with a value; in the faulted arm, tasks with each of their faults."""
    trials: int
    """Trials with a score."""
    unknown: int
    """Trials without: unscored, or the metric is undefined for them."""


def estimates(name: str, own: Brought, metric: Metric | None) -> Mapping[str, Estimate]:
    """The numbers that tasks add up to, by name: one, but for curves that give several."""
    with np.errstate(all="ignore"):
        if isinstance(own, Pool):
            return _of_pool(own)
        n = len(own.units)
        if not n:
            return {name: Estimate(None, None, None, 0, own.trials, own.unknown)}
        match own:
            case Means():
                value, interval = mean(own.values), mean_interval(own.values, metric)
            case Ratios():
                value, interval = ratio(own.parts, own.wholes), ratio_interval(own, metric)
            case Largest():
                value, interval = float(own.values.max()), None
        return {name: _estimate(value, interval, own, n, metric)}


def mean(values: Numbers) -> float | None:
    """The plain mean, the same in any order; None where it is beyond what a float holds."""
    try:
        return math.fsum(np.sort(values)) / len(values)
    except OverflowError:
        return None


def ratio(parts: Numbers, wholes: Numbers) -> float | None:
    """The ratio of the sums; None where there is nothing below the line."""
    try:
        above, below = math.fsum(parts), math.fsum(wholes)
    except OverflowError:
        return None
    return above / below if below else None


def bounds(metric: Metric | None, values: Numbers) -> tuple[float, float] | None:
    """The metric's range, where it has both ends and stored values, maybe of an older version, keep to it."""
    if metric is None:
        return None
    low, high = (0.0, 1.0) if metric.curve in OVER_TASKS else (metric.low, metric.high)
    if low is None or high is None or values.min() < low or values.max() > high:
        return None
    return low, high


def mean_interval(values: Numbers, metric: Metric | None) -> Interval | None:
    """Of numbers with a range Gaffke's interval; else Student's, cut where the metric's range ends."""
    if (inside := bounds(metric, values)) is not None:
        return bounded_interval(values, *inside)
    return _cut(unbounded_interval(values), metric)


def ratio_interval(own: Ratios, metric: Metric | None) -> Interval | None:
    """Of shares of a whole Gaffke's interval; else tasks are drawn again."""
    is_share = metric is not None and metric.low == 0 and metric.high == 1
    if is_share and (own.parts >= 0).all() and (own.parts <= own.wholes).all():
        return bounded_ratio_interval(own.parts, own.wholes)
    columns = np.column_stack([own.parts, own.wholes])
    return _cut(sums_interval(columns, lambda sums: sums[:, 0] / sums[:, 1]), metric)


def shown(value: float | None, how: Shown) -> float | None:
    """The number as it is told; None for one that is none."""
    if value is None or not math.isfinite(value):
        return None
    try:
        return {"value": float, "exp": math.exp, "expm1": math.expm1}[how](value)
    except OverflowError:
        return None


def _cut(interval: Interval | None, metric: Metric | None) -> Interval | None:
    if interval is None or metric is None:
        return interval
    low = -math.inf if metric.low is None else metric.low
    high = math.inf if metric.high is None else metric.high
    return Interval(min(max(interval.low, low), high), max(min(interval.high, high), low))


def _estimate(
    value: float | None, interval: Interval | None, own: Brought, n: int, metric: Metric | None
) -> Estimate:
    how = metric.shown if metric is not None else "value"
    told = shown(value, how)
    ends = (None, None) if interval is None else (shown(interval.low, how), shown(interval.high, how))
    if told is None or None in ends:
        ends = (None, None)
    return Estimate(told, *ends, n, own.trials, own.unknown)


def _of_pool(own: Pool) -> dict[str, Estimate]:
    if not own.points:
        return {own.metric.name: Estimate(None, None, None, 0, own.trials, own.unknown)}
    told = {unit: points_text(own, unit) for unit in own.points}
    units = sorted(told, key=lambda unit: told[unit])  # whatever the tasks are called
    draws = draws_of(own.metric, len(units), seed_of("\n".join(told[unit] for unit in units).encode()))
    drawn = pool_draws(own, units, draws)
    found: dict[str, Estimate] = {}
    for name, value in pool_values(own, units).items():
        interval = (
            percentile_interval(drawn[name], len(units)) if value is not None and name in drawn else None
        )
        found[name] = _estimate(value, interval, own, len(units), None)
    return found


def points_text(pool: Pool, unit: int) -> str:
    """What a unit's points say, for an order that depends on nothing else."""
    return repr([(point.value, point.label) for point in pool.points[unit]])
