"""How much do two agents differ at the same tasks, and how sure is that?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evalkit.scoring.estimate import bounds, is_share, mean, ratio, shown
from evalkit.scoring.metric import Metric
from evalkit.scoring.per_task import Brought, Largest, Means, Places, Pool, Ratios
from evalkit.scoring.pool import draws_of, points_text, pool_draws, pool_values
from evalkit.scoring.scored_trials import Unit
from evalkit.stats.bootstrap import (
    LEAST_TASKS,
    percentile_interval,
    seed_of,
    shares_difference_interval,
    sums_interval,
)
from evalkit.stats.interval import Interval, Numbers, bounded_interval, unbounded_interval
from evalkit.stats.permutation import sign_flip_p

_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One number of agents A and B, over the tasks that have a value on both sides."""

    a: float | None
    b: float | None
    value: float | None
    """B - A; where `relative`, B / A - 1."""
    low: float | None = None
    high: float | None = None
    """95 %, paired by task; None where one task is all there is, or nothing tells how much tasks differ."""
    p: float | None = None
    """Two-sided, of a sign-flip test over tasks; None for numbers that are no means over tasks."""
    relative: bool = False
    """For metrics that are logarithms of ratios."""
    n: int
    """Pairs of tasks with a value on both sides."""
    higher: int | None = None
    """Tasks at which B's value is higher; None where a task has no value of its own."""
    lower: int | None = None
    equal: int | None = None


Side = tuple[Brought, Sequence[Unit]]
"""What an agent's tasks bring, and what their numbers stand for."""


def differences(name: str, a: Side, b: Side, metric: Metric | None) -> Mapping[str, Difference]:
    """The differences by name: one, but for curves that give several."""
    (ours, units_a), (theirs, units_b) = a, b
    with np.errstate(all="ignore"):
        if isinstance(ours, Pool) and isinstance(theirs, Pool):
            return _of_pools(ours, units_a, theirs, units_b)
        if isinstance(ours, Pool) or isinstance(theirs, Pool):
            raise TypeError(f"{name} is a curve on one side only")
        rows_a, rows_b = _shared(_named(ours.units, units_a), _named(theirs.units, units_b))
        if not len(rows_a):
            return {name: Difference(a=None, b=None, value=None, n=0)}
        if isinstance(ours, Means) and isinstance(theirs, Means):
            return {name: _of_means(ours.by_task(rows_a), theirs.by_task(rows_b), metric)}
        if isinstance(ours, Ratios) and isinstance(theirs, Ratios):
            columns = np.column_stack([*ours.by_task(rows_a), *theirs.by_task(rows_b)])
            return {name: _of_ratios(columns[columns.any(axis=1)], metric)}
        if isinstance(ours, Largest) and isinstance(theirs, Largest):
            return {name: _of_largest(ours.by_task(rows_a), theirs.by_task(rows_b))}
    raise TypeError(f"{name} is added up in different ways")


def _named(units: Places, names: Sequence[Unit]) -> list[Unit]:
    return [names[int(unit)] for unit in units]


def _shared(ours: Sequence[Unit], theirs: Sequence[Unit]) -> tuple[Places, Places]:
    """Where the units are that both have."""
    at = {unit: place for place, unit in enumerate(theirs)}
    pairs = [(place, at[unit]) for place, unit in enumerate(ours) if unit in at]
    places = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return places[:, 0], places[:, 1]


def _of_means(ours: Numbers, theirs: Numbers, metric: Metric | None) -> Difference:
    moved = _steps(ours, theirs)
    how = metric.shown if metric is not None else "value"
    limits = bounds(metric, np.concatenate([ours, theirs]))
    if limits is not None:
        width = limits[1] - limits[0]
        interval = bounded_interval(np.clip(moved, -width, width), -width, width)
    else:
        interval = unbounded_interval(moved)
    return _told(
        a=shown(mean(ours), how),
        b=shown(mean(theirs), how),
        value=mean(moved),
        interval=interval,
        relative=how != "value",
        p=sign_flip_p(moved) if np.isfinite(moved).all() else None,
        moved=moved,
    )


def _of_ratios(columns: Numbers, metric: Metric | None) -> Difference:
    """Parts and wholes of A, then of B."""
    ours, theirs = ratio(columns[:, 0], columns[:, 1]), ratio(columns[:, 2], columns[:, 3])
    swapped = columns[:, [2, 3, 0, 1]]
    shares = is_share(columns[:, [0, 2]], columns[:, [1, 3]], metric)
    # Which of the two is A must not matter for what is drawn, so that swapping them flips the interval and no more.
    if _sorted_bytes(swapped) < _sorted_bytes(columns):
        interval = _flipped(_ratios_interval(swapped, shares=shares))
    else:
        interval = _ratios_interval(columns, shares=shares)
    both = (columns[:, 1] != 0) & (columns[:, 3] != 0)
    moved = _steps(columns[both, 0] / columns[both, 1], columns[both, 2] / columns[both, 3])
    return _told(a=ours, b=theirs, value=_minus(theirs, ours), interval=interval, moved=moved, n=len(columns))


def _of_largest(ours: Numbers, theirs: Numbers) -> Difference:
    a, b = float(ours.max()), float(theirs.max())
    return _told(a=a, b=b, value=b - a, interval=None, moved=_steps(ours, theirs))


def _of_pools(
    ours: Pool, units_a: Sequence[Unit], theirs: Pool, units_b: Sequence[Unit]
) -> dict[str, Difference]:
    known = {units_b[unit]: unit for unit in theirs.points}
    both = [unit for unit in ours.points if units_a[unit] in known]
    if not both:
        return {ours.metric.name: Difference(a=None, b=None, value=None, n=0)}
    own, other = ours.by_task(both), theirs.by_task([known[units_a[unit]] for unit in both])
    pairs = list(zip(own.values(), other.values(), strict=True))
    told = [(points_text(one), points_text(another)) for one, another in pairs]
    flip = sorted((b, a) for a, b in told) < sorted(told)
    order = sorted(range(len(pairs)), key=lambda place: told[place][::-1] if flip else told[place])
    seed = seed_of(repr([told[place][::-1] if flip else told[place] for place in order]).encode())
    draws = draws_of(ours.metric, len(pairs), seed)
    left, right = [pairs[place][0] for place in order], [pairs[place][1] for place in order]
    first, second = pool_values(ours.metric, left), pool_values(theirs.metric, right)
    drawn_a, drawn_b = pool_draws(ours.metric, left, draws), pool_draws(theirs.metric, right, draws)
    found: dict[str, Difference] = {}
    for name in dict.fromkeys([*first, *second]):
        a, b = first.get(name), second.get(name)
        interval = None
        if a is not None and b is not None and name in drawn_a and name in drawn_b:
            moved = drawn_b[name] - drawn_a[name]
            interval = percentile_interval(-moved if flip else moved, len(pairs))
            interval = _flipped(interval) if flip else interval
        found[name] = _told(a=a, b=b, value=_minus(b, a), interval=interval, n=len(pairs))
    return found


def _ratios_interval(columns: Numbers, *, shares: bool) -> Interval | None:
    if shares:
        return shares_difference_interval(columns)
    # As few as the arm has that tells of fewer tasks: the others are drawn and say nothing of it.
    few = int((columns[:, [1, 3]] != 0).sum(axis=0).min()) < LEAST_TASKS
    return None if few else sums_interval(columns, _ratio_difference)


def _ratio_difference(sums: Numbers) -> Numbers:
    return sums[:, 2] / sums[:, 3] - sums[:, 0] / sums[:, 1]


def _sorted_bytes(columns: Numbers) -> bytes:
    return columns[np.lexsort(columns.T[::-1])].tobytes()


def _flipped(interval: Interval | None) -> Interval | None:
    return interval and Interval(-interval.high, -interval.low)


def _steps(ours: Numbers, theirs: Numbers) -> Numbers:
    """B - A of each task; what is only rounding is 0."""
    moved = theirs - ours
    moved[np.abs(moved) <= _ROUNDING * np.maximum(np.abs(ours), np.abs(theirs))] = 0.0
    return moved


def _minus(b: float | None, a: float | None) -> float | None:
    return None if a is None or b is None else b - a


def _told(
    *,
    a: float | None,
    b: float | None,
    value: float | None,
    interval: Interval | None,
    moved: Numbers | None = None,
    p: float | None = None,
    relative: bool = False,
    n: int | None = None,
) -> Difference:
    how = "expm1" if relative else "value"
    told = shown(value, how)
    low, high = (None, None) if interval is None else (shown(interval.low, how), shown(interval.high, how))
    if told is None or low is None or high is None:
        low = high = None
    counts = (
        (None, None, None) if moved is None else ((moved > 0).sum(), (moved < 0).sum(), (moved == 0).sum())
    )
    higher, lower, equal = (None if count is None else int(count) for count in counts)
    return Difference(
        a=a,
        b=b,
        value=told,
        low=low,
        high=high,
        p=p,
        relative=relative,
        n=n if n is not None else 0 if moved is None else len(moved),
        higher=higher,
        lower=lower,
        equal=equal,
    )
