"""Does a sandbox hold more memory, files or processes than it may?

The kernel bounds each process; this bounds their sum, by looking from time to time. Without delegated
cgroups a sandbox can be above its limits until the next look. Nothing that a sandbox does keeps the watchdog from
looking: what cannot be looked at counts as over the limit.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from anyio import to_thread

from evalkit.sandbox.local.holding import Held, held_without_names
from evalkit.sandbox.local.processes import Process, processor_ticks, resident_bytes
from evalkit.sandbox.shielded import finish
from evalkit.sandbox.storage import Storage
from evalkit.sandbox.walk import OPEN_FOLDER, TreeChanged, walk

PROCESSES_PERIOD_S = 0.25
STORAGE_PERIOD_S = 0.5
SHARE = 0.05
"""Of one processor, at most, is spent on looking at storage: a large tree is looked at less often."""
MAX_FILES = 900_000
FLOOR_SHARE = 0.05
FLOOR_BYTES = 1024**3
"""The host keeps this much of its disk free, or `FLOOR_SHARE` of it where that is less."""
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
    limit. `files` is held while its tree is read.
    """

    def __init__(
        self,
        tree: Path,
        bounds: Bounds,
        alive: Callable[[], Sequence[Process]],
        stop: Callable[[str], Awaitable[None]],
        files: threading.Lock,
    ) -> None:
        self._tree, self._bounds = tree, bounds
        self._alive, self._stop, self._files = alive, stop, files
        self._storage = Storage(bounds.storage_mb, tree)
        self._looking = threading.Lock()
        self._tolerated = Usage(0, 0)
        self._held = Held(0, 0)
        self._restless = 0
        self._idle: tuple[Process, int] | None = None

    async def run(self) -> None:
        """Look until cancelled."""
        async with asyncio.TaskGroup() as looks:
            looks.create_task(self._keep(self.look_at_processes, PROCESSES_PERIOD_S, share=1.0))
            looks.create_task(self._keep(self.look_at_storage, STORAGE_PERIOD_S, share=SHARE))

    async def _keep(self, look: Callable[[], str | None], least_s: float, *, share: float) -> None:
        period = least_s
        while True:
            await asyncio.sleep(period)
            try:
                problem, cost = await to_thread.run_sync(_timed, look)
            except Exception as error:  # noqa: BLE001  whatever it is, an unwatched sandbox must not go on
                problem, cost = f"it can no longer be watched: {error!r}", 0.0
            if problem is not None:
                await self._stop(f"evalkit: stopped: {problem}")
            period = max(least_s, cost / share)

    def look_at_processes(self) -> str | None:
        """The limit on processes or memory that is broken, in words; None where all is well."""
        alive = self._alive()
        if len(alive) > self._bounds.pids:
            return f"more than {self._bounds.pids} processes"
        own = shared = 0
        for one in alive:
            sizes = resident_bytes(one.pid)
            own, shared = own + sizes[0], shared + sizes[1]
        # What is held by a descriptor may be mapped as well, so it is not added.
        if own + max(shared, self._held.memory) > self._bounds.memory_mb * _MB:
            return f"memory over the limit of {self._bounds.memory_mb} MB"
        return None

    async def frozen(self) -> str | None:
        """Why the next call may write no files; None where it may. Looks again where that is not sure."""
        self._idle = None  # a short call need not be seen in the shell's processor time
        if self._storage.unsure():
            with contextlib.suppress(OSError):  # which the next look of `run` makes a broken limit
                await finish(to_thread.run_sync(self._look_before_call))
        return self._storage.frozen

    def look_at_storage(self) -> str | None:
        """The limit on files that is broken, in words; None where all is well."""
        with self._looking:
            return self._look_at_storage()

    def _look_before_call(self) -> None:
        with self._looking:
            restless = self._restless
            self._look_at_storage()
            self._restless = min(restless, self._restless)  # what follows at once is no second chance

    def _look_at_storage(self) -> str | None:
        began = time.monotonic()
        alive = self._alive()
        if self._nothing_happened(alive):
            return None
        disk = os.statvfs(self._tree)
        if disk.f_bavail * disk.f_frsize < min(FLOOR_SHARE * disk.f_blocks * disk.f_frsize, FLOOR_BYTES):
            return "the machine's disk is almost full"
        with self._files:
            used = usage(self._tree)
        self._held = held_without_names(alive)
        if used is None:
            self._restless += 1
            return "its folders move faster than they can be counted" if self._restless > 1 else None
        self._restless = 0
        written = used.bytes + self._held.storage
        self._storage.seen(written, time.monotonic() - began)
        return self._judge(Usage(written, used.files))

    def _judge(self, used: Usage) -> str | None:
        """Who is over the limit may still tidy up: what was already complained about is tolerated until it
        grows.
        """
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

    def _nothing_happened(self, alive: Sequence[Process]) -> bool:
        """Whether there is only the shell, and it has not run since the last look."""
        if len(alive) > 1:
            self._idle = None
            return False
        if not alive:
            return True
        before, self._idle = self._idle, (alive[0], processor_ticks(alive[0].pid))
        return before == self._idle


def usage(tree: Path) -> Usage | None:
    """What a tree holds, however deep it is; None where it would not hold still."""
    size = files = 0
    root = os.open(tree, OPEN_FOLDER)
    try:
        for visit in walk(root, None, reopen=True):
            size += visit.stat.st_blocks * 512 // max(1, visit.stat.st_nlink)
            files += 1
    except TreeChanged:
        return None
    finally:
        os.close(root)
    return Usage(size, files)


def _timed(look: Callable[[], str | None]) -> tuple[str | None, float]:
    began = time.thread_time()
    return look(), time.thread_time() - began
