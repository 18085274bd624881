"""Which process writes a run, and is it still alive?"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import socket
from collections.abc import Generator
from dataclasses import asdict, dataclass
from pathlib import Path

from evalkit.errors import UsageError
from evalkit.trajectory.atomic import write_text
from evalkit.trajectory.folder import open_file
from evalkit.trajectory.layout import owner_file

_LONGEST = 64 * 1024
_PIDS = 2**31


@dataclass(frozen=True, slots=True)
class Owner:
    """A process, told apart from a later one with the same number by when it started."""

    pid: int
    started: str | None
    """Boot and clock tick of the start; None where the system does not say."""
    host: str

    def is_alive(self) -> bool:
        """False only where it is certain: a process of another host counts as alive."""
        if self.host != socket.gethostname():
            return True
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            pass  # it exists, and is someone else's
        now = _start_of(self.pid)
        return self.started is None or now is None or self.started == now


def this_process() -> Owner:
    """The owner that a run gets when this process writes it."""
    return Owner(pid=os.getpid(), started=_start_of(os.getpid()), host=socket.gethostname())


def read_owner(run: Path) -> Owner | None:
    """Who owns the run; None for nobody, and for a file that was cut off or says nothing that can be.

    Raises ConfigError for what is no regular file.
    """
    try:
        with open_file(owner_file(run)) as source:
            raw: object = json.loads(source.read(_LONGEST))
    except (FileNotFoundError, ValueError, RecursionError):
        return None
    match raw:
        case {"pid": int(pid), "started": str() | None as started, "host": str(host)} if (
            type(pid) is int and 0 < pid < _PIDS
        ):
            return Owner(pid=pid, started=started, host=host)
        case _:
            return None


def claim(run: Path) -> None:
    """Make this process the owner. Call within `exclusive`. Raises UsageError while another one lives."""
    owner = read_owner(run)
    if owner is not None and owner.is_alive():
        raise UsageError(
            f"process {owner.pid} on {owner.host} is writing this run",
            where=str(run),
            hint=f"Wait for it, or if it is surely gone: rm {owner_file(run)}",
        )
    write_text(owner_file(run), json.dumps(asdict(this_process())))


def release(run: Path) -> None:
    """Make the run nobody's."""
    owner_file(run).unlink(missing_ok=True)


@contextlib.contextmanager
def exclusive(run: Path) -> Generator[None, None, None]:
    """Hold off other processes of this host that would claim or recover the run."""
    folder = os.open(run, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def _start_of(pid: int) -> str | None:
    """Linux only: the boot's id and the process's start in clock ticks since then."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return None
    # The second field is the program's name in brackets, and may hold spaces and brackets itself.
    state, *fields = stat.rpartition(")")[2].split()
    return f"{boot}:{'ended' if state == 'Z' else fields[18]}"
