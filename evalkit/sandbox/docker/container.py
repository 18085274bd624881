"""What may a container do, and what is it called?"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from evalkit.sandbox.docker.engine import Engine, Image
from evalkit.sandbox.docker.warden import SCRIPT
from evalkit.sandbox.protocol import Environment
from evalkit.sandbox.shell import checked_env
from evalkit.trajectory.owner import Owner, this_process

RUN, TRIAL, OWNER = "evalkit.run", "evalkit.trial", "evalkit.owner"
HOSTNAME = "evalkit"
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


def host_config(environment: Environment, engine: Engine, runtime: str | None) -> dict[str, Any]:
    """What bounds the container. Without a network there is only a loopback interface."""
    from docker.types import (  # pyright: ignore[reportMissingTypeStubs]
        DriverConfig,
        LogConfig,
        Mount,
        Ulimit,
    )  # fmt: skip

    limits = environment.limits
    storage = (limits.storage_mb or DEFAULT_STORAGE_MB) * 1024 * 1024
    memory = (limits.memory_mb or DEFAULT_MEMORY_MB) * 1024 * 1024
    # A volume of its own, because the engine can read volumes from outside, and its built-in one it cannot.
    options = f"size={SHARED_MEMORY_MB}m,mode=1777,nosuid,nodev,noexec"
    driver = DriverConfig("local", {"type": "tmpfs", "device": "tmpfs", "o": options})
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
        "mounts": [Mount(SHARED_MEMORY, None, type="volume", no_copy=True, driver_config=driver)],
    }
    if limits.cpus is not None:
        host["nano_cpus"] = int(min(limits.cpus, engine.version.cpus) * 1_000_000_000)
    if runtime is not None:
        host["runtime"] = runtime
    return host
