"""Where is the container engine, and can it be reached at all?"""

from __future__ import annotations

import contextlib
import os
import socket
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from evalkit.errors import SandboxError
from evalkit.sandbox.docker.complaint import START_HINT, looked_for, no_address, unreachable

LONGEST_PATH = 107
"""Of a socket, in bytes; the kernel takes no more."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The variables that name an engine, and the process that talks to it."""

    host: str | None
    tls_verify: str | None
    cert_path: str | None
    process: int

    @classmethod
    def now(cls) -> Settings:
        """What the environment says."""
        env = os.environ
        return cls(
            env.get("DOCKER_HOST"), env.get("DOCKER_TLS_VERIFY"), env.get("DOCKER_CERT_PATH"), os.getpid()
        )


def local_folder(host: str, named: object) -> Path | None:
    """The folder that an engine names, where the engine is on this machine."""
    if not host.startswith("unix://") or not isinstance(named, str) or not Path(named).is_absolute():
        return None
    return Path(named)


def check_address(host: str) -> None:
    """Raise SandboxError for what cannot be an engine's address: the SDK says that in its own words, or not at all."""
    import docker.utils  # pyright: ignore[reportMissingTypeStubs]
    from docker.errors import DockerException

    try:
        address = urlsplit(str(docker.utils.parse_host(host)))
        known = bool(address.path if address.scheme == "http+unix" else address.port)
    except (DockerException, ValueError):
        raise no_address() from None
    if not known or address.scheme not in {"http+unix", "http", "tcp"} or host.endswith("://"):
        raise no_address()
    if address.scheme == "http+unix":
        if len(os.fsencode(address.path)) > LONGEST_PATH:
            raise no_address()
        with contextlib.suppress(PermissionError):  # which knocking will find
            if Path(address.path).exists() and not Path(address.path).is_socket():
                raise SandboxError(f"{address.path} is no socket", where=looked_for(), hint=START_HINT)


def knock(host: str) -> None:
    """Find out why a socket cannot be used; the SDK does not say."""
    if not host.startswith("unix://"):
        return
    with socket.socket(socket.AF_UNIX) as knocking:
        knocking.settimeout(10)
        try:
            knocking.connect(host.removeprefix("unix://"))
        except OSError as error:
            raise unreachable(error) from error


def numbers(version: str) -> tuple[int, ...]:
    """The parts of a version that are numbers."""
    return tuple(int(part) for part in version.split(".") if part.isdigit())
