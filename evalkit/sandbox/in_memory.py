"""What lies in a running sandbox's file systems that are in memory, which no folder of the machine holds?

The kernel shows them below /proc/PID/root, to who may look into that process: to root, and to the user who started a
local sandbox. Nobody else sees them.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable
from pathlib import Path

from evalkit.errors import SandboxError
from evalkit.sandbox.protocol import Entry
from evalkit.sandbox.snapshot import snapshot
from evalkit.sandbox.walk import OPEN_FOLDER

_TYPES = frozenset({"tmpfs", "ramfs", "mqueue", "hugetlbfs"})
_ESCAPED = re.compile(rb"\\([0-7]{3})")


def entries_in_memory(pid: int, owner_of: Callable[[int], int]) -> dict[str, Entry]:
    """Every path in them that a process can write to; without what cannot be seen, or does not hold still."""
    found: dict[str, Entry] = {}
    for path in _places(pid):
        with contextlib.suppress(OSError, SandboxError):
            found.update(_below(pid, path, owner_of))
    return found


def _places(pid: int) -> list[str]:
    try:
        lines = Path(f"/proc/{pid}/mounts").read_bytes().split(b"\n")
    except OSError:
        return []
    rows = [line.split(b" ") for line in lines]
    named = [
        _ESCAPED.sub(lambda found: bytes([int(found[1], 8)]), row[1])
        for row in rows
        if len(row) > 3 and os.fsdecode(row[2]) in _TYPES and b"rw" in row[3].split(b",")
    ]
    return [name.decode("utf-8", "surrogateescape") for name in named]


def _below(pid: int, path: str, owner_of: Callable[[int], int]) -> dict[str, Entry]:
    # Name by name: a link that the sandbox made would lead into the machine's own files.
    folder = os.open(Path(f"/proc/{pid}/root"), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in filter(None, path.split("/")):
            deeper = os.open(name, OPEN_FOLDER, dir_fd=folder)
            os.close(folder)
            folder = deeper
        device = os.fstat(folder).st_dev
        return snapshot(folder, owner_of, path=path, skip=lambda status: status.st_dev != device)
    finally:
        os.close(folder)
