"""Which processes did delivered programs leave behind, and how do they end?"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from pathlib import Path


def end_descendants() -> None:
    """Nothing that the agent's code started may live on and rewrite the verdict."""
    for _ in range(200):
        left = _descendants()
        if not left:
            return
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.01)
    sys.exit("processes started by the deliverables cannot be ended")


def _descendants() -> set[int]:
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it ended meanwhile
            parents[int(stat.parent.name)] = int(
                stat.read_text(errors="replace").rpartition(")")[2].split()[1]
            )
    found, grown = {os.getpid()}, True
    while grown:
        grown = {pid for pid, parent in parents.items() if parent in found} - found
        found |= grown
    return found - {os.getpid()}
