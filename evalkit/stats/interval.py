"""How sure is a mean, or a ratio of sums, over tasks?

The unit is the task, and the claim is about further tasks of the same kind: a task's epochs are averaged before
anything here is asked, so that more epochs never count as more tasks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from evalkit.stats.quantile import binomial_bound, student_quantile

Numbers = NDArray[np.float64]
LEVEL = 0.95
_STEPS = 100


@dataclass(frozen=True, slots=True)
class Interval:
    """Two ends, the low one first."""

    low: float
    high: float


def unbounded_interval(values: Numbers, *, level: float = LEVEL) -> Interval | None:
    """Student's interval of the mean of numbers without known bounds.

    None for fewer than two values, and where all are equal: an interval without width would claim to be sure, and how
    much further tasks can differ is just what is not known then.
    """
    n = len(values)
    if n < 2 or values.min() == values.max():
        return None
    mean = math.fsum(values) / n
    spread = math.sqrt(math.fsum((values - mean) ** 2) / (n - 1) / n)
    reach = student_quantile((1 + level) / 2, n - 1) * spread
    return Interval(mean - reach, mean + reach)


def bounded_interval(values: Numbers, low: float, high: float, *, level: float = LEVEL) -> Interval | None:
    """Gaffke's interval of the mean of numbers that cannot leave [low, high].

    Each end is a quantile of the Bayesian bootstrap with one imaginary task more that had the worst value, or the best:
    of sum(w_i x_i) + w_(n+1) * bound with w ~ Dirichlet(1, ..., 1) (Gaffke 2004; see `bounded_ratio_interval`). Of
    numbers that are only 0 and 1 it is Clopper and Pearson's. It never collapses: 8 tasks that all passed give
    [0.63, 1]. In simulations of 8 to 200 tasks with 1 and 4 epochs it held the truth in 95.5 to 100 % of runs, where
    Student's fell to 24 % for easy tasks; docs/comparing.md has the figures. None for fewer than two values. Raises
    ValueError for values out of the bounds.
    """
    if high <= low or len(values) < 2:
        return Interval(low, high) if len(values) >= 2 else None
    scaled = (values - low) / (high - low)
    if np.all((scaled == 0) | (scaled == 1)):
        ends = _clopper_pearson(int(scaled.sum()), len(scaled), level)
    else:
        ends = bounded_ratio_interval(scaled, np.ones_like(scaled), level=level)
    return ends and Interval(low + (high - low) * ends.low, low + (high - low) * ends.high)


def bounded_ratio_interval(parts: Numbers, wholes: Numbers, *, level: float = LEVEL) -> Interval | None:
    """The interval of sum(parts) / sum(wholes) over tasks, where each part is in [0, its whole].

    Gaffke's bound with an imaginary task of the mean whole, none or all of which is part. With exponential weights
    E_i, which Dirichlet's are after scaling, an end r solves P(sum E_i (part_i - r whole_i) <= 0) = 2.5 %, which the
    saddlepoint approximation gives (Lugannani and Rice 1980, in Barndorff-Nielsen's form): no draws, no seed. Its tail
    probabilities are within 0.1 points of the exact 2.5 %, nearly always on the safe side. Tasks whose whole is 0
    say nothing and do not count. None for fewer than two others. Raises ValueError for a part that is not within its
    whole.
    """
    if len(parts) != len(wholes) or (parts < 0).any() or (parts > wholes).any():
        raise ValueError("a part lies between 0 and its whole")
    parts, wholes = parts[wholes > 0], wholes[wholes > 0]
    if len(parts) < 2:
        return None
    order = np.lexsort((parts, wholes))
    parts, wholes = parts[order], wholes[order]
    tail = NormalDist().inv_cdf((1 - level) / 2)
    return Interval(_low_end(parts, wholes, tail), 1 - _low_end(wholes - parts, wholes, tail))


def _clopper_pearson(passed: int, n: int, level: float) -> Interval:
    tail = (1 - level) / 2
    return Interval(binomial_bound(passed, n, tail), 1 - binomial_bound(n - passed, n, tail))


def _low_end(parts: Numbers, wholes: Numbers, tail: float) -> float:
    """Where the normal deviate of P(ratio <= r), which grows with r, is `tail`: by false position (Illinois)."""
    if not parts.any():
        return 0.0
    parts, wholes = np.append(parts, 0.0), np.append(wholes, wholes.mean())
    left, right = 0.0, float(parts.sum() / wholes.sum())
    at_left, at_right = -40.0, -tail  # at 0 it is minus infinity, and at the mean about 0
    last = 0
    for _ in range(_STEPS):
        middle = (left * at_right - right * at_left) / (at_right - at_left)
        if not left < middle < right or right - left < 1e-10:
            break
        value = _deviate(parts - middle * wholes) - tail
        if abs(value) < 1e-9:
            return middle
        if value < 0:
            left, at_left = middle, value
            at_right = at_right / 2 if last < 0 else at_right
        else:
            right, at_right = middle, value
            at_left = at_left / 2 if last > 0 else at_left
        last = -1 if value < 0 else 1
    return left


def _deviate(weights: Numbers) -> float:
    """z with P(sum of weight_i E_i <= 0) = Phi(z), for exponential E_i and weights of both signs, nearly."""
    tilt = _saddlepoint(weights)
    ratios = weights / (1 - weights * tilt)
    root = math.copysign(math.sqrt(max(0.0, 2 * float(np.log1p(-weights * tilt).sum()))), tilt)
    scale = tilt * math.sqrt(float((ratios * ratios).sum()))
    if abs(root) < 1e-5:
        return root  # the correction's limit is that of 0 / 0, and nothing where it is asked for lies here
    return root + math.log(scale / root) / root


def _saddlepoint(weights: Numbers) -> float:
    """Where the cumulant generating function -sum(log(1 - weight_i t)) is least."""
    left, right = 1 / float(weights.min()), 1 / float(weights.max())
    tilt = 0.0
    for _ in range(_STEPS):
        ratios = weights / (1 - weights * tilt)
        slope, curvature = float(ratios.sum()), float((ratios * ratios).sum())
        if abs(slope) <= 1e-11 * math.sqrt(curvature):
            break
        left, right = (left, tilt) if slope > 0 else (tilt, right)
        tilt -= slope / curvature
        if not left < tilt < right:
            tilt = (left + right) / 2
    return tilt
