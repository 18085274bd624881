"""Which mean can be ruled out, however unlike these further tasks are?

Gaffke's one-sided bound for means of bounded numbers (Gaffke 2004): the 5 % quantile of the Bayesian bootstrap with one
imaginary task more that had the worst value there can be. It claims something of *further tasks of the same kind*, so
the unit is the task; epochs are averaged before. It assumes that tasks are drawn independently, and nothing about how
their values are distributed within the bounds.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from evalkit.stats.interval import Numbers, ratio_low_end
from evalkit.stats.quantile import binomial_bound

SHARE = 0.05


def lower_bound(
    values: Numbers, low: float, *, weights: Numbers | None = None, share: float = SHARE
) -> float | None:
    """Below which value the mean of further tasks lies with a probability of at most `share`.

    `values` are not below `low`. Where they are only `low` and one other value, it is Clopper and Pearson's bound in
    closed form: n tasks without any loss, on [-1, 1], give -(1 - 0.05^(1/n)). Else its distribution comes from the
    saddlepoint approximation of `bounded_ratio_interval`: no draws, no seed. `weights` say how much each task counts,
    all equally by default. None for no values at all. Raises ValueError for a value below `low`, and for weights that
    are no positive numbers.
    """
    if not len(values):
        return None
    if not np.isfinite(values).all() or values.min() < low:
        raise ValueError("a value lies below the lowest that there can be")
    whole = np.ones(len(values)) if weights is None else weights / weights.mean()
    if len(whole) != len(values) or not (np.isfinite(whole) & (whole > 0)).all():
        raise ValueError("each task has a weight above 0")
    above = values - low
    other = np.unique(above[above > 0])
    if not len(other):
        return low
    if len(other) == 1 and whole.min() == whole.max():
        return low + float(other[0]) * binomial_bound(int((above > 0).sum()), len(values), share)
    order = np.lexsort((above, whole))
    return low + ratio_low_end((above * whole)[order], whole[order], NormalDist().inv_cdf(share))


def tasks_needed(margin: float, *, share: float = SHARE) -> int:
    """How many tasks, all without a difference, rule out a mean loss of `margin` on [-1, 1].

    59 for a margin of 0.05, 29 for 0.1, 149 for 0.02. Raises ValueError for a margin out of (0, 1).
    """
    if not 0 < margin < 1:
        raise ValueError("a margin between 0 and 1")
    return math.ceil(round(math.log(share) / math.log(1 - margin), 9))
