"""May the next call write files, or has the sandbox more than it may have?

Ending the call that crossed the limit keeps no other call from writing on. So while a sandbox is over its limit, calls
may read, move and remove, but not write.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

SHARE = 0.05
"""Of the time, at most, is spent on looking before calls."""
QUICK_S = 0.1
"""Where a look takes longer no call waits for one, unless there is a reason."""
_MB = 1024 * 1024


class Storage:
    """What the last look at a sandbox's files said. `folder` is on the disk that they are on, where that is known."""

    def __init__(self, limit_mb: int, folder: Path | None) -> None:
        self._limit_mb, self._folder = limit_mb, folder
        self._room = self._free()
        self._seen_at, self._cost_s = time.monotonic(), 0.0
        self.full = False
        """Whether the last look found more than the limit."""

    def seen(self, written: int, cost_s: float) -> None:
        """What a look has found, in bytes, and how long it took."""
        self.full = written > self._limit_mb * _MB
        self._room = self._free()
        self._seen_at, self._cost_s = time.monotonic(), cost_s

    def unsure(self) -> bool:
        """Whether a look is due before the next call: files may have been removed, looking costs next to nothing, or
        the disk has lost a quarter of the limit since the last look, which short calls can do between two of them.
        """
        if self.full or self._cost_s < min(QUICK_S, SHARE * (time.monotonic() - self._seen_at)):
            return True
        free = self._free()
        return self._room is not None and free is not None and self._room - free > self._limit_mb * _MB // 4

    @property
    def frozen(self) -> str | None:
        """What a call that wants to write is told; None where it may."""
        if not self.full:
            return None
        limit = f"the limit of {self._limit_mb} MB"
        return f"evalkit: files are over {limit}; nothing can be written until some are removed"

    def _free(self) -> int | None:
        if self._folder is None:
            return None
        try:
            disk = os.statvfs(self._folder)
        except OSError:
            return None
        return disk.f_bfree * disk.f_frsize
