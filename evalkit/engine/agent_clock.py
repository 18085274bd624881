"""How much of its time has an agent left, when what it waits for is not its doing?

The clock stands still while a call waits to be sent and while one is tried again, because an endpoint that is busy or
down says nothing about the agent.
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator
from contextlib import contextmanager

import anyio


class AgentClock:
    """A time limit that can be stopped and gone on with. None: no limit."""

    def __init__(self, seconds: float | None) -> None:
        self._limit = math.inf if seconds is None else seconds
        self._scope: anyio.CancelScope | None = None
        self._stopped_at: float | None = None
        self.excused_s = 0.0
        """How long it has stood still so far, in seconds."""
        self.expired = False
        """Whether the limit has ended what ran under it."""

    @contextmanager
    def running(self) -> Generator[None]:
        """What runs inside is cancelled, quietly, when the agent's own time is over."""
        with anyio.CancelScope(deadline=anyio.current_time() + self._limit) as scope:
            self._scope = scope
            try:
                yield
            finally:
                self.go_on()
                self._scope = None
        self.expired = scope.cancelled_caught

    @contextmanager
    def standing_still(self) -> Generator[None]:
        """What goes by inside is not the agent's time."""
        if self._stopped_at is not None:  # whoever has stopped it lets it go on
            yield
            return
        self.stop()
        try:
            yield
        finally:
            self.go_on()

    @contextmanager
    def measuring(self) -> Generator[None]:
        """What goes by inside is nobody's time: not the agent's, and nothing that it is excused."""
        before = self.excused_s
        try:
            with self.standing_still():
                yield
        finally:
            if self._stopped_at is None:
                self.excused_s = before

    def stop(self, *, for_s: float = 0.0) -> None:
        """Stand still from now on, or as if since so many seconds ago. Twice is once."""
        if self._stopped_at is None:
            self._stopped_at = time.perf_counter() - for_s
            if self._scope is not None:
                self._scope.deadline += _LONG

    def go_on(self) -> None:
        """Go on. Once is enough, twice does no harm."""
        if self._stopped_at is None:
            return
        lost = time.perf_counter() - self._stopped_at
        self._stopped_at = None
        self.excused_s += lost
        if self._scope is not None:
            self._scope.deadline += lost - _LONG


_LONG = 1e9
"""Seconds by which a deadline is put off while the clock stands still; it stays a number that can be taken back."""
