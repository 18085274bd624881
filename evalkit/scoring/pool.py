"""What does a curve give for the points of many tasks, and what for other draws of these tasks?"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Generator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from evalkit.errors import ConfigError
from evalkit.measures.waited import parse
from evalkit.scoring.curves import curve
from evalkit.scoring.metric import Metric
from evalkit.scoring.per_task import Pool
from evalkit.stats.bootstrap import LEAST_TASKS, drawn_tasks
from evalkit.stats.interval import Numbers
from evalkit.stats.survival_draws import survival_draws

DRAWS = 200
"""One takes milliseconds."""
SURVIVAL_DRAWS = 1_000


def pool_values(pool: Pool, units: Sequence[int]) -> Mapping[str, float | None]:
    """The curve of the points of these units, each as often as it is named.

    Raises ConfigError where stored scores are none that this curve can be made of.
    """
    with _readable(pool):
        if pool.metric.curve == "survival":
            # As `curve` does, to the last digit but one, without scipy's statistics, which take a second to import.
            once = _survival(pool, units, [np.arange(len(units))])
            return {name: None if np.isnan(value[0]) else float(value[0]) for name, value in once.items()}
        return curve(pool.metric, tuple(itertools.chain.from_iterable(pool.points[unit] for unit in units)))


@contextlib.contextmanager
def _readable(pool: Pool) -> Generator[None]:
    try:
        yield
    except ValueError as error:
        raise ConfigError(
            f"the scores of {pool.metric.name} cannot be summed up: {error}",
            hint="Compute them again: evalkit score RUN",
        ) from error


def draws_of(metric: Metric, n: int, seed: int) -> list[NDArray[np.int64]]:
    """Which of n units are in each draw; none where they are too few."""
    if n < LEAST_TASKS:
        return []
    return list(drawn_tasks(n, SURVIVAL_DRAWS if metric.curve == "survival" else DRAWS, seed))


def pool_draws(pool: Pool, units: Sequence[int], draws: Sequence[NDArray[np.int64]]) -> Mapping[str, Numbers]:
    """The curve's numbers for draws of these units, by name, one a draw; NaN where it has none."""
    if pool.metric.curve == "survival":
        with _readable(pool):
            return _survival(pool, units, draws)
    told = [pool_values(pool, [units[int(place)] for place in draw]) for draw in draws]
    names = dict.fromkeys(itertools.chain.from_iterable(told))
    return {name: np.array([_number(values.get(name)) for values in told]) for name in names}


def _survival(pool: Pool, units: Sequence[int], draws: Sequence[NDArray[np.int64]]) -> Mapping[str, Numbers]:
    waited = [
        (place, time)
        for place, unit in enumerate(units)
        for point in pool.points[unit]
        for time in parse(point.label or "")
    ]
    name = pool.metric.name
    if not waited or not draws:
        return {number: np.full(len(draws), math.nan) for number in (name, f"{name}_mean")}
    found = survival_draws(
        np.array([time.amount for _, time in waited]),
        np.array([time.happened for _, time in waited], dtype=np.bool_),
        np.array([place for place, _ in waited], dtype=np.int64),
        np.array([np.bincount(draw, minlength=len(units)) for draw in draws], dtype=np.float64),
    )
    return {name: found.medians, f"{name}_mean": found.restricted_means}


def _number(value: float | None) -> float:
    return math.nan if value is None else value
