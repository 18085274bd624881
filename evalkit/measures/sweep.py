"""How much does success grow with thinking, and where is it enough?

One agent at several levels of thinking, at the same tasks. Levels are in order, the least thinking first. All costs are
realised generated tokens of a trial, not what was allowed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalkit.measures.standing import MARGIN, Standing, Test, best_of, mean, standings

HALF = 0.5
"""A task is solved at a level where at least this share of its trials pass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """What became of each task at one level of thinking: means over its trials."""

    name: str
    success: Mapping[str, float]
    tokens: Mapping[str, float]

    def solved(self, task: str) -> bool:
        return self.success[task] >= HALF


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelResult:
    """One level among the others."""

    name: str
    tokens: float
    """x: realised mean tokens of a trial."""
    success: float
    """S."""
    marginal: float | None
    """Success gained over the level before, per 1,000 tokens more; None for the first, and where tokens do not grow."""
    excess: float | None
    """1 - x(b*) / x: the share of its tokens that b* does without; None below b*, without b*, and without any token."""
    standing: Standing
    tax: float
    """Thinking tax: tokens beyond those at b*, summed over the tasks that are solved at both."""
    unsolved_spend: float
    """Tokens on tasks that no level solves, one trial each."""
    lost: tuple[str, ...]
    """Tasks that are solved at b* and not at this lower level; none from b* on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """All levels, at the tasks that all of them have."""

    tasks: tuple[str, ...]
    levels: tuple[LevelResult, ...]
    sufficient: int | None
    """The place of b*: the smallest level as good as the best; None where nothing is solved at any level."""
    best: int
    """The place of the level with the highest success, of several the smallest."""
    inverse: bool
    """Whether the largest level is significantly below the best: more thinking made it worse."""
    margin: float
    solved_by_none: int

    @property
    def enough(self) -> LevelResult | None:
        """b* itself."""
        return None if self.sufficient is None else self.levels[self.sufficient]


def common_tasks(levels: Sequence[Level]) -> tuple[str, ...]:
    """The tasks whose success and tokens are known at every level, sorted."""
    known = {task for level in levels for task in level.success}
    return tuple(
        sorted(
            task for task in known if all(task in level.success and task in level.tokens for level in levels)
        )
    )


def sweep(levels: Sequence[Level], test: Test, *, margin: float = MARGIN) -> Sweep | None:
    """What a sweep shows; None for fewer than two levels, and where no task is known at all of them."""
    tasks = common_tasks(levels)
    if len(levels) < 2 or not tasks:
        return None
    own = [
        Level(
            name=level.name,
            success={task: level.success[task] for task in tasks},
            tokens={task: level.tokens[task] for task in tasks},
        )
        for level in levels
    ]
    told = standings([level.success for level in own], test, margin=margin)
    good = (place for place, one in enumerate(told) if one.verdict in {"best", "as good"})
    sufficient = next(good) if any(value for level in own for value in level.success.values()) else None
    unsolved = [task for task in tasks if not any(level.solved(task) for level in own)]
    return Sweep(
        tasks=tasks,
        levels=tuple(
            _result(own, place, sufficient, told[place], unsolved=unsolved) for place in range(len(own))
        ),
        sufficient=sufficient,
        best=best_of([mean(level.success) for level in own]),
        inverse=told[-1].verdict == "worse",
        margin=margin,
        solved_by_none=len(unsolved),
    )


def marginal_return(before: tuple[float, float], here: tuple[float, float]) -> float | None:
    """Success gained per 1,000 tokens more, of (tokens, success); None where tokens do not grow."""
    grown = here[0] - before[0]
    return (here[1] - before[1]) / grown * 1000 if grown > 0 else None


def _result(
    levels: Sequence[Level],
    place: int,
    sufficient: int | None,
    standing: Standing,
    *,
    unsolved: Sequence[str],
) -> LevelResult:
    level, enough = levels[place], levels[place if sufficient is None else sufficient]
    x, success = mean(level.tokens), mean(level.success)
    before = levels[place - 1] if place else None
    both = [task for task in level.success if level.solved(task) and enough.solved(task)]
    return LevelResult(
        name=level.name,
        tokens=x,
        success=success,
        marginal=before and marginal_return((mean(before.tokens), mean(before.success)), (x, success)),
        excess=1 - mean(enough.tokens) / x if sufficient is not None and place >= sufficient and x else None,
        standing=standing,
        tax=math.fsum(max(0.0, level.tokens[task] - enough.tokens[task]) for task in both),
        unsolved_spend=math.fsum(level.tokens[task] for task in unsolved),
        lost=tuple(
            task
            for task in level.success
            if sufficient is not None
            and place < sufficient
            and enough.solved(task)
            and not level.solved(task)
        ),
    )
