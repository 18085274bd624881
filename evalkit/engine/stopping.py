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
        """Stop at the first interrupt in this block, and raise KeyboardInterrupt at a second SIGINT.

        Nothing happens outside the main thread, and where somebody else answers to SIGINT.
        """
        before = {number: signal.getsignal(number) for number in _interrupts()}
        for number in before:
            signal.signal(number, self._ask)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

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
        del frame
        if self.asked and number == signal.SIGINT:
            raise KeyboardInterrupt
        self.asked = True
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._cancel)

    def _cancel(self) -> None:
        for scope in self._scopes:
            scope.cancel()


def _interrupts() -> tuple[signal.Signals, ...]:
    """The signals that interrupt a run.

    In the background of a shell script SIGINT is ignored, and stays so; others may count as one then.
    """
    if threading.current_thread() is not threading.main_thread():
        return ()
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:
        return (signal.SIGINT,)
    if handler == signal.SIG_IGN:
        return tuple(one for one in (signal.SIGTERM, signal.SIGHUP) if callable(signal.getsignal(one)))
    return ()
