"""Does the sandbox have what the tasks need? Asked before the first trial."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio

from evalkit.errors import SandboxError, UsageError
from evalkit.sandbox import open_sandbox
from evalkit.sandbox.protocol import Environment, Sandbox
from evalkit.tasks.task import Task

_PROGRAM = ("sh", "-c", 'command -v "$1"', "sh")
_MODULE = ("python3", "-c", "import importlib, sys; importlib.import_module(sys.argv[1])")


@dataclass(frozen=True, slots=True)
class _Need:
    """A program, or a Python module, and the tasks that need it."""

    name: str
    probe: tuple[str, ...]
    kind: str
    tasks: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.kind}{self.name} (needed by {', '.join(self.tasks)})"


def check_needs(tasks: Sequence[Task], kind: str, readonly: tuple[Path, ...], *, run_id: str) -> None:
    """Start one sandbox and look for every program and module that a task says it needs.

    Raises UsageError naming what is missing and for which tasks, SandboxError where none can be started.
    """
    anyio.run(_check, tasks, kind, readonly, run_id)


async def _check(tasks: Sequence[Task], kind: str, readonly: tuple[Path, ...], run_id: str) -> None:
    sandbox = open_sandbox(kind, Environment(readonly=readonly), run_id=run_id, trial_id="preflight")
    try:
        await sandbox.start()
        missing = [need for need in _needs(tasks) if not await _has(sandbox, need)]
    except SandboxError as error:
        raise UsageError(
            f"no {kind} sandbox can be started here: {error.message}",
            hint=error.hint or "See what is missing: evalkit doctor",
        ) from error
    finally:
        await sandbox.stop()
    if missing:
        raise UsageError(
            f"missing in the {kind} sandbox: {'; '.join(map(str, missing))}",
            hint="The local sandbox sees the machine's own /usr and /opt, and folders that evalkit.toml names under "
            "[sandbox] readonly. Install what is missing there, or leave the tasks out with --task.",
        )


def _needs(tasks: Sequence[Task]) -> list[_Need]:
    programs: dict[str, list[str]] = {}
    modules: dict[str, list[str]] = {}
    for task in tasks:
        for program in task.programs:
            programs.setdefault(program, []).append(task.id)
        for module in task.recipe.modules:
            modules.setdefault(module, []).append(task.id)
    return [_Need(name, (*_PROGRAM, name), "", tuple(found)) for name, found in sorted(programs.items())] + [
        _Need(name, (*_MODULE, name), "Python module ", tuple(found))
        for name, found in sorted(modules.items())
    ]


async def _has(sandbox: Sandbox, need: _Need) -> bool:
    return (await sandbox.exec(need.probe, cwd="/", timeout_s=60)).exit_code == 0
