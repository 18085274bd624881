"""Which processes have evalkit processes that are gone left on this machine?

A sandbox dies with its owner, but an owner that is killed while bubblewrap starts can leave a bubblewrap behind
that waits for ever. So every sandbox's folder stands on the command line of its bubblewrap.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from evalkit.sandbox.local.processes import Process, process, send

_MARK = b"evalkit:"
_GIVE_UP_S = 2.0
_QUIET_LOOKS = 2
"""One look can miss what starts meanwhile."""


def mark(folder: Path) -> str:
    """What stands on the command line of processes that run a sandbox with this scratch folder."""
    return _MARK.decode() + os.path.realpath(folder)


def end_orphans(base: Path, users: frozenset[int], is_alive: Callable[[Path], bool]) -> list[str]:
    """Kill the bubblewraps of `users` whose scratch folder lies in `base` and has no living owner; says which."""
    ended: dict[Process, str] = {}
    deadline = time.monotonic() + _GIVE_UP_S
    quiet = 0
    while quiet < _QUIET_LOOKS and time.monotonic() < deadline:
        marked, nameless = _looked(base, users)
        found = {one: folder for one, folder in marked.items() if not is_alive(folder)}
        quiet = 0 if found or nameless else quiet + 1
        for one, folder in found.items():
            send(one, signal.SIGKILL)
            ended[one] = f"process {one.pid} of the sandbox in {folder}"
        time.sleep(0.01)
    return list(ended.values())


def _looked(base: Path, users: frozenset[int]) -> tuple[dict[Process, Path], bool]:
    """What is marked, and whether there is a bubblewrap that has no command line yet."""
    home, found, nameless = os.path.realpath(base), dict[Process, Path](), False
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            alive = process(int(entry.name))
            if alive is None or _user(entry) not in users:
                continue
            last = (entry / "cmdline").read_bytes().rstrip(b"\0").rpartition(b"\0")[2]
            if not last and (entry / "exe").readlink().name == "bwrap":
                nameless = True
        except OSError:
            continue
        folder = Path(os.fsdecode(last.removeprefix(_MARK)))
        if last.startswith(_MARK) and str(folder.parent) == home:
            found[alive] = base / folder.name
    return found, nameless


def _user(entry: Path) -> int | None:
    for line in (entry / "status").read_text(errors="replace").splitlines():
        if line.startswith("Uid:"):
            return int(line.split()[1])
    return None
