"""Could these differences have come about by chance alone?

If two agents are alike, each task's difference could as well have had the other sign (Fisher 1935). p is the share of
all patterns of signs whose sum is at least as far from 0 as the one that was seen.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evalkit.stats.bootstrap import seed_of
from evalkit.stats.interval import Numbers

Side = Literal["both", "less", "greater"]
FLIPS = 99_999
_FINEST_GRID = 2_520
"""The least common multiple of 1 to 10: differences of shares of up to ten epochs lie on such grids."""
_PROBES = 8
_CELLS = 20_000_000
_FEW = 16
_AT_ONCE = 2_000_000


def sign_flip_p(differences: Sequence[float] | Numbers, *, side: Side = "both") -> float:
    """p of a sign-flip test of one difference a task, in (0, 1]; `less` asks whether they are below 0.

    Exact by adding up all patterns where the differences lie on a grid, as those of shares of epochs do, or where at
    most 16 differ from 0; else from 99,999 patterns, seeded by the sorted differences, and the one that was seen.
    1 where nothing differs. Neither the order of tasks nor the unit of the differences matters.
    """
    given = np.asarray(differences, dtype=np.float64)
    moved = np.sort(given[given != 0])
    if not len(moved):
        return 1.0
    if side == "less":
        return sign_flip_p(-given, side="greater")
    steps = _on_grid(moved)
    if steps is not None:
        return _exact_on_grid(steps, side)
    return _exact_of_few(moved, side) if len(moved) <= _FEW else _drawn(moved, side)


def _on_grid(moved: Numbers) -> NDArray[np.int64] | None:
    """The differences as whole numbers of a common step; None where they have none that is worth it."""
    scaled = moved / np.abs(moved).max()
    parts = np.arange(1, _FINEST_GRID + 1)
    for value in scaled[:_PROBES]:
        parts = parts[np.abs(np.rint(value * parts) - value * parts) <= 1e-9 * parts]
    for count in map(int, parts):
        steps = np.rint(scaled * count)
        if len(moved) * np.abs(steps).sum() > _CELLS:
            return None
        if np.abs(steps - scaled * count).max() <= 1e-9 * count and steps.all():
            return steps.astype(np.int64)
    return None


def _exact_on_grid(steps: NDArray[np.int64], side: Side) -> float:
    """By convolution: how likely each sum is, one difference after the other."""
    sizes = np.abs(steps)
    total = int(sizes.sum())
    likely = np.zeros(2 * total + 1)
    likely[total] = 1.0
    reach = 0
    for size in sizes.tolist():
        inner = likely[total - reach : total + reach + 1].copy()
        likely[total - reach : total + reach + 1] = 0.0
        likely[total - reach - size : total + reach + 1 - size] += inner / 2
        likely[total - reach + size : total + reach + 1 + size] += inner / 2
        reach += size
    seen = int(steps.sum())
    if side == "greater":
        return min(1.0, math.fsum(likely[total + seen :]))
    return min(1.0, 2 * math.fsum(likely[total + abs(seen) :])) if seen else 1.0


def _exact_of_few(moved: Numbers, side: Side) -> float:
    sums = np.zeros(1)
    for size in np.abs(moved).tolist():
        sums = np.concatenate([sums - size, sums + size])
    return float(_as_far(sums, moved, side).mean())


def _drawn(moved: Numbers, side: Side) -> float:
    """From random patterns. Eight signs make a byte, and each byte's sum is looked up."""
    sizes = np.sort(np.abs(moved))
    eights = np.pad(sizes, (0, -len(sizes) % 8)).reshape(-1, 8)
    signs = 2.0 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1) - 1.0
    sums_of = eights @ signs.T
    random = np.random.default_rng(seed_of(sizes.tobytes()))
    as_far = 0
    at_once = max(1, _AT_ONCE // len(eights))
    for start in range(0, FLIPS, at_once):
        patterns = random.integers(0, 256, (len(eights), min(at_once, FLIPS - start)), dtype=np.uint8)
        sums = sum((own[drawn] for own, drawn in zip(sums_of, patterns, strict=True)), np.zeros(1))
        as_far += int(_as_far(sums, moved, side).sum())
    return (1 + as_far) / (1 + FLIPS)


def _as_far(sums: Numbers, moved: Numbers, side: Side) -> NDArray[np.bool_]:
    """Whether each sum is at least as far out as the one that was seen, rounding errors forgiven."""
    seen = math.fsum(moved)
    slack = 1e-9 * float(np.abs(moved).sum())
    if side == "greater":
        return sums >= seen - slack
    return np.abs(sums) >= abs(seen) - slack
