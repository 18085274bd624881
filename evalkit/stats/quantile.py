"""Below which value does a well-known random number lie, so and so often?

Student's and the binomial bound, which are finite sums. scipy has both, and takes half a second to import, longer than
everything else that showing a run needs; the tests hold these against it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from statistics import NormalDist

import numpy as np

_STEPS = 200
_LARGE = 2_000
"""Degrees of freedom from which on Student's is the normal one with a correction, to nine digits."""


@lru_cache(maxsize=4_096)
def student_quantile(share: float, freedom: int) -> float:
    """The value below which Student's t with this many degrees of freedom lies with this probability, above one half.

    Abramowitz and Stegun 26.7.3 and 26.7.4, inverted by bisection; 26.7.5 for large ones. Raises ValueError for a
    share out of [0.5, 1) and for less than one degree of freedom.
    """
    if not 0.5 <= share < 1 or freedom < 1:
        raise ValueError("a share from one half to below one, and at least one degree of freedom")
    if freedom >= _LARGE:
        z = NormalDist().inv_cdf(share)
        return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
    angle = _root(lambda angle: _within(angle, freedom) - (2 * share - 1), 0.0, math.pi / 2)
    return math.sqrt(freedom) * math.tan(angle)


def binomial_bound(passed: int, n: int, share: float) -> float:
    """The probability of passing at which `passed` or more of n come about with this probability; 0 for none passed.

    Clopper and Pearson's low end. Raises ValueError for more passed than there are.
    """
    if not 0 <= passed <= n:
        raise ValueError("between none and all have passed")
    if passed == 0:
        return 0.0
    counts = np.arange(passed, n + 1)
    ways = np.array([math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) for k in counts])

    def excess(p: float) -> float:
        return float(np.exp(ways + counts * math.log(p) + (n - counts) * math.log1p(-p)).sum()) - share

    return _root(excess, 1e-300, 1 - 1e-16)


def _within(angle: float, freedom: int) -> float:
    """The probability that |t| is at most sqrt(freedom) tan(angle)."""
    terms = (freedom - 1) // 2 if freedom % 2 else freedom // 2
    steps = np.arange(1, max(terms, 1))
    odd = 2 * steps / (2 * steps + 1) if freedom % 2 else (2 * steps - 1) / (2 * steps)
    series = float(np.cumprod(np.append(1.0, odd * math.cos(angle) ** 2)).sum()) if terms else 0.0
    if freedom % 2 == 0:
        return math.sin(angle) * series
    return 2 / math.pi * (angle + math.sin(angle) * math.cos(angle) * series)


def _root(rising: Callable[[float], float], left: float, right: float) -> float:
    for _ in range(_STEPS):
        middle = (left + right) / 2
        if not left < middle < right:
            break
        left, right = (middle, right) if rising(middle) < 0 else (left, middle)
    return (left + right) / 2
