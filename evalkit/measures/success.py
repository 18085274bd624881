"""How often does an agent pass?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb
from statistics import fmean


def pass_hat_k(outcomes: Mapping[str, Sequence[bool]], k: int) -> float | None:
    """pass^k: the probability that k independent attempts at a task all pass, in [0, 1].

    C(c, k) / C(n, k) for c passes among the n scored attempts of a task, averaged over the tasks with at
    least k scored attempts (tau-bench, arXiv 2406.12045). None where no task has that many.
    `outcomes` maps each task to its scored attempts; unscored ones are left out by the caller.
    Raises ValueError for k < 1.
    """
    if k < 1:
        raise ValueError("k counts attempts, from 1")
    per_task = [comb(sum(tries), k) / comb(len(tries), k) for tries in outcomes.values() if len(tries) >= k]
    return fmean(per_task) if per_task else None
