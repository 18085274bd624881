"""How are times measured, and how are they shown against the aims?"""

from __future__ import annotations

import json
import os
import statistics
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured thing, in milliseconds."""

    what: str
    median_ms: float
    p95_ms: float
    rounds: int
    aim_ms: float | None = None


def figure(what: str, times: Sequence[float], aim_ms: float | None = None) -> Figure:
    """From seconds."""
    ordered = sorted(times)
    p95 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
    return Figure(what, statistics.median(ordered) * 1000, p95 * 1000, len(ordered), aim_ms)


async def timed(work: Callable[[], Awaitable[object]]) -> float:
    """Seconds that the work took."""
    began = time.perf_counter()
    await work()
    return time.perf_counter() - began


def show(title: str, figures: Sequence[Figure], ratios: Mapping[str, float], *, as_json: bool) -> None:
    """Print a table, or one JSON object."""
    if as_json:
        found = {"runtime": title, "cpus": os.cpu_count(), "figures": [asdict(one) for one in figures]}
        print(json.dumps({**found, "ratios": ratios}))
        return
    print(f"{title}, {os.cpu_count()} processors")
    print(f"{'':36}{'median ms':>10}{'p95 ms':>10}{'aim ms':>10}")
    for one in figures:
        missed = one.aim_ms is not None and one.median_ms > one.aim_ms
        aim = "" if one.aim_ms is None else f"{one.aim_ms:>10g}{'  missed' if missed else ''}"
        print(f"{one.what:36}{one.median_ms:>10.2f}{one.p95_ms:>10.2f}{aim}")
    for name, ratio in ratios.items():
        print(f"{name:36}{ratio:>10.2f}")
