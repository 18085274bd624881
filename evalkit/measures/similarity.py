"""How alike are the ways in which an agent solves a task?"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from statistics import fmean

LONGEST = 2_000
"""Words of a sequence that are compared; two longer ones say no more about an agent's habits."""


def edit_distance(one: Sequence[Hashable], other: Sequence[Hashable]) -> int:
    """The fewest insertions, deletions and replacements that turn one into the other (Levenshtein 1966).

    By bit vectors, a row of the table at a time (Myers 1999, as put by Hyyrö 2003).
    """
    if not one:
        return len(other)
    places: dict[Hashable, int] = {}
    for place, item in enumerate(one):
        places[item] = places.get(item, 0) | (1 << place)
    mask, last = (1 << len(one)) - 1, 1 << (len(one) - 1)
    plus, minus, distance = mask, 0, len(one)
    for item in other:
        equal = places.get(item, 0)
        diagonal = (((equal & plus) + plus) ^ plus) | equal | minus
        right = minus | ~(diagonal | plus)
        left = plus & diagonal
        distance += bool(right & last) - bool(left & last)
        right = (right << 1) | 1
        plus = ((left << 1) | ~(diagonal | right)) & mask
        minus = right & diagonal & mask
    return distance


def edit_similarity(one: Sequence[Hashable], other: Sequence[Hashable]) -> float:
    """1 - edit distance / the longer length, in [0, 1]; 1 where both are empty."""
    longer = max(len(one), len(other))
    return 1 - edit_distance(one, other) / longer if longer else 1.0


def path_similarity(paths: Mapping[str, Sequence[str]]) -> float | None:
    """Mean pairwise edit similarity of the ways to solve a task, averaged over the tasks with at least two, in [0, 1].

    `paths` maps each task to its passed trials' sequences of calls, as words separated by spaces. None without a task
    that was solved twice.
    """
    per_task = [_of_task(tuple(sorted(own))) for own in paths.values() if len(own) > 1]
    return fmean(per_task) if per_task else None


@lru_cache(maxsize=4096)  # a bootstrap over tasks asks for the same task again and again
def _of_task(paths: tuple[str, ...]) -> float:
    words = [path.split()[:LONGEST] for path in paths]
    return fmean(edit_similarity(one, other) for one, other in combinations(words, 2))
