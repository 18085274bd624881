"""Which of several p values are small, although there were several?

Holm's step-down adjustment (Holm 1979): the chance of even one false alarm among them stays below the level, whatever
their dependence.
"""

from __future__ import annotations

from collections.abc import Sequence


def holm(values: Sequence[float]) -> tuple[float, ...]:
    """The adjusted p values, in the given order, each at least as large as before and at most 1; empty for none.

    Leaving one out never makes another larger. Raises ValueError for a value out of [0, 1].
    """
    if not all(0 <= value <= 1 for value in values):
        raise ValueError("a p value lies between 0 and 1")
    order = sorted(range(len(values)), key=lambda place: values[place])
    adjusted = [0.0] * len(values)
    reached = 0.0
    for rank, place in enumerate(order):
        reached = max(reached, min(1.0, (len(values) - rank) * values[place]))
        adjusted[place] = reached
    return tuple(adjusted)
