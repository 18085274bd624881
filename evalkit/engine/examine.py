"""What does this machine have of what evalkit needs?"""

from __future__ import annotations

import importlib.metadata
import platform
import shutil
import sys
from dataclasses import dataclass

from evalkit.sandbox.local.support import check_local


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
    return (_python(), _inspect(), _local(), _python_inside())


def _python() -> Examined:
    version = platform.python_version()
    return Examined("python", sys.version_info >= (3, 11), version, "evalkit needs Python 3.11 or later.")


def _inspect() -> Examined:
    return Examined("inspect-ai", ok=True, detail=importlib.metadata.version("inspect-ai"))


def _local() -> Examined:
    support = check_local()
    return Examined(
        "local sandbox", support.ok, support.runtime or support.problem or "unknown", support.hint
    )


def _python_inside() -> Examined:
    found = shutil.which("python3", path="/usr/local/bin:/usr/bin:/bin")
    return Examined(
        "python3 for tasks",
        ok=found is not None,
        detail=found or "no python3 under /usr",
        hint="The local sandbox sees the machine's own /usr: install python3 there, such as apt-get install python3.",
        required=False,
    )
