"""Does a sandbox hold more memory, files or processes than it may?

The kernel bounds each process; this bounds their sum, by looking from time to time. Without delegated
cgroups a sandbox can be above its limits until the next look.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from anyio import to_thread

from evalkit.sandbox.local.processes import Process, resident_bytes
from evalkit.sandbox.walk import OPEN_FOLDER, TreeChanged, walk

PERIOD_S = 0.5
SHARE = 0.05
"""Of one processor, at most, is spent on looking: a large tree is looked at less often."""
MAX_FILES = 900_000
_MB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one sandbox may hold in all."""

    memory_mb: int
    storage_mb: int
    pids: int


@dataclass(frozen=True, slots=True)
class Usage:
    """What a tree holds: bytes on disk, and the number of its files."""

    bytes: int
    files: int


class Watchdog:
    """Looks at one sandbox for as long as it lives, and calls `stop` with a sentence when it is over a
    limit.
    """

    def __init__(
        self,
        tree: Path,
        bounds: Bounds,
        alive: Callable[[], Sequence[Process]],
        stop: Callable[[str], Awaitable[None]],
    ) -> None:
        self._tree, self._bounds = tree, bounds
        self._alive, self._stop = alive, stop
        self._tolerated = Usage(0, 0)

    async def run(self) -> None:
        """Look until cancelled."""
        period = PERIOD_S
        while True:
            await asyncio.sleep(period)
            problem, cost = await to_thread.run_sync(self._timed_look)
            if problem is not None:
                await self._stop(f"evalkit: stopped: {problem}")
            period = max(PERIOD_S, cost / SHARE)

    def look(self) -> str | None:
        """The limit that is broken, in words; None where all is well."""
        alive = self._alive()
        if len(alive) <= 1:  # the shell alone changes nothing
            return None
        if len(alive) > self._bounds.pids:
            return f"more than {self._bounds.pids} processes"
        memory = sum(resident_bytes(one.pid) for one in alive)
        if memory > self._bounds.memory_mb * _MB:
            return f"memory over the limit of {self._bounds.memory_mb} MB"
        return self._look_at_storage()

    def _look_at_storage(self) -> str | None:
        """Who is over the limit may still tidy up: what was already complained about is tolerated until it
        grows.
        """
        used = usage(self._tree)
        if used is None:
            return None
        limit = Usage(self._bounds.storage_mb * _MB, MAX_FILES)
        over = used.bytes > max(limit.bytes, self._tolerated.bytes) or used.files > max(
            limit.files, self._tolerated.files
        )
        self._tolerated = (
            used if over or used.bytes > limit.bytes or used.files > limit.files else Usage(0, 0)
        )
        if not over:
            return None
        if used.files > limit.files:
            return f"more than {MAX_FILES} files"
        return f"files over the limit of {self._bounds.storage_mb} MB"

    def _timed_look(self) -> tuple[str | None, float]:
        began = time.thread_time()
        return self.look(), time.thread_time() - began


def usage(tree: Path) -> Usage | None:
    """What a tree holds; None where it would not hold still."""
    size = files = 0
    root = os.open(tree, OPEN_FOLDER)
    try:
        for visit in walk(root, ""):
            size += visit.stat.st_blocks * 512 // max(1, visit.stat.st_nlink)
            files += 1
    except TreeChanged:
        return None
    finally:
        os.close(root)
    return Usage(size, files)
