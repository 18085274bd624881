"""Does anybody still wait for an image, and how long may it take?"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Generator

from evalkit.errors import SandboxError

LONGEST_S = 3600.0


class Abandoned(Exception):
    """Nobody waits for the image any more."""


class Wish:
    """Somebody's wish for an image. Making it happens in a thread, giving it up may happen in any."""

    def __init__(self, longest_s: float | None = None) -> None:
        self._longest_s = LONGEST_S if longest_s is None else longest_s
        self._lock = threading.Lock()
        self._hang_up: Callable[[], None] | None = None
        self._given_up = self._expired = False

    @property
    def given_up(self) -> bool:
        """Whether nobody waits any more."""
        return self._given_up

    def give_up(self) -> None:
        """Wait no longer: what is under way ends at once."""
        with self._lock:
            self._given_up = True
            if self._hang_up is not None:
                self._hang_up()

    @contextlib.contextmanager
    def bounding(self, hang_up: Callable[[], None]) -> Generator[None]:
        """While inside, `hang_up` is called when the wish is given up, or its time is over.

        Raises Abandoned, and SandboxError for the time, whatever the work itself made of that.
        """
        with self._lock:
            self._hang_up = hang_up
        timer = threading.Timer(self._longest_s, self._expire)
        timer.daemon = True
        timer.start()
        try:
            self._check()
            yield
        except SandboxError:
            self._check()
            raise
        finally:
            timer.cancel()
            with self._lock:
                self._hang_up = None
        self._check()

    def _expire(self) -> None:
        with self._lock:
            if self._hang_up is not None:
                self._expired = True
                self._hang_up()

    def _check(self) -> None:
        if self._given_up:
            raise Abandoned from None
        if self._expired:
            raise SandboxError(
                f"it took longer than {self._longest_s:g} s",
                hint="Give it more time in task.toml ([environment] build_timeout_sec), or make it faster.",
            ) from None
