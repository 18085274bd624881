"""Does the engine still answer, whatever it is busy with?

Some calls take long for good reasons, so their silence says nothing. While one is waited for, the engine is asked from
time to time for something that costs it nothing; where that is not answered, all who wait stop waiting.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
import time
from collections.abc import Callable, Generator

from evalkit.errors import SandboxError
from evalkit.sandbox.docker.complaint import EngineSilent, Refused

PERIOD_S = 3.0
ANSWER_S = 12.0
"""An engine whose machine is busy may be slow; together with the period this bounds how long silence is unnoticed."""


class Pulse:
    """Watches the calls that one client makes. `ask` raises SandboxError after so many seconds without an answer."""

    def __init__(self, ask: Callable[[float], None], cut: Callable[[], None]) -> None:
        self._ask, self._cut = ask, cut
        self._lock = threading.Lock()
        self._calls: dict[int, float] = {}
        self._numbers = itertools.count()
        self._thread: threading.Thread | None = None
        self._over = threading.Event()
        self.cut_at = float("-inf")
        """When the engine was last found silent, by the monotonic clock."""

    @contextlib.contextmanager
    def watched(self) -> Generator[None]:
        """Watch while inside. Raises EngineSilent where that was cut short."""
        began = time.monotonic()
        number = next(self._numbers)
        with self._lock:
            self._calls[number] = began
            if self._thread is None:
                self._over.clear()
                self._thread = threading.Thread(target=self._run, name="evalkit-pulse", daemon=True)
                self._thread.start()
        try:
            yield
        except Refused:
            raise
        except SandboxError as error:
            if self.cut_at >= began:
                raise EngineSilent from error
            raise
        finally:
            with self._lock:
                del self._calls[number]

    def close(self) -> None:
        """Stop watching, until the next call."""
        with self._lock:
            thread, self._thread = self._thread, None
            self._over.set()
        if thread is not None and thread is not threading.current_thread():
            thread.join(ANSWER_S)

    def _run(self) -> None:
        while not self._over.wait(PERIOD_S):
            with self._lock:
                oldest = min(self._calls.values(), default=None)
            if oldest is None or time.monotonic() - oldest < PERIOD_S:
                continue
            try:
                self._ask(ANSWER_S)
            except SandboxError:
                self.cut_at = time.monotonic()
                self._cut()
