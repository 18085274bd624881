"""How sure is a number that is no mean over tasks?

Tasks are drawn again, whole, with all that belongs to them. The draws are seeded by the data themselves, sorted, so
that the same data give the same interval in whatever order they come.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from evalkit.stats.interval import LEVEL, Interval, Numbers
from evalkit.stats.quantile import student_quantile

DRAWS = 4_000
LEAST_TASKS = 5
_CELLS_AT_ONCE = 2_000_000
"""How many drawn numbers are held in memory."""

Statistic = Callable[[Numbers], Numbers]


def sums_interval(
    columns: Numbers, statistic: Statistic, *, draws: int = DRAWS, level: float = LEVEL
) -> Interval | None:
    """The percentile interval of a statistic of sums over tasks.

    `columns` holds one row a task. `statistic` gets the sums of the columns, one row a draw, and gives one number
    each; draws in which it is not finite, as a ratio to 0, are left out. None for few tasks, and where no draw differs
    from another: that says nothing of how much further tasks could. See `percentile_interval`.
    """
    if len(columns) < LEAST_TASKS:
        return None
    ordered = columns[np.lexsort(columns.T[::-1])]
    with np.errstate(divide="ignore", invalid="ignore"):
        drawn = [
            statistic(ordered[rows].sum(axis=1))
            for rows in _drawn_rows(len(ordered), columns.shape[1], draws, seed_of((ordered + 0.0).tobytes()))
        ]
    return percentile_interval(np.concatenate(drawn), len(ordered), level=level)


def percentile_interval(estimates: Numbers, tasks: int, *, level: float = LEVEL) -> Interval | None:
    """The middle of what the draws of so many tasks gave, widened for few of them.

    Draws of n tasks vary too little, by (n - 1) / n, and with Student's tails: the percentiles are taken further out
    for it (Hesterberg 2015, the expanded percentile interval). For skewed costs it still held the truth in 89 % of
    simulated runs of 5 tasks and in 92 % of 50 (plain percentiles: 81 % and 92 %). None for fewer than five tasks,
    which tell too little of how others can be, and where nothing finite, or only one number, came out.
    """
    finite = estimates[np.isfinite(estimates)]
    if tasks < LEAST_TASKS or not len(finite) or np.allclose(finite, finite[0], rtol=1e-12, atol=0):
        return None
    reach = math.sqrt(tasks / (tasks - 1)) * student_quantile((1 + level) / 2, tasks - 1)
    tail = NormalDist().cdf(-reach)
    low, high = np.quantile(finite, [tail, 1 - tail])
    return Interval(float(low), float(high))


def drawn_tasks(n: int, draws: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """For each draw, which of n tasks are in it, some of them more than once."""
    for rows in _drawn_rows(n, 1, draws, seed):
        yield from rows


def seed_of(data: bytes) -> int:
    """A seed that depends on these data, in this order, and on nothing else."""
    return int.from_bytes(hashlib.sha256(data).digest()[:8])


def _drawn_rows(n: int, width: int, draws: int, seed: int) -> Iterator[NDArray[np.int64]]:
    random = np.random.default_rng(seed)
    at_once = max(1, _CELLS_AT_ONCE // (n * width))
    for start in range(0, draws, at_once):
        yield random.integers(0, n, (min(at_once, draws - start), n))
