"""What does this machine have to give, and how busy is it right now?

Read from /proc, and from the control groups that this process is in (version 1 or 2), because in a container the
machine's own figures promise more than the container may use. What cannot be read is None.
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

ROOT = Path("/")
_NO_LIMIT = 2**62
"""What version 1 shows, or a little less, where a group has no limit of its own."""


@dataclass(frozen=True, slots=True)
class Machine:
    """What sandboxes on this machine share."""

    processors: int
    memory_bytes: int | None
    """In all, whoever uses it now."""
    open_files: int
    """How many files this process may have open."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One look at the machine."""

    busy: float | None
    """Share of the processors' time that was used since the look before, 0 to 1; None at the first look."""
    free_bytes: int | None
    """Memory that can be had without swapping."""


def this_machine(*, own_limits: bool, root: Path = ROOT) -> Machine:
    """What there is in all.

    Without `own_limits` the memory limit of this process does not count: containers of an engine lie outside it.
    """
    total = _meminfo(root, "MemTotal")
    limits = [limit for limit, _ in _memory_groups(root)] if own_limits else []
    return Machine(
        processors=_processors(root),
        memory_bytes=min([*limits, *([total] if total is not None else [])], default=None),
        open_files=resource.getrlimit(resource.RLIMIT_NOFILE)[0],
    )


class Meter:
    """Looks at the machine from time to time; one look takes well under a millisecond."""

    def __init__(self, *, own_limits: bool, root: Path = ROOT) -> None:
        self._root, self._own_limits = root, own_limits
        self._quota = _quota(root)
        self._before: tuple[float, _Spent] | None = None

    def read(self) -> Reading:
        """The state now. `busy` is the highest of the processors, this process's share of one of them, because it
        cannot use a second, and what its control group used of its quota.
        """
        return Reading(self._busy(), self.free_bytes())

    def free_bytes(self) -> int | None:
        """Memory that can be had without swapping; None where it cannot be known."""
        available = _meminfo(self._root, "MemAvailable")
        known = [] if available is None else [available]
        if self._own_limits:
            known += [max(0, limit - used) for limit, used in _memory_groups(self._root)]
        return min(known, default=None)

    def _busy(self) -> float | None:
        at, spent = time.monotonic(), _spent(self._root)
        before, self._before = self._before, (at, spent)
        if before is None or at <= before[0]:
            return None
        seconds, then = at - before[0], before[1]
        shares = [(spent.own - then.own) / seconds]
        if spent.total > then.total:
            shares.append((spent.used - then.used) / (spent.total - then.total))
        elif not spent.total:
            shares.append(os.getloadavg()[0] / _processors(self._root))
        if self._quota is not None and spent.group is not None and then.group is not None:
            shares.append((spent.group - then.group) / seconds / self._quota)
        return min(1.0, max(0.0, *shares))


@dataclass(frozen=True, slots=True)
class _Spent:
    """Processor time up to now: of this process and its control group in seconds, of the processors in ticks."""

    own: float
    used: int
    total: int
    group: float | None


def _spent(root: Path) -> _Spent:
    mine = _affinity()
    used = total = 0
    for line in _text(root / "proc/stat").splitlines():
        name, *values = line.split()
        if not name.startswith("cpu") or not name[3:].isdigit() or (mine and int(name[3:]) not in mine):
            continue
        # Time of guests is part of user time already; stolen time is time that could not be had.
        user, nice, system, idle, waiting, *others = (int(value) for value in values[:8])
        busy = user + nice + system + sum(others)
        used, total = used + busy, total + busy + idle + waiting
    return _Spent(time.process_time(), used, total, _group_seconds(root))


def _affinity() -> frozenset[int]:
    """The processors that this process may use; empty where the system does not say."""
    return frozenset(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else frozenset()


def _processors(root: Path) -> int:
    allowed = len(_affinity()) or os.cpu_count() or 1
    quota = _quota(root)
    return max(1, allowed if quota is None else min(allowed, round(quota)))


def _meminfo(root: Path, key: str) -> int | None:
    for line in _text(root / "proc/meminfo").splitlines():
        name, _, value = line.partition(":")
        if name == key:
            return int(value.split()[0]) * 1024
    return None


def _memory_groups(root: Path) -> Iterable[tuple[int, int]]:
    """Limit and use, in bytes, of every control group around this process that has a limit.

    File pages that can be dropped at once are not counted as used.
    """
    for group in _groups(root, "memory"):
        limit = _number(group, "memory.max", "memory.limit_in_bytes")
        used = _number(group, "memory.current", "memory.usage_in_bytes")
        if limit is None or used is None or limit >= _NO_LIMIT:
            continue
        stat = dict(
            line.split(maxsplit=1) for line in _text(group / "memory.stat").splitlines() if " " in line
        )
        droppable = stat.get("total_inactive_file", stat.get("inactive_file", "0"))
        yield limit, max(0, used - int(droppable))


def _quota(root: Path) -> float | None:
    """How many processors' time this process's control groups may use; None without a bound."""
    quotas: list[float] = []
    for group in _groups(root, "cpu"):
        quota, period = ([*_text(group / "cpu.max").split(), "", ""])[:2]
        if not quota:
            quota = _text(group / "cpu.cfs_quota_us").strip()
            period = _text(group / "cpu.cfs_period_us").strip()
        if quota.isdigit() and period.isdigit() and int(quota) > 0 and int(period) > 0:
            quotas.append(int(quota) / int(period))
    return min(quotas, default=None)


def _group_seconds(root: Path) -> float | None:
    for group in _groups(root, "cpu"):
        for line in _text(group / "cpu.stat").splitlines():
            if line.startswith("usage_usec "):
                return int(line.split()[1]) / 1e6
    for group in _groups(root, "cpuacct"):
        nanoseconds = _number(group, "cpuacct.usage")
        if nanoseconds is not None:
            return nanoseconds / 1e9
    return None


def _groups(root: Path, controller: str) -> Iterable[Path]:
    """The folders of the control groups that this process is in, innermost first."""
    mounts = root / "sys/fs/cgroup"
    for line in _text(root / "proc/self/cgroup").splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controller in controllers.split(","):
            mount = mounts / controller
        elif number == "0" and not controllers:
            mount = mounts
        else:
            continue
        own = PurePosixPath(path)
        for group in (own, *own.parents):
            # Inside a container the path may be the host's, while the mount shows the container's own group.
            folder = mount / group.relative_to("/")
            if ".." not in group.parts and folder.is_dir():
                yield folder


def _number(folder: Path, *names: str) -> int | None:
    """The number in the first of these files that holds one; None where none does."""
    texts = (_text(folder / name).strip() for name in names)
    return next((int(text) for text in texts if text.isdigit()), None)


def _text(file: Path) -> str:
    """A file's text; empty where it is missing or may not be read."""
    try:
        return file.read_text()
    except OSError:
        return ""
