"""Is an agent as good as the best one, at the same tasks?

The tests themselves are given, so that the same ones as everywhere else are used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["best", "as good", "unclear", "worse"]
ALPHA = 0.05
MARGIN = 0.05
"""How much less success is as good, in shares."""
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What tests say of differences in success, one a task, in [-1, 1]."""

    p_below: float
    """p of being below 0, one-sided."""
    lowest: float
    """Above which their mean for further tasks is, with a confidence of 95 %."""
    low: float | None = None
    high: float | None = None
    """Between which it is (95 %); None for one task."""


Test = Callable[[Sequence[float]], Judged]


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One agent against the best."""

    difference: float
    """Its mean success less the best's; 0 for the best."""
    p_below: float
    lowest: float
    """Above which the difference is for further tasks, with a confidence of 95 %."""
    low: float | None
    high: float | None
    """Between which it is (95 %); None for one task."""
    verdict: Verdict
    """`as good`: not more than the margin below the best, and not significantly below it. `worse`: significantly
    below it. `unclear`: neither, so that these tasks cannot tell."""
    non_inferior: bool
    """Whether it is shown to be no more than the margin below; rarely so with few tasks."""


def standings(
    success: Sequence[Mapping[str, float]], test: Test, *, margin: float = MARGIN
) -> tuple[Standing, ...]:
    """Each agent's standing by its success at each task, the cheapest first; all have the same tasks, and some.

    The best has the highest mean; of several, it is the cheapest. Differences are paired by task.
    """
    means = [mean(own) for own in success]
    best = best_of(means)
    return tuple(
        _standing(own, success[best], test, margin, is_best=place == best)
        for place, own in enumerate(success)
    )


def best_of(means: Sequence[float]) -> int:
    """The place of the highest, of several the first."""
    highest = max(means)
    return next(place for place, own in enumerate(means) if own >= highest - _ROUNDING)


def mean(values: Mapping[str, float]) -> float:
    """The same whatever the order."""
    return math.fsum(values.values()) / len(values)


def _standing(
    own: Mapping[str, float], best: Mapping[str, float], test: Test, margin: float, *, is_best: bool
) -> Standing:
    moved = [_rounded(own[task] - best[task]) for task in sorted(own)]
    told = test(moved)
    difference = 0.0 if is_best else _rounded(math.fsum(moved) / len(moved))
    verdict: Verdict = "unclear"
    if is_best:
        verdict = "best"
    elif told.p_below <= ALPHA:
        verdict = "worse"
    elif difference >= -margin - _ROUNDING:
        verdict = "as good"
    return Standing(
        difference=difference,
        p_below=told.p_below,
        lowest=told.lowest,
        low=told.low,
        high=told.high,
        verdict=verdict,
        non_inferior=is_best or told.lowest > -margin,
    )


def _rounded(value: float) -> float:
    return 0.0 if abs(value) <= _ROUNDING else value
