"""Where does an agent's code run, so that it can reach nothing else?"""

from __future__ import annotations

import difflib
from typing import Literal

from evalkit.errors import UsageError
from evalkit.sandbox.docker.placement import clean_path
from evalkit.sandbox.docker.provider import DockerSandbox
from evalkit.sandbox.docker.support import check_docker, clean_docker, clean_docker_sandboxes
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
    Imitation,
    Limits,
    Listening,
    Placement,
    Running,
    Sandbox,
)
from evalkit.sandbox.shell import checked_env

SandboxKind = Literal["local", "docker"]
KINDS: tuple[SandboxKind, ...] = ("local", "docker")

__all__ = [
    "KINDS",
    "Captured",
    "Deliverable",
    "Entry",
    "EntryKind",
    "Environment",
    "ExecResult",
    "Imitation",
    "Limits",
    "Listening",
    "Placement",
    "Running",
    "Sandbox",
    "SandboxKind",
    "Support",
    "check_docker",
    "check_environment",
    "check_kind",
    "check_local",
    "check_sandbox",
    "clean",
    "clean_sandboxes",
    "open_sandbox",
]


def open_sandbox(
    kind: str, environment: Environment, *, run_id: str, trial_id: str, runtime: str | None = None
) -> Sandbox:
    """A sandbox of the named kind, not yet started. Raises UsageError for a kind that does not exist.

    `runtime` is a container runtime that the engine knows, such as runsc; None: its default (docker only).
    """
    if kind == "local":
        return LocalSandbox(environment, run_id=run_id, trial_id=trial_id)
    if kind == "docker":
        return DockerSandbox(environment, run_id=run_id, trial_id=trial_id, runtime=runtime)
    raise _unknown(kind)


def check_kind(kind: str) -> SandboxKind:
    """The kind of sandbox of this name. Raises UsageError where there is none."""
    if kind in KINDS:
        return kind
    raise _unknown(kind)


def _unknown(kind: str) -> UsageError:
    near = difflib.get_close_matches(kind, KINDS, n=1, cutoff=0.4)
    hint = f"Did you mean {near[0]}?" if near else f"There are: {', '.join(KINDS)}."
    return UsageError(f"there is no sandbox called {kind!r}", hint=hint)


def check_environment(kind: str, environment: Environment) -> None:
    """Raise the TaskError or SandboxError that starting from this environment would raise; starts nothing."""
    if kind == "local":
        environment = furnishing.imitated(environment)
        furnishing.private_tops(environment)
        furnishing.variables(environment, furnishing.user_named(environment.user))
    elif kind == "docker":
        checked_env(environment.env)
        paths = (environment.workdir or "/", *environment.private, *(one.target for one in environment.files))
        for path in paths:
            clean_path(path)


def check_sandbox(kind: str) -> Support:
    """Whether sandboxes of this kind can be made here."""
    return check_docker() if kind == "docker" else check_local()


def clean() -> list[str]:
    """Remove what evalkit processes that are gone have left here and on the container engine; says what was removed."""
    return [*_clean(base_folder()), *clean_docker()]


def clean_sandboxes() -> list[str]:
    """Remove the sandboxes alone that evalkit processes that are gone have left; says what was removed."""
    return [*_clean(base_folder()), *clean_docker_sandboxes()]
