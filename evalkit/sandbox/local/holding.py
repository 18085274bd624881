"""How much do processes hold that no path leads to?

A file without a name stays on disk, or in memory, for as long as a process has it open.
"""

from __future__ import annotations

import contextlib
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from evalkit.sandbox.local.processes import Process


@dataclass(frozen=True, slots=True)
class Held:
    """Bytes of open files without a name: on disk, and in memory (memfd)."""

    storage: int
    memory: int


def held_without_names(processes: Iterable[Process]) -> Held:
    """What these processes hold, each file counted once."""
    found: dict[tuple[int, int], tuple[bool, int]] = {}
    for one in processes:
        with contextlib.suppress(OSError):  # it has ended
            for descriptor in Path(f"/proc/{one.pid}/fd").iterdir():
                with contextlib.suppress(OSError):
                    status = descriptor.stat()
                    if stat.S_ISREG(status.st_mode) and status.st_nlink == 0:
                        in_memory = str(descriptor.readlink()).startswith("/memfd:")
                        found[status.st_dev, status.st_ino] = in_memory, status.st_blocks * 512
    memory = sum(size for in_memory, size in found.values() if in_memory)
    return Held(sum(size for _, size in found.values()) - memory, memory)
