"""What lives and listens in a container, seen from outside as far as the engine's machine is this one?

Here the kernel is asked, which nothing inside can deceive. Of an engine elsewhere, or a runtime with a kernel of its
own, the engine lists the processes (Podman by the image's own `ps`), and the container's first process reads the tables
of its sockets.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from evalkit.sandbox import sockets
from evalkit.sandbox.docker.answers import Anatomy
from evalkit.sandbox.docker.engine import Engine
from evalkit.sandbox.protocol import Listening, Running
from evalkit.sandbox.running import running

PROC = Path("/proc")
COLUMNS = "pid,ppid,s,lstart,args"
_ORDINARY = ("", "oci", "runc", "crun", "io.containerd.runc")
"""How the names of runtimes begin whose containers are processes of the machine's own kernel."""
_STARTED = re.compile(r"(\w{3} +\d+ \d+:\d\d:\d\d \d{4}) ?(.*)", re.DOTALL)


def is_here(found: Anatomy) -> bool:
    """Whether this machine's kernel runs the container, and says so."""
    ordinary = any(found.runtime == name or (name and found.runtime.startswith(name)) for name in _ORDINARY)
    return ordinary and found.first > 0 and bool(_groups(found))


def processes(engine: Engine, container: str) -> tuple[Running, ...]:
    """Everything alive but process 1 and the kept shells, oldest first."""
    anatomy = engine.anatomy(container)
    if is_here(anatomy):
        found = [one for one in map(running, members(anatomy)) if one is not None]
    else:
        found = told_by_engine(engine, container)
    own = {anatomy.first, *anatomy.shells}
    return tuple(sorted((one for one in found if one.pid not in own), key=lambda one: (one.started, one.pid)))


def told_by_engine(engine: Engine, container: str) -> list[Running]:
    """What lives by the word of the engine, which has no file names: a process can change the name that it shows."""
    found: list[Running] = []
    for row in engine.top(container, COLUMNS):
        said = _STARTED.fullmatch(row[4]) if len(row) == 5 else None
        if said is None or row[2] in "ZX":
            continue
        started = datetime.strptime(said[1], "%b %d %H:%M:%S %Y").replace(tzinfo=UTC)
        name = (said[2].split() or ["?"])[0].rpartition("/")[2]
        found.append(Running(int(row[0]), int(row[1]), started.timestamp(), name, said[2]))
    return found


def tables(engine: Engine, container: str) -> Mapping[str, str] | None:
    """The kernel's tables of a container's sockets; None where they cannot be read from outside."""
    anatomy = engine.anatomy(container)
    with contextlib.suppress(OSError):
        if is_here(anatomy):
            return sockets.tables(PROC / str(anatomy.first) / "net")
    return None


def listeners(outside: Mapping[str, str] | None, inside: Mapping[str, str]) -> tuple[Listening, ...]:
    """Every socket that waits, by the tables from outside, or where there are none by those read inside."""
    return sockets.listening(inside if outside is None else outside, inside=outside is None)


def members(container: Anatomy) -> list[int]:
    """The numbers of all processes in the container's control group, which nothing inside can leave."""
    groups = _groups(container)
    return [
        int(one.name)
        for one in PROC.iterdir()
        if one.name.isdigit()
        and any(line == group or line.startswith(f"{group}/") for line in _lines(one) for group in groups)
    ]


def _groups(container: Anatomy) -> list[str]:
    """Those of process 1 that are the container's own; none where that process is not this machine's."""
    return [line for line in _lines(PROC / str(container.first)) if container.id in line]


def _lines(process: Path) -> list[str]:
    try:
        return (process / "cgroup").read_text(errors="replace").splitlines()
    except OSError:
        return []
