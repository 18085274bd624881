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


def mark(folder: Path) -> str:
    """What stands on the command line of processes that run a sandbox with this scratch folder."""
    return _MARK.decode() + os.path.realpath(folder)


def end_orphans(base: Path, users: frozenset[int], is_alive: Callable[[Path], bool]) -> list[str]:
    """Kill the bubblewraps of `users` whose scratch folder lies in `base` and has no living owner; says which."""
    ended: dict[Process, str] = {}
    deadline = time.monotonic() + _GIVE_UP_S
    while time.monotonic() < deadline:
        found = {one: folder for one, folder in _marked(base, users).items() if not is_alive(folder)}
        if not found:
            break
        for one, folder in found.items():
            send(one, signal.SIGKILL)
            ended[one] = f"process {one.pid} of the sandbox in {folder}"
        time.sleep(0.01)
    return list(ended.values())


def _marked(base: Path, users: frozenset[int]) -> dict[Process, Path]:
    home, found = os.path.realpath(base), dict[Process, Path]()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            alive = process(int(entry.name))
            if alive is None or _user(entry) not in users:
                continue
            last = (entry / "cmdline").read_bytes().rstrip(b"\0").rpartition(b"\0")[2]
        except OSError:
            continue
        folder = Path(os.fsdecode(last.removeprefix(_MARK)))
        if last.startswith(_MARK) and str(folder.parent) == home:
            found[alive] = base / folder.name
    return found


def _user(entry: Path) -> int | None:
    for line in (entry / "status").read_text(errors="replace").splitlines():
        if line.startswith("Uid:"):
            return int(line.split()[1])
    return None
