"""What is the sum of numbers of which some are unknown?"""

from __future__ import annotations

from collections.abc import Iterable


def total(values: Iterable[float | None]) -> float | None:
    """The sum, or None as soon as one of them is unknown. Of nothing: 0."""
    result: float = 0
    for value in values:
        if value is None:
            return None
        result += value
    return result


def total_at_least(values: Iterable[float | None]) -> float:
    """The sum of those that are known: a lower bound for numbers that cannot be negative."""
    return sum(value for value in values if value is not None)
