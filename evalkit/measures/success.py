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
    _check(k)
    per_task = [comb(sum(tries), k) / comb(len(tries), k) for tries in outcomes.values() if len(tries) >= k]
    return fmean(per_task) if per_task else None


def pass_at_k(outcomes: Mapping[str, Sequence[bool]], k: int) -> float | None:
    """pass@k: the probability that of k independent attempts at a task at least one passes, in [0, 1].

    1 - C(n - c, k) / C(n, k), averaged over the tasks with at least k scored attempts (arXiv 2107.03374). None where no
    task has that many. Raises ValueError for k < 1.
    """
    _check(k)
    per_task = [
        1 - comb(len(tries) - sum(tries), k) / comb(len(tries), k)
        for tries in outcomes.values()
        if len(tries) >= k
    ]
    return fmean(per_task) if per_task else None


def outcome_agreement(outcomes: Mapping[str, Sequence[bool]]) -> float | None:
    """The probability that two attempts at a task end alike, in [0, 1]: 1 is an agent that always does the same.

    [c(c-1) + (n-c)(n-c-1)] / [n(n-1)], averaged over the tasks with at least two scored attempts; None without any.
    """
    per_task = [_agreement(sum(tries), len(tries)) for tries in outcomes.values() if len(tries) > 1]
    return fmean(per_task) if per_task else None


def _agreement(passed: int, tries: int) -> float:
    failed = tries - passed
    return (passed * (passed - 1) + failed * (failed - 1)) / (tries * (tries - 1))


def _check(k: int) -> None:
    if k < 1:
        raise ValueError("k counts attempts, from 1")
