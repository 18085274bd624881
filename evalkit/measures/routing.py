"""Which agent is enough for tasks of a kind: think fast here, and slow there?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from evalkit.measures.standing import MARGIN, Standing, Test, best_of, mean, standings

LEAST_TASKS = 5
"""Of fewer tasks no difference could ever be significant: 4 tasks that are all lost have p = 1/16."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """An agent at the tasks of a kind: means over the trials of each task."""

    name: str
    success: Mapping[str, float]
    cost: Mapping[str, float]
    """On a basis on which all candidates can be compared."""


Silence = Literal[
    "too few tasks",
    "a cheaper agent may or may not be worse",
    "nobody solves any",
]
"""Why nothing is advised."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """What to use for tasks of a kind."""

    tasks: tuple[str, ...]
    """Those that all candidates tried, sorted."""
    agent: str | None
    """The cheapest that cannot be told from the best; None: nothing is advised."""
    best: str | None
    silence: Silence | None = None
    cost: float | None = None
    """Mean cost of a task, of whom is advised."""
    best_cost: float | None = None
    success: float | None = None
    best_success: float | None = None
    standing: Standing | None = None
    """Of whom is advised, against the best."""
    is_cheapest: bool = False
    """Think fast; else cheaper ones are significantly worse: think slow."""
    worse: tuple[str, ...] = ()
    """Those that are cheaper than the advised one, and significantly worse."""

    @property
    def n(self) -> int:
        """How many tasks it rests on."""
        return len(self.tasks)


def advise(candidates: Sequence[Candidate], test: Test, *, margin: float = MARGIN) -> Advice:
    """The cheapest candidate that cannot be told from the best, of two or more, at the tasks that all of them tried.

    Of several that cost the same, the first is the cheapest. It is silent with fewer than five tasks, where nobody
    solves anything, and where a cheaper candidate is more than the margin below the best but not significantly so: more
    tasks could show either.
    """
    known = {task for own in candidates for task in own.success}
    tasks = tuple(
        sorted(task for task in known if all(task in own.success and task in own.cost for own in candidates))
    )
    if len(tasks) < LEAST_TASKS:
        return Advice(tasks=tasks, agent=None, best=None, silence="too few tasks")
    means = {own.name: math.fsum(own.cost[task] for task in tasks) / len(tasks) for own in candidates}
    ordered = sorted(candidates, key=lambda own: means[own.name])
    success = [{task: own.success[task] for task in tasks} for own in ordered]
    shares = [mean(own) for own in success]
    best = best_of(shares)
    if not shares[best]:
        return Advice(tasks=tasks, agent=None, best=None, silence="nobody solves any")
    told = standings(success, test, margin=margin)
    place = next(place for place, one in enumerate(told) if one.verdict != "worse")
    if told[place].verdict == "unclear":
        return Advice(
            tasks=tasks,
            agent=None,
            best=ordered[best].name,
            silence="a cheaper agent may or may not be worse",
        )
    chosen = ordered[place]
    return Advice(
        tasks=tasks,
        agent=chosen.name,
        best=ordered[best].name,
        cost=means[chosen.name],
        best_cost=means[ordered[best].name],
        success=shares[place],
        best_success=shares[best],
        standing=told[place],
        is_cheapest=place == 0,
        worse=tuple(own.name for own in ordered[:place]),
    )
