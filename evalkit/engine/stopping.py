"""How do trials in flight end when their run is interrupted?"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

import anyio


class Stopping:
    """Whether the run is to stop. The trials end then, and what runs them goes on to its own end.

    Cancelling the whole event loop instead, as asyncio does, ends in as many ways as there are places where it
    strikes, and in some of them in none.
    """

    def __init__(self) -> None:
        self.asked = False
        self._scopes: set[anyio.CancelScope] = set()
        self._loop: asyncio.AbstractEventLoop | None = None

    @contextmanager
    def on_interrupt(self) -> Generator[None]:
        """Stop at the first SIGINT in this block, and raise KeyboardInterrupt at the second.

        Nothing happens outside the main thread, and where somebody else answers to SIGINT.
        """
        main = threading.current_thread() is threading.main_thread()
        if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            yield
            return
        signal.signal(signal.SIGINT, self._ask)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    @contextmanager
    def trial(self) -> Generator[None]:
        """A block that is left as soon as the run is to stop."""
        self._loop = asyncio.get_running_loop()
        with anyio.CancelScope() as scope:
            self._scopes.add(scope)
            try:
                yield
            finally:
                self._scopes.discard(scope)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._cancel)

    def _cancel(self) -> None:
        for scope in self._scopes:
            scope.cancel()
