"""How long does it take until something happens, when it was not always waited for?"""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false
# (scipy has no types)

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from scipy.stats import CensoredData, ecdf

HALF = 0.5 + 1e-12
"""One half, and what rounding adds to a product of shares that is one half."""


@dataclass(frozen=True, slots=True)
class Survival:
    """The time to an event, by Kaplan and Meier (1958)."""

    n: int
    events: int
    median: float | None
    """The first time by which at least half have seen the event; None where survival stays above one half."""
    restricted_mean: float
    """The mean time up to the horizon: the area under the survival curve, in [0, horizon]."""


def survival(
    events: Sequence[float], censored: Sequence[float], *, never: int = 0, horizon: float
) -> Survival | None:
    """Times from a start to its event (`events`) or to where it was no longer waited for (`censored`).

    `never` counts those that ended without the event by their own doing: they sit at the horizon, which is the same for
    all arms. Times beyond the horizon are cut there. None without any observation. Raises ValueError for a horizon that
    is not above 0 and for negative times.
    """
    if horizon <= 0 or any(time < 0 for time in (*events, *censored)):
        raise ValueError("times start at 0, and the horizon is above it")
    seen = [time for time in events if time <= horizon]
    waited = [min(time, horizon) for time in censored]
    beyond = never + len(events) - len(seen)
    if not seen and not waited and not beyond:
        return None
    times, shares = _curve(seen, [*waited, *[horizon] * beyond])
    median = next((time for time, share in zip(times, shares, strict=True) if share <= HALF), None)
    edges = [0.0, *times, horizon]
    heights = [1.0, *shares]
    area = sum(
        height * (right - left)
        for (left, right), height in zip(itertools.pairwise(edges), heights, strict=True)
    )
    return Survival(
        n=len(events) + len(censored) + never, events=len(seen), median=median, restricted_mean=area
    )


def _curve(events: Sequence[float], censored: Sequence[float]) -> tuple[list[float], list[float]]:
    """The times at which the survival curve falls, and to what."""
    if not events:
        return [], []
    curve = ecdf(CensoredData(uncensored=list(events), right=list(censored))).sf
    own = set(events)
    pairs = [
        (float(time), float(share))
        for time, share in zip(curve.quantiles, curve.probabilities, strict=True)
        if float(time) in own
    ]
    return [time for time, _ in pairs], [share for _, share in pairs]
