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
from evalkit.scoring.point import Point
from evalkit.stats.bootstrap import LEAST_TASKS, drawn_tasks
from evalkit.stats.interval import Numbers
from evalkit.stats.survival_draws import survival_draws

DRAWS = 200
"""One takes milliseconds."""
SURVIVAL_DRAWS = 1_000


TaskPoints = Sequence[Sequence[Point]]
"""The points of each task, in an order that depends on nothing but the points: see `points_text`."""


def pool_values(metric: Metric, tasks: TaskPoints) -> Mapping[str, float | None]:
    """The curve of the points of these tasks.

    Raises ConfigError where stored scores are none that this curve can be made of.
    """
    with _readable(metric):
        if metric.curve == "survival":
            # As `curve` does, to the last digit but one, without scipy's statistics, which take a second to import.
            once = _survival(metric, tasks, [np.arange(len(tasks))])
            return {name: None if np.isnan(value[0]) else float(value[0]) for name, value in once.items()}
        return curve(metric, tuple(itertools.chain.from_iterable(tasks)))


@contextlib.contextmanager
def _readable(metric: Metric) -> Generator[None]:
    try:
        yield
    except ValueError as error:
        raise ConfigError(
            f"the scores of {metric.name} cannot be summed up: {error}",
            hint="Compute them again: evalkit score RUN",
        ) from error


def draws_of(metric: Metric, n: int, seed: int) -> list[NDArray[np.int64]]:
    """Which of n tasks are in each draw; none where they are too few."""
    if n < LEAST_TASKS:
        return []
    return list(drawn_tasks(n, SURVIVAL_DRAWS if metric.curve == "survival" else DRAWS, seed))


def pool_draws(
    metric: Metric, tasks: TaskPoints, draws: Sequence[NDArray[np.int64]]
) -> Mapping[str, Numbers]:
    """The curve's numbers for draws of these tasks, by name, one a draw; NaN where it has none."""
    if metric.curve == "survival":
        with _readable(metric):
            return _survival(metric, tasks, draws)
    told = [pool_values(metric, [tasks[int(place)] for place in draw]) for draw in draws]
    names = dict.fromkeys(itertools.chain.from_iterable(told))
    return {name: np.array([_number(values.get(name)) for values in told]) for name in names}


def _survival(metric: Metric, tasks: TaskPoints, draws: Sequence[NDArray[np.int64]]) -> Mapping[str, Numbers]:
    waited = [
        (place, time)
        for place, points in enumerate(tasks)
        for point in points
        for time in parse(point.label or "")
    ]
    name = metric.name
    if not waited or not draws:
        return {number: np.full(len(draws), math.nan) for number in (name, f"{name}_mean")}
    found = survival_draws(
        np.array([time.amount for _, time in waited]),
        np.array([time.happened for _, time in waited], dtype=np.bool_),
        np.array([place for place, _ in waited], dtype=np.int64),
        np.array([np.bincount(draw, minlength=len(tasks)) for draw in draws], dtype=np.float64),
    )
    return {name: found.medians, f"{name}_mean": found.restricted_means}


def points_text(points: Sequence[Point]) -> str:
    """What a task's points say, for an order that depends on nothing else."""
    return repr([(point.value, point.label) for point in points])


def _number(value: float | None) -> float:
    return math.nan if value is None else value
