"""What would the times until something happens be, had other tasks been drawn?

As `survival` computes it, for many draws at once, since a curve at a time would take seconds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evalkit.stats.interval import Numbers

_HALF = 0.5 + 1e-12
"""As in `survival`, whose module takes a second to import."""
_CELLS_AT_ONCE = 1_000_000
"""How many weights of times are held in memory."""


@dataclass(frozen=True, slots=True)
class SurvivalDraws:
    """One number a draw; NaN where it has none."""

    medians: Numbers
    restricted_means: Numbers
    """Up to the longest time of the draw."""


def survival_draws(
    times: Numbers, happened: NDArray[np.bool_], tasks: NDArray[np.int64], weights: Numbers
) -> SurvivalDraws:
    """Kaplan and Meier's curve for each row of `weights`, which says how often each task was drawn.

    `tasks` says for each time which task, by column of `weights`, it is of; `happened` whether it ended with the event.
    """
    order = np.lexsort((~happened, times))
    times, happened, tasks = times[order], happened[order], tasks[order]
    at_once = max(1, _CELLS_AT_ONCE // max(1, len(times)))
    parts = [
        _curves(times, happened, weights[start : start + at_once, tasks])
        for start in range(0, len(weights), at_once)
    ]
    return SurvivalDraws(
        np.concatenate([medians for medians, _ in parts]), np.concatenate([means for _, means in parts])
    )


def _curves(times: Numbers, happened: NDArray[np.bool_], drawn: Numbers) -> tuple[Numbers, Numbers]:
    """Times in order, events first where they are equal; `drawn` says how often each is in a draw, one draw a row."""
    left = np.cumsum(drawn[:, ::-1], axis=1)[:, ::-1]
    falls = np.where(left > 0, drawn * happened / np.maximum(left, 1), 0.0)
    survive = np.cumprod(1 - falls, axis=1)
    low = survive <= _HALF
    first = np.argmax(low, axis=1)
    any_drawn = left[:, 0] > 0
    medians = np.where(low.any(axis=1) & any_drawn, times[first], np.nan)
    before = np.hstack([np.ones((len(drawn), 1)), survive[:, :-1]])
    areas = (before * (left > 0)) @ np.diff(times, prepend=0.0)
    return medians, np.where(any_drawn, areas, np.nan)
