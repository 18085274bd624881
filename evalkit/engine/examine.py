"""What does this machine have of what evalkit needs?"""

from __future__ import annotations

import importlib.metadata
import platform
import shutil
import sys
from dataclasses import dataclass

from evalkit.sandbox import Support, check_sandbox


@dataclass(frozen=True, slots=True)
class Examined:
    """One thing that was looked for."""

    name: str
    ok: bool
    detail: str
    hint: str | None = None
    required: bool = True


def examine() -> tuple[Examined, ...]:
    """Look for everything evalkit needs, without changing anything."""
    local, docker = check_sandbox("local"), check_sandbox("docker")
    return (
        _python(),
        _inspect(),
        _sandbox("local", local, required=not docker.ok),
        _sandbox("docker", docker, required=False),
        _python_inside(),
    )


def _python() -> Examined:
    version = platform.python_version()
    return Examined("python", sys.version_info >= (3, 11), version, "evalkit needs Python 3.11 or later.")


def _inspect() -> Examined:
    return Examined("inspect-ai", ok=True, detail=importlib.metadata.version("inspect-ai"))


def _sandbox(kind: str, support: Support, *, required: bool) -> Examined:
    """One kind is enough to run trials."""
    detail = (support.runtime if support.ok else support.problem) or "unknown"
    return Examined(f"{kind} sandbox", support.ok, detail, support.hint, required)


def _python_inside() -> Examined:
    found = shutil.which("python3", path="/usr/local/bin:/usr/bin:/bin")
    return Examined(
        "python3 for tasks",
        ok=found is not None,
        detail=found or "no python3 under /usr",
        hint="The local sandbox sees the machine's own /usr: install python3 there, such as apt-get install python3.",
        required=False,
    )
