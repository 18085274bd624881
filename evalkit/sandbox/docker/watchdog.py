"""Has a container written more than it may, and does its engine still answer?

The engine bounds memory, processors and processes itself; few storage drivers can bound files, so their size is
looked at from time to time.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from anyio import to_thread

from evalkit.errors import SandboxError
from evalkit.sandbox.docker.engine import Engine

PERIOD_S = 1.0
SHARE = 0.05
"""Of the time, at most, is spent on looking: a large tree is looked at less often."""
_MB = 1024 * 1024


class Watchdog:
    """Looks at one container for as long as it lives."""

    def __init__(
        self,
        engine: Engine,
        container: str,
        storage_mb: int,
        over: Callable[[str], Awaitable[None]],
        lost: Callable[[SandboxError], None],
    ) -> None:
        self._engine, self._container = engine, container
        self._storage_mb = storage_mb
        self._over, self._lost = over, lost
        self._tolerated = 0

    async def run(self) -> None:
        """Look until cancelled, or until the engine does not answer."""
        period = PERIOD_S
        while True:
            await asyncio.sleep(period)
            began = time.monotonic()
            try:
                written = await to_thread.run_sync(
                    self._engine.written_bytes, self._container, abandon_on_cancel=True
                )
            except SandboxError as error:
                self._lost(error)
                return
            period = max(PERIOD_S, (time.monotonic() - began) / SHARE)
            if self.is_over(written):
                await self._over(f"evalkit: stopped: files over the limit of {self._storage_mb} MB")

    def is_over(self, written: int) -> bool:
        """Who is over the limit may still tidy up: what was complained about is tolerated until it grows."""
        limit = self._storage_mb * _MB
        over = written > max(limit, self._tolerated)
        self._tolerated = written if written > limit else 0
        return over
