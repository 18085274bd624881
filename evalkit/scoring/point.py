"""What is a curve made of?"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Point:
    """One scored trial, as a curve sees it."""

    task: str
    """Which task it was at. Points of one task are its epochs; where faults are, it names the variant, too."""
    value: float | None
    label: str | None = None
    """What else the curve needs, as its kind says: an answer, a sequence of tools, durations."""
