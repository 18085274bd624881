"""Which planned trials of a run have no row, and why?"""

from __future__ import annotations

import os
import shlex
import socket
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from evalkit.errors import EvalkitError
from evalkit.trajectory.locate import is_remote
from evalkit.trajectory.manifest import PlannedRow
from evalkit.trajectory.owner import read_owner


class Told(Protocol):
    """A trial, by the row of the plan that it is of."""

    @property
    def suite(self) -> str: ...
    @property
    def task_id(self) -> str: ...
    @property
    def variant(self) -> str: ...
    @property
    def epoch(self) -> int: ...
    @property
    def agent(self) -> str: ...


def missing(planned: Iterable[PlannedRow], trials: Iterable[Told]) -> int:
    """How many planned rows have no trial; 0 for a run without a plan, such as an imported one."""
    there = {_key(trial) for trial in trials}
    return len({_key(row) for row in planned} - there)


def why_missing(path: str) -> str:
    """Whether somebody still writes the run; of a remote one that is not known."""
    if is_remote(path):
        return "not begun, or still running"
    try:
        owner = read_owner(Path(path))
    except EvalkitError:  # what is in its place is no file that a run has; the rows are shown all the same
        owner = None
    if owner is None or owner.pid == os.getpid() or not owner.is_alive():
        return f"the run was cut short; go on with: evalkit resume {shlex.quote(path)}"
    elsewhere = "" if owner.host == socket.gethostname() else f" on {owner.host}"
    return f"the run is still being run by process {owner.pid}{elsewhere}"


def _key(row: Told) -> tuple[str, str, str, int, str]:
    return (row.suite, row.task_id, row.variant, row.epoch, row.agent)
