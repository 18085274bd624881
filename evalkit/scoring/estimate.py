"""What number do the trials of an agent add up to, and how sure is it?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evalkit.scoring.metric import Metric, Shown
from evalkit.scoring.per_task import OVER_TASKS, Brought, Largest, Means, Pool, Ratios
from evalkit.scoring.pool import draws_of, points_text, pool_draws, pool_values
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
    """Tasks with a value; of a ratio, those with something above or below the line."""
    trials: int
    """Trials with a score."""
    unknown: int
    """Trials without: unscored, or the metric is undefined for them."""


def estimates(name: str, own: Brought, metric: Metric | None) -> Mapping[str, Estimate]:
    """The numbers that tasks add up to, by name: one, but for curves that give several."""
    with np.errstate(all="ignore"):
        if isinstance(own, Pool):
            return _of_pool(own)
        if not len(own.units):
            return {name: Estimate(None, None, None, 0, own.trials, own.unknown)}
        match own:
            case Means():
                values = own.by_task()
                value, interval, n = mean(values), mean_interval(values, metric), len(values)
            case Ratios():
                parts, wholes = telling(*own.by_task())
                value, interval, n = ratio(parts, wholes), ratio_interval(parts, wholes, metric), len(parts)
            case Largest():
                value, interval, n = float(own.values.max()), None, len(own.by_task())
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


def telling(parts: Numbers, wholes: Numbers) -> tuple[Numbers, Numbers]:
    """Without the tasks that say nothing of a ratio, because nothing stands above or below the line.

    If they counted, a rate that one task in ten tells of would look as sure as one that all do.
    """
    said = (parts != 0) | (wholes != 0)
    return parts[said], wholes[said]


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


def is_share(parts: Numbers, wholes: Numbers, metric: Metric | None) -> bool:
    """Whether each task's part lies between 0 and its whole, as the metric's range promises."""
    told = metric is not None and metric.low == 0 and metric.high == 1
    return told and bool((parts >= 0).all() and (parts <= wholes).all())


def ratio_interval(parts: Numbers, wholes: Numbers, metric: Metric | None) -> Interval | None:
    """Of shares of a whole Gaffke's interval; else tasks are drawn again."""
    if is_share(parts, wholes, metric):
        return bounded_ratio_interval(parts, wholes)
    columns = np.column_stack([parts, wholes])
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
    tasks = sorted(own.by_task().values(), key=points_text)  # whatever the tasks are called
    seed = seed_of("\n".join(map(points_text, tasks)).encode())
    drawn = pool_draws(own.metric, tasks, draws_of(own.metric, len(tasks), seed))
    found: dict[str, Estimate] = {}
    for name, value in pool_values(own.metric, tasks).items():
        known = value is not None and name in drawn
        interval = percentile_interval(drawn[name], len(tasks)) if known else None
        found[name] = _estimate(value, interval, own, len(tasks), None)
    return found
