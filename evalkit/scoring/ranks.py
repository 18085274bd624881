"""Which place does each agent have, as far as the tasks can tell?

Agents are compared in pairs at the tasks that both tried, by a sign-flip test over tasks, adjusted by Holm over all
pairs. An agent's place is an interval: after all that are surely better, before all that are surely worse. Agents that
cannot be told apart share places, so that a rank never claims more than was measured.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evalkit.scoring.difference import named, shared, steps
from evalkit.scoring.per_task import Means
from evalkit.scoring.scored_trials import Unit
from evalkit.stats.holm import holm
from evalkit.stats.interval import Numbers
from evalkit.stats.permutation import sign_flip_p

LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class Rank:
    """Places from 1 on, the better end first."""

    best: int
    worst: int


def ranks(
    own: Mapping[str, Means], units: Sequence[Unit], *, higher_is_better: bool = True
) -> dict[str, Rank]:
    """The place of each agent, by its name, among all that are given.

    Agents without a task in common cannot be told apart. An agent without any value may have every place.
    """
    names = sorted(own)
    pairs = list(itertools.combinations(names, 2))
    found = [_moved(own[a], own[b], units) for a, b in pairs]
    adjusted = holm([sign_flip_p(moved) for moved in found])
    better = dict.fromkeys(names, 0)
    worse = dict.fromkeys(names, 0)
    for (a, b), moved, p in zip(pairs, found, adjusted, strict=True):
        if p > LEVEL or not moved.sum():
            continue
        first, second = (b, a) if (moved.sum() > 0) == higher_is_better else (a, b)
        better[second] += 1  # how many are better than the second
        worse[first] += 1
    return {name: Rank(1 + better[name], len(names) - worse[name]) for name in names}


def _moved(ours: Means, theirs: Means, units: Sequence[Unit]) -> Numbers:
    """Theirs - ours at each task that both have a value of; none where they have no task in common."""
    rows_a, rows_b = shared(named(ours.units, units), named(theirs.units, units))
    return steps(ours.by_task(rows_a), theirs.by_task(rows_b))


def frontier(points: Mapping[str, tuple[float | None, float | None]]) -> frozenset[str]:
    """Who is on the Pareto frontier of (cost, success): nobody else costs no more and succeeds no less, and differs.

    Points of which either is unknown are on none, nor is who never succeeds: nothing is bought, however cheaply.
    """
    known = {
        name: (cost, won)
        for name, (cost, won) in points.items()
        if cost is not None and won is not None and won > 0
    }
    return frozenset(
        name
        for name, (cost, won) in known.items()
        if not any(
            (other_cost <= cost and other_won >= won) and (other_cost, other_won) != (cost, won)
            for other_cost, other_won in known.values()
        )
    )


def success_by_task(own: Means, tasks: int) -> list[float | None]:
    """The agent's value at each task, in the order of tasks; None where it has none."""
    found: list[float | None] = [None] * tasks
    for task, value in zip(np.unique(own.tasks).tolist(), own.by_task().tolist(), strict=True):
        found[task] = value
    return found
