"""How close is a sequence of calls to the one that was expected?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import TypeVar

Item = TypeVar("Item", bound=Hashable)


def exact_match(expected: Sequence[Item], found: Sequence[Item]) -> float:
    """1 where both are the same in the same order, else 0."""
    return float(list(expected) == list(found))


def in_order_match(expected: Sequence[Item], found: Sequence[Item]) -> float:
    """F1 of the longest common subsequence, in [0, 1]: order counts, what stands between does not break it."""
    return _f1(_common_in_order(expected, found), len(expected), len(found))


def any_order_match(expected: Sequence[Item], found: Sequence[Item]) -> float:
    """F1 of the common calls as multisets, in [0, 1]: order does not count."""
    return _f1((Counter(expected) & Counter(found)).total(), len(expected), len(found))


def _f1(common: int, expected: int, found: int) -> float:
    """1 where both are empty, 0 where one is."""
    return 1.0 if expected + found == 0 else 2 * common / (expected + found)


def _common_in_order(expected: Sequence[Item], found: Sequence[Item]) -> int:
    row = [0] * (len(found) + 1)
    for wanted in expected:
        before = 0
        for place, item in enumerate(found, start=1):
            above = row[place]
            row[place] = before + 1 if wanted == item else max(above, row[place - 1])
            before = above
    return row[-1]
