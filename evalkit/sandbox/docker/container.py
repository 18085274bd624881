"""What may a container do, and what is it called?"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from evalkit.errors import SandboxError
from evalkit.sandbox.docker.answers import Image, Version
from evalkit.sandbox.docker.engine import Engine
from evalkit.sandbox.docker.warden import SCRIPT
from evalkit.sandbox.protocol import Environment
from evalkit.sandbox.shell import checked_env
from evalkit.trajectory.owner import Owner, this_process

RUN, TRIAL, OWNER = "evalkit.run", "evalkit.trial", "evalkit.owner"
HOSTNAME = "evalkit"
_MB = 1024 * 1024
DEFAULT_MEMORY_MB = 4096
DEFAULT_STORAGE_MB = 10240
SHARED_MEMORY = "/dev/shm"  # noqa: S108  -- a path inside the container
SHARED_MEMORY_MB = 64
OPEN_FILES = 4096
"""Of one process. Named, because engines otherwise ask for more than some hosts may grant."""
CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID")
"""What root inside keeps, all of it over the container's own files and processes only.

CHOWN, DAC_OVERRIDE, FOWNER and FSETID: chown, apt, dpkg and tar work on files of other users as root expects.
SETGID and SETUID: su, and apt, which fetches as its own user. KILL: a service of another user can be ended, also by
process 1. Left out of what engines grant by default: MKNOD, NET_RAW, NET_BIND_SERVICE (engines let anyone bind low
ports inside), SYS_CHROOT, SETPCAP, SETFCAP, AUDIT_WRITE.
"""


def new_name() -> str:
    """A name that is known before the container is, so that it can be removed whatever happens meanwhile."""
    return f"evalkit-{secrets.token_hex(8)}"


def labels(run: str, trial: str) -> dict[str, str]:
    """Whose container this is."""
    return {RUN: run, TRIAL: trial, OWNER: json.dumps(asdict(this_process()))}


def owner_of(label: str) -> Owner | None:
    """The process that a label names; None for a label that is not ours."""
    try:
        raw = json.loads(label)
        started = raw["started"]
        return Owner(int(raw["pid"]), None if started is None else str(started), str(raw["host"]))
    except (ValueError, KeyError, TypeError):
        return None


def memory_mb(environment: Environment, version: Version) -> int:
    """What a container may use in all: what is asked for, but no more than the machine has."""
    asked = environment.limits.memory_mb or DEFAULT_MEMORY_MB
    return min(asked, version.memory // _MB) if version.memory >= _MB else asked


def reduced(environment: Environment, version: Version) -> tuple[str, ...]:
    """What was asked for that the engine's machine does not have, in words; the container gets all that there is."""
    limits, found = environment.limits, list[str]()
    if limits.cpus is not None and limits.cpus > version.cpus:
        found.append(f"cpus: {limits.cpus:g} asked for, the engine's machine has {version.cpus}")
    has = memory_mb(environment, version)
    if limits.memory_mb is not None and limits.memory_mb > has:
        found.append(f"memory_mb: {limits.memory_mb} asked for, the engine's machine has {has}")
    return tuple(found)


def check_warnings(warnings: Sequence[str]) -> None:
    """Raise SandboxError where the engine says that it will not keep a limit. Without swap accounting it keeps the
    one on memory.
    """
    for said in warnings:
        if "discarded" in said.lower() and "swap" not in said.lower():
            raise SandboxError(
                f"the container engine cannot keep a limit: {said.strip()}",
                hint="Its machine needs the memory, cpu and pids controllers; see `docker info`. "
                "Rootless engines need them delegated.",
            )


def config(environment: Environment, image: Image, whose: Mapping[str, str]) -> dict[str, Any]:
    """What runs in the container: process 1, as root, so that an unprivileged agent cannot reach it."""
    return {
        "image": image.id,
        "entrypoint": ["sh"],
        "command": ["-c", SCRIPT],
        "user": "0:0",
        "working_dir": "/",
        "hostname": HOSTNAME,
        "environment": dict(checked_env(environment.env)),
        "labels": dict(whose),
        "stdin_open": True,
        "healthcheck": {"test": ["NONE"]},
        "use_config_proxy": False,
    }


def host_config(
    environment: Environment, engine: Engine, runtime: str | None, whose: Mapping[str, str]
) -> dict[str, Any]:
    """What bounds the container. Without a network there is only a loopback interface."""
    from docker.types import LogConfig, Ulimit  # pyright: ignore[reportMissingTypeStubs]

    limits = environment.limits
    storage = (limits.storage_mb or DEFAULT_STORAGE_MB) * _MB
    memory = memory_mb(environment, engine.version) * _MB
    host: dict[str, Any] = {
        "auto_remove": True,
        "network_mode": "bridge" if environment.network else "none",
        "cap_drop": ["ALL"],
        "cap_add": list(CAPABILITIES),
        "security_opt": ["no-new-privileges"],
        "log_config": LogConfig(type="none"),
        "mem_limit": memory,
        "memswap_limit": memory,
        "pids_limit": limits.pids + 1,
        "ulimits": [
            Ulimit(name="core", soft=0, hard=0),
            Ulimit(name="fsize", soft=storage, hard=storage),
            Ulimit(name="nofile", soft=OPEN_FILES, hard=4 * OPEN_FILES),
        ],
        **_shared_memory(engine.version, whose),
    }
    if environment.disks:
        host["tmpfs"] = {
            disk.path: f"size={disk.size_bytes},mode=1777,exec,nosuid,nodev" for disk in environment.disks
        }
    if limits.cpus is not None:
        host["nano_cpus"] = int(min(limits.cpus, engine.version.cpus) * 1_000_000_000)
    if runtime is not None:
        host["runtime"] = runtime
    return host


def _shared_memory(version: Version, whose: Mapping[str, str]) -> dict[str, Any]:
    """A volume of its own, because the engine can read volumes from outside, and its built-in one it cannot.

    Podman knows no volume in memory with a size, so there what lies in /dev/shm is not part of a snapshot.
    """
    from docker.types import DriverConfig, Mount  # pyright: ignore[reportMissingTypeStubs]

    if version.name == "podman":
        return {"shm_size": SHARED_MEMORY_MB * _MB}
    options = f"size={SHARED_MEMORY_MB}m,mode=1777,nosuid,nodev,noexec"
    driver = DriverConfig("local", {"type": "tmpfs", "device": "tmpfs", "o": options})
    volume = Mount(SHARED_MEMORY, None, type="volume", no_copy=True, labels=dict(whose), driver_config=driver)
    return {"mounts": [volume]}
