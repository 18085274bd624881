"""Which processes live in one sandbox, and how are they killed from outside?

Everything inside descends from the sandbox's own process 1, as the kernel hands orphans to it. Processes are
signalled through pidfds that are opened first and checked afterwards, so that a number that was reused
meanwhile never hits a stranger.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

_CONVERGE_S = 2.0
_QUIET_LOOKS = 3


@dataclass(frozen=True, slots=True, order=True)
class Process:
    """One process, ordered by when it started. Times are the kernel's clock ticks."""

    started: int
    pid: int


def process(pid: int) -> Process | None:
    """The living process with this number; None where there is none, or only its corpse."""
    fields = _stat(pid)
    if fields is None or fields[0] in "ZX":
        return None
    return Process(int(fields[19]), pid)


def children(pid: int) -> list[int]:
    """The process numbers of all children, of all threads."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):
                found += [int(child) for child in (thread / "children").read_text().split()]
    return found


def descendants(pid: int) -> list[Process]:
    """Everything alive below `pid`, without it."""
    found: list[Process] = []
    waiting = children(pid)
    seen = set(waiting)
    while waiting:
        child = waiting.pop()
        below = [one for one in children(child) if one not in seen]
        seen.update(below)
        waiting += below
        alive = process(child)
        if alive is not None:
            found.append(alive)
    return found


def kill_since(init: int, first: Process, *, spare: int) -> bool:
    """Kill everything below `init` that started with `first` or later, except `spare`.

    All are stopped before any is killed, so that none can start another. False where they multiply faster
    than they can be stopped; then only killing `init` helps.
    """
    deadline = time.monotonic() + _CONVERGE_S

    def rest() -> set[Process]:
        return {one for one in descendants(init) if one >= first and one.pid != spare}

    stopped: set[Process] = set()
    return _until_none(lambda: rest() - stopped, signal.SIGSTOP, stopped, deadline) and _until_none(
        rest, signal.SIGKILL, set(), deadline
    )


def kill_family(first: Process) -> None:
    """Kill one process and everything below it; it is stopped before, so that it starts no other meanwhile."""
    send(first, signal.SIGSTOP)
    if process(first.pid) == first:
        _until_none(
            lambda: set(descendants(first.pid)), signal.SIGKILL, set(), time.monotonic() + _CONVERGE_S
        )
    send(first, signal.SIGKILL)


def _until_none(
    find: Callable[[], set[Process]], number: signal.Signals, sent: set[Process], deadline: float
) -> bool:
    """Signal what is found until nothing is.

    One look can miss what changes its parent meanwhile, so look again.
    """
    quiet = 0
    while quiet < _QUIET_LOOKS:
        found = find()
        quiet = 0 if found else quiet + 1
        for one in found:
            send(one, number)
            sent.add(one)
        if time.monotonic() > deadline:
            return False
    return True


def send(target: Process, number: signal.Signals) -> None:
    """Signal exactly this process; nothing happens where it is gone."""
    try:
        handle = os.pidfd_open(target.pid)
    except OSError:
        return
    try:
        if process(target.pid) == target:
            signal.pidfd_send_signal(handle, number)
    except ProcessLookupError:
        pass
    finally:
        os.close(handle)


def processor_ticks(pid: int) -> int:
    """Processor time that a process has used, in the kernel's clock ticks; 0 where it is gone."""
    fields = _stat(pid)
    return 0 if fields is None else int(fields[11]) + int(fields[12])


def resident_bytes(pid: int) -> tuple[int, int]:
    """Memory that a process holds for itself, and that it shares, without mapped files; 0 where it is gone. Shared
    pages count for each process.
    """
    try:
        lines = Path(f"/proc/{pid}/status").read_text(errors="replace").splitlines()
    except OSError:
        return 0, 0
    held = dict(line.split()[:2] for line in lines if line.startswith(("RssAnon:", "RssShmem:")))
    return int(held.get("RssAnon:", 0)) * 1024, int(held.get("RssShmem:", 0)) * 1024


def _stat(pid: int) -> list[str] | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    return text.rpartition(")")[2].split()
