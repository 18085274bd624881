"""What happens when a command is interrupted, once and then again?

The first Ctrl-C (SIGINT, and SIGTERM and SIGHUP count as one) ends the work in order: Python raises it where the work
is, and what is in flight is kept. The second ends the process at once, whatever it is busy with; what it was writing is
recovered by the next command that opens the run.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import struct
import sys
import threading
import time
from collections.abc import Generator, Sequence
from pathlib import Path
from types import FrameType
from typing import NoReturn, Self

CODE = 130
_SAYS_WHO = hasattr(socket, "SO_PASSCRED")
_WHO = struct.Struct("3i")
"""Process, user and group of who wrote to a socket."""
_SHOW_CURSOR = "\x1b[?25h"
_ONE_GESTURE_S = 1.0
"""Within this time, what a closing terminal or a supervisor sends more than once counts as one."""


class Interrupted(Exception):
    """The work was interrupted. No KeyboardInterrupt, which Typer would answer in its own ways."""


class ReaderGone(Exception):
    """Whoever read the output has gone."""


class Interrupts:
    """Hears every interrupt in a thread of its own, which needs nothing of what the main thread is busy with."""

    def __init__(self) -> None:
        self.count = 0
        self._run: Path | None = None
        self._ends: tuple[socket.socket, socket.socket] | None = None
        self._before = -1
        self._politely_at = 0.0
        self._taken: list[int] = []
        self._unraisable = sys.unraisablehook

    def __enter__(self) -> Self:
        if threading.current_thread() is not threading.main_thread():
            return self
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) == signal.SIG_DFL:  # under nohup it is ignored, and stays so
                signal.signal(number, self._as_interrupt)
                self._taken.append(number)
        self._unraisable, sys.unraisablehook = sys.unraisablehook, self._on_unraisable
        read, write = self._ends = socket.socketpair()
        write.setblocking(False)
        if _SAYS_WHO:
            read.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self._before = signal.set_wakeup_fd(write.fileno(), warn_on_full_buffer=False)
        threading.Thread(target=self._hear, args=(read,), name="evalkit-interrupts", daemon=True).start()
        return self

    def __exit__(self, *_exception: object) -> None:
        if self._ends is None:
            return
        sys.unraisablehook = self._unraisable
        signal.set_wakeup_fd(self._before)
        for number in self._taken:
            signal.signal(number, signal.SIG_DFL)
        _, write = self._ends
        self._ends = None
        write.close()  # its other end is closed by the thread that reads it

    @contextlib.contextmanager
    def of(self, run: Path) -> Generator[None, None, None]:
        """While a run is written: name it where an interrupt ends the process."""
        self._run = run
        try:
            yield
        finally:
            self._run = None

    def _hear(self, read: socket.socket) -> None:
        with read:
            while True:
                number, said, _, _ = read.recvmsg(1, socket.CMSG_SPACE(_WHO.size))
                if not number:
                    return
                if number[0] == signal.SIGINT and _is_our_own(said):
                    self._heard()

    def _heard(self) -> None:
        self.count += 1
        if self.count == 1 and self._run is not None:
            _say(
                "interrupted: keeping what is in flight, and removing its sandboxes. Once more stops at once."
            )
        elif self.count > 1:
            hint = "" if self._run is None else f"; go on with: evalkit resume {self._run}"
            _say(f"stopped at once{hint}")
            end_at_once(CODE)

    def _on_unraisable(self, unraisable: sys.UnraisableHookArgs) -> None:
        if not _is_half_made_loop(unraisable):
            self._unraisable(unraisable)

    def _as_interrupt(self, number: int, frame: FrameType | None) -> None:
        """A cancelled CI job or a closed terminal ends a run as cleanly as Ctrl-C does."""
        del number, frame
        if time.monotonic() - self._politely_at < _ONE_GESTURE_S:
            return
        self._politely_at = time.monotonic()
        if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # in the background of a shell script
            signal.signal(signal.SIGINT, signal.default_int_handler)
        os.kill(os.getpid(), signal.SIGINT)


def _is_half_made_loop(unraisable: sys.UnraisableHookArgs) -> bool:
    """Whether an event loop could not be closed because an interrupt came while it was being made: there is nothing
    to close, and nobody to be told.
    """
    return (
        getattr(unraisable.object, "__qualname__", "") == "BaseEventLoop.__del__"
        and unraisable.exc_type is AttributeError
    )


def _is_our_own(said: Sequence[tuple[int, int, bytes]]) -> bool:
    """Whether this process heard the signal.

    Ctrl-C goes to all processes of the terminal, and one that was forked a moment ago is still a copy of this one.
    """
    return not _SAYS_WHO or any(_WHO.unpack(who)[0] == os.getpid() for _, _, who in said)


def end_at_once(code: int) -> NoReturn:
    """End without waiting for threads, which may be in the middle of something that takes long."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    if sys.__stderr__ is not None and sys.__stderr__.isatty():
        os.write(sys.__stderr__.fileno(), _SHOW_CURSOR.encode())
    os._exit(code)


def _say(text: str) -> None:
    """Past all buffers and locks, which the main thread may hold."""
    with contextlib.suppress(OSError):
        os.write(2, f"evalkit: {text}\n".encode("utf-8", "backslashreplace"))
