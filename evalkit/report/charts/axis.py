"""Where on a drawing does a value lie?"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

_LEAST, _MOST = 1e-12, 1e15
"""What lies beyond is drawn at the edge: no cost and no time of a trial is like that."""


@dataclass(frozen=True, slots=True)
class Axis:
    """Values between two ends, drawn from `start` to `end`; by their logarithms where `log`."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def at(self, value: float) -> float:
        """The place of a value; beyond the ends, that of the end."""
        value = min(max(value, self.low), self.high)
        low, high = (math.log(self.low), math.log(self.high)) if self.log else (self.low, self.high)
        part = ((math.log(value) if self.log else value) - low) / (high - low)
        return self.start + part * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Round values, between 2 and about 10 of them."""
        return _decades(self.low, self.high) if self.log else _steps(self.low, self.high)


def share_axis(start: float, end: float) -> Axis:
    """From 0 to 1."""
    return Axis(0.0, 1.0, start, end)


def log_axis(values: Iterable[float], start: float, end: float) -> Axis:
    """Around values above 0, with some room."""
    known = [min(max(value, _LEAST), _MOST) for value in values]
    low, high = min(known, default=1.0), max(known, default=1.0)
    room = max((high / low) ** 0.06, 1.15)
    low, high = low / room, high * room
    if high / low < 4:  # so that two round values are always on it
        middle = math.sqrt(low * high)
        low, high = middle / 2, middle * 2
    return Axis(low, high, start, end, log=True)


def time_axis(longest: float, start: float, end: float) -> Axis:
    """From 0 to the longest of times."""
    return Axis(0.0, min(max(longest, _LEAST), _MOST) if longest else 1.0, start, end)


def _decades(low: float, high: float) -> list[float]:
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for parts in ((1, 1.5, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,)):
        found = [
            value for power in powers for part in parts if low <= (value := float(f"{part}e{power}")) <= high
        ]
        if len(found) <= 9:
            return found
    return found[:: math.ceil(len(found) / 9)]


def _steps(low: float, high: float) -> list[float]:
    step = 10 ** math.floor(math.log10((high - low) / 2))
    while (high - low) / step > 5:
        step *= 2.5 if f"{step:e}".startswith("2") else 2
    return [low + place * step for place in range(int((high - low) / step + 1e-9) + 1)]
