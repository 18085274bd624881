"""What does a fault do that is real and lasts: a disk that is full, a process that is dead?

It strikes at a call, and from then on whatever call runs into it shows it. `times` bounds how often a process is
killed, and how many calls may find a disk full before the space is given back.
"""

from __future__ import annotations

from typing import Protocol

from evalkit.engine.faults.dead_process import DeadProcess
from evalkit.engine.faults.full_disk import DISK_BYTES, FullDisk
from evalkit.engine.faults.site import Aside, Site
from evalkit.sandbox.protocol import Disk, ExecResult
from evalkit.tasks.faults import Fault


class Lasting(Protocol):
    """A fault that is real."""

    @property
    def aside(self) -> Aside:
        """What its own commands have heard that belongs to the agent's next call."""
        ...

    async def before(self, site: Site, *, due: bool) -> None:
        """Before a call runs; `due`: it is one that is to be struck."""
        ...

    async def shows(self, site: Site, result: ExecResult) -> bool:
        """Right after a call has run: whether it has met the fault, and the model can see that."""
        ...

    async def after(self, site: Site, *, due: bool) -> bool:
        """After that. Whether the fault has begun, or begun again, with this call."""
        ...

    async def end(self, site: Site) -> None:
        """Put right what can be put right; does nothing where nothing is wrong."""
        ...

    @property
    def failed(self) -> str:
        """Why it has not begun, or was not seen."""
        ...


def lasting(fault: Fault) -> Lasting | None:
    """What such a fault does; None for a fault of another kind."""
    if fault.kind == "disk_full":
        return FullDisk(fault.path or "/")
    if fault.kind == "process_killed":
        return DeadProcess(fault.process or "")
    return None


def disks(fault: Fault | None) -> tuple[Disk, ...]:
    """The small disks that a trial's sandbox starts with."""
    if fault is None or fault.path is None:
        return ()
    return (Disk(fault.path, DISK_BYTES),)
