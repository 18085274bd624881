"""Which share has not seen an event yet, over time?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fall:
    """A time at which events were seen, and the share that has seen none from then on."""

    time: float
    share: float


def survival_curve(events: Sequence[float], censored: Sequence[float]) -> tuple[Fall, ...]:
    """The curve of Kaplan and Meier (1958), by its falls; it starts at 1.

    At each time with events the share is multiplied by 1 - events / at risk; who was no longer watched from just that
    time on is still at risk there. Empty without events.
    """
    at = Counter(events)
    left = len(events) + len(censored)
    ends = sorted([*events, *censored])
    share, gone = 1.0, 0
    falls: list[Fall] = []
    for time in sorted(at):
        while ends[gone] < time:
            gone += 1
        share *= 1 - at[time] / (left - gone)
        falls.append(Fall(time, share))
    return tuple(falls)
