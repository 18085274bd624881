"""What does a scorer say about one trial on one metric?"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Score:
    """One value with what it rests on."""

    metric: str
    value: float | None
    """None where the metric is undefined for this trial, which is not 0."""
    reason: str
    """One sentence that lets a reader recompute the number."""
    evidence: tuple[int, ...] = ()
    """Numbers of the steps that it rests on."""
    label: str | None = None
    """A word for the value, or what a curve is made of."""
