"""What does the kernel say of a process that may be hostile?"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from evalkit.sandbox.protocol import Running

COMMAND_BYTES = 4096
"""Kept of a command line, which may have megabytes."""
_DELETED = " (deleted)"
_SOCKET = "socket:["


def running(pid: int, proc: Path = Path("/proc")) -> Running | None:
    """The process with this number; None where there is none, or only its corpse.

    The program is the file that runs; where that may not be read, the name that the kernel gave when it was started,
    which the process can change.
    """
    folder = proc / str(pid)
    try:
        stat = (folder / "stat").read_bytes().decode("utf-8", "surrogateescape")
    except OSError:
        return None
    name, _, rest = stat.partition("(")[2].rpartition(")")
    fields = rest.split()
    if fields[0] in "ZX":
        return None
    with contextlib.suppress(OSError):
        name = str((folder / "exe").readlink()).removesuffix(_DELETED).rpartition("/")[2] or name
    started = int(fields[19]) / os.sysconf("SC_CLK_TCK")
    sockets = frozenset(sockets_of(pid, proc))
    return Running(pid, int(fields[1]), started, name, _command(folder) or name, sockets)


def sockets_of(pid: int, proc: Path = Path("/proc")) -> set[int]:
    """The inodes of the sockets that a process has open; empty where that may not be read."""
    found: set[int] = set()
    with contextlib.suppress(OSError):
        for one in (proc / str(pid) / "fd").iterdir():
            with contextlib.suppress(OSError, ValueError):
                target = str(one.readlink())
                if target.startswith(_SOCKET):
                    found.add(int(target[len(_SOCKET) : -1]))
    return found


def _command(folder: Path) -> str:
    try:
        with (folder / "cmdline").open("rb") as source:
            said = source.read(COMMAND_BYTES)
    except OSError:
        return ""
    return said.rstrip(b"\0").replace(b"\0", b" ").decode("utf-8", "surrogateescape").strip()
