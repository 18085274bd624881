"""Has a container written more than it may, does it still run, and does its engine still answer?

The engine bounds memory, processors and processes itself; few storage drivers can bound files, so their size is
looked at from time to time.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from anyio import to_thread

from evalkit.errors import SandboxError
from evalkit.sandbox.docker.answers import Look
from evalkit.sandbox.docker.engine import Engine
from evalkit.sandbox.storage import Storage

PERIOD_S = 1.0
STATE_PERIOD_S = 5.0
"""Whether the container runs is looked at this often also where its size costs more."""
SHARE = 0.05
"""Of the time, at most, is spent on looking at sizes: a large tree is looked at less often."""
FLOOR_SHARE = 0.05
FLOOR_BYTES = 1024**3
"""The engine's disk keeps this much free, or `FLOOR_SHARE` of it where that is less; files without a name, and other
sandboxes, fill it too."""
PAUSED_HINT = "It was paused from outside; the trial can be run again."
GONE_HINT = "Something outside killed it, removed it, or restarted its engine; the trial can be run again."
_MB = 1024 * 1024


class Watchdog:
    """Looks at one container for as long as it lives.

    `over` is called with a sentence when it has written too much, `lost` when it cannot be used any more, and `idle`
    after each look at one that is well.
    """

    def __init__(
        self,
        engine: Engine,
        container: str,
        storage_mb: int,
        *,
        over: Callable[[str], Awaitable[None]],
        lost: Callable[[SandboxError], None],
        idle: Callable[[], Awaitable[None]],
    ) -> None:
        self._engine, self._container = engine, container
        self._storage_mb = storage_mb
        self._storage = Storage(storage_mb, engine.version.data)
        self._looking = asyncio.Lock()
        self._over, self._lost, self._idle = over, lost, idle
        self._tolerated = 0

    async def run(self) -> None:
        """Look until cancelled, or until the container cannot be used any more."""
        left = PERIOD_S
        while True:
            pause = min(left, STATE_PERIOD_S)
            await asyncio.sleep(pause)
            left -= pause
            began = time.monotonic()
            try:
                look, over = await self._seen(size=left <= 0)
            except SandboxError as error:
                self._lost(error)
                return
            if look.state != "running":
                self._lost(unusable(self._container, look.state))
                return
            if left <= 0:
                left = max(PERIOD_S, (time.monotonic() - began) / SHARE)
                await self._judge(over)
            await self._idle()

    async def frozen(self) -> str | None:
        """Why the next call may write no files; None where it may. Looks again where that is not sure."""
        if self._storage.unsure():
            await self._seen(size=True)
        return self._storage.frozen

    async def _seen(self, *, size: bool) -> tuple[Look, bool]:
        """A look, and whether there is a new reason to complain about what was written."""
        async with self._looking:
            began = time.monotonic()
            look = await to_thread.run_sync(self._look, size, abandon_on_cancel=True)
            if not size or look.state != "running":
                return look, False
            self._storage.seen(look.written, time.monotonic() - began)
            return look, self.is_over(look.written)

    def _look(self, size: bool) -> Look:
        return self._engine.look(self._container, size=size)

    async def _judge(self, over: bool) -> None:
        if over:
            await self._over(f"evalkit: stopped: files over the limit of {self._storage_mb} MB")
        elif is_full(self._engine.version.data):
            await self._over("evalkit: stopped: the machine's disk is almost full")

    def is_over(self, written: int) -> bool:
        """Who is over the limit may still tidy up: what was complained about is tolerated until it grows."""
        limit = self._storage_mb * _MB
        over = written > max(limit, self._tolerated)
        self._tolerated = written if written > limit else 0
        return over


def unusable(container: str, state: str) -> SandboxError:
    """What it means that a container does not run."""
    if state == "paused":
        return SandboxError("the sandbox's container is paused", where=container, hint=PAUSED_HINT)
    return SandboxError("the sandbox's container is gone", where=container, hint=GONE_HINT)


def is_full(folder: Path | None) -> bool:
    """Whether the file system of a folder has too little room left; False where that cannot be found out."""
    if folder is None:
        return False
    try:
        disk = os.statvfs(folder)
    except OSError:
        return False
    room, whole = disk.f_bavail * disk.f_frsize, disk.f_blocks * disk.f_frsize
    return room < min(FLOOR_SHARE * whole, FLOOR_BYTES)
