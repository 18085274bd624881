"""How often is the answer that most attempts agree on the right one?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import comb
from statistics import fmean

Vote = tuple[str, bool]
"""An answer in comparable form, and whether its trial passed."""
_Tally = tuple[tuple[int, int], ...]
"""Of each answer, how many gave it, and how many of those passed."""


def comparable(answer: str) -> str:
    """An answer without what does not matter: case, blanks around and between words, and a point at the end."""
    return " ".join(answer.casefold().split()).rstrip(".")


def majority_at_k(votes: Mapping[str, Sequence[Vote]], k: int) -> float | None:
    """maj@k: the probability that the majority of k attempts at a task is right, in [0, 1] (self-consistency,
    arXiv 2203.11171).

    Over all subsets of k attempts, counted exactly; answers that tie for the most votes share the credit, and an
    answer's credit is the share of its attempts that passed. Averaged over the tasks with at least k attempts; None
    where there is none. Raises ValueError for k < 1.
    """
    if k < 1:
        raise ValueError("k counts attempts, from 1")
    per_task = [_credit(_tally(own), k) for own in votes.values() if len(own) >= k]
    return fmean(per_task) if per_task else None


def _tally(votes: Sequence[Vote]) -> _Tally:
    given = Counter(answer for answer, _ in votes)
    right = Counter(answer for answer, passed in votes if passed)
    return tuple(sorted((times, right[answer]) for answer, times in given.items()))


@lru_cache(maxsize=4096)  # a bootstrap over tasks asks for the same task again and again
def _credit(tally: _Tally, k: int) -> float:
    total = 0.0
    for place, (times, right) in enumerate(tally):
        others = [other for other, _ in (*tally[:place], *tally[place + 1 :])]
        for own in range(1, min(times, k) + 1):
            shared = sum(ways / (1 + ties) for ties, ways in enumerate(_ways(others, k - own, most=own)))
            total += right / times * comb(times, own) * shared
    return min(1.0, total / comb(sum(times for times, _ in tally), k))


def _ways(others: Sequence[int], left: int, *, most: int) -> list[int]:
    """Ways to draw `left` attempts with other answers, none more than `most` times, by how many reach `most`."""
    ways = {(0, 0): 1}
    for times in others:
        more: Counter[tuple[int, int]] = Counter()
        for (used, ties), count in ways.items():
            for own in range(min(times, most, left - used) + 1):
                more[used + own, ties + (own == most)] += count * comb(times, own)
        ways = dict(more)
    return [ways.get((left, ties), 0) for ties in range(len(others) + 1)]
