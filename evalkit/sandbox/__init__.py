"""Where does an agent's code run, so that it can reach nothing else?"""

from __future__ import annotations

import difflib

from evalkit.errors import UsageError
from evalkit.sandbox.local import furnishing
from evalkit.sandbox.local.provider import LocalSandbox
from evalkit.sandbox.local.scratch import base_folder
from evalkit.sandbox.local.scratch import clean as _clean
from evalkit.sandbox.local.support import Support, check_local
from evalkit.sandbox.protocol import (
    Captured,
    Deliverable,
    Entry,
    EntryKind,
    Environment,
    ExecResult,
    Limits,
    Placement,
    Sandbox,
)

KINDS = ("local", "docker")

__all__ = [
    "KINDS",
    "Captured",
    "Deliverable",
    "Entry",
    "EntryKind",
    "Environment",
    "ExecResult",
    "Limits",
    "Placement",
    "Sandbox",
    "Support",
    "check_environment",
    "check_local",
    "clean",
    "open_sandbox",
]


def open_sandbox(kind: str, environment: Environment, *, run_id: str, trial_id: str) -> Sandbox:
    """A sandbox of the named kind, not yet started. Raises UsageError for a kind that does not exist."""
    if kind == "local":
        return LocalSandbox(environment, run_id=run_id, trial_id=trial_id)
    if kind == "docker":
        raise UsageError("the docker sandbox is not available in this version", hint="Use --sandbox local.")
    near = difflib.get_close_matches(kind, KINDS, n=1, cutoff=0.4)
    hint = f"Did you mean {near[0]}?" if near else f"There are: {', '.join(KINDS)}."
    raise UsageError(f"there is no sandbox called {kind!r}", hint=hint)


def check_environment(kind: str, environment: Environment) -> None:
    """Raise the TaskError or SandboxError that starting from this environment would raise; starts nothing."""
    if kind == "local":
        furnishing.private_tops(environment)
        furnishing.variables(environment, furnishing.user_named(environment.user))


def clean() -> list[str]:
    """Remove what evalkit processes that are gone have left on this machine; says what was removed."""
    return _clean(base_folder())
