"""Does the sandbox have what the tasks need? Asked before the first trial."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio

from evalkit.errors import SandboxError, TrialError, UsageError
from evalkit.grading.environment import agent_environment, grader_environment
from evalkit.sandbox import check_docker, check_environment, open_sandbox
from evalkit.sandbox.docker.support import missing_runtime
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


def check_needs(
    tasks: Sequence[Task], kind: str, readonly: tuple[Path, ...], *, run_id: str, runtime: str | None = None
) -> None:
    """Local: start one sandbox and look for every program and module that a task says it needs. Docker: see that the
    engine answers and knows the container runtime, if one is named; images bring their own programs.

    Raises UsageError naming what is missing and for which tasks, or why no sandbox can be started.
    """
    _check_environments(tasks, kind)
    if kind == "docker":  # its images bring their own programs
        _check_engine(runtime)
    else:
        anyio.run(_check, tasks, kind, readonly, run_id)


def _check_engine(runtime: str | None) -> None:
    support = check_docker()
    if not support.ok:
        raise UsageError(
            f"no docker sandbox can be started here: {support.problem}",
            hint=f"{support.hint or ''} Or use --sandbox local.".strip(),
        )
    if runtime is not None:
        _check_runtime(runtime)


def _check_runtime(runtime: str) -> None:
    try:
        known = missing_runtime(runtime)
    except SandboxError as error:
        raise UsageError(
            f"no docker sandbox can be started here: {error.message}", where=error.where, hint=error.hint
        ) from error
    if known is not None:
        raise UsageError(
            f"the container engine knows no runtime called {runtime}",
            where="evalkit.toml, [sandbox] runtime",
            hint=f"There are: {', '.join(known)}. Install it and name it in the engine's configuration, or change "
            "evalkit.toml.",
        )


def _check_environments(tasks: Sequence[Task], kind: str) -> None:
    for task in tasks:
        try:
            check_environment(kind, agent_environment(task, with_solution=True))
            for stage in task.stages:
                check_environment(kind, grader_environment(task, stage))
        except TrialError as error:
            raise UsageError(
                f"task '{task.id}' cannot run in the {kind} sandbox: {error.message}",
                where=str(task.path),
                hint=f"{error.hint or ''} Or leave the task out with --task '!{task.id}'.".strip(),
            ) from error


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
            "[sandbox] readonly. Install what is missing there, or leave a task out with --task '!ID'.",
        )


def _needs(tasks: Sequence[Task]) -> list[_Need]:
    programs: dict[str, list[str]] = {}
    modules: dict[str, list[str]] = {}
    for task in tasks:
        for program in task.programs:
            programs.setdefault(program, []).append(task.id)
        for module in task.modules:
            modules.setdefault(module, []).append(task.id)
    return [_Need(name, (*_PROGRAM, name), "", tuple(found)) for name, found in sorted(programs.items())] + [
        _Need(name, (*_MODULE, name), "Python module ", tuple(found))
        for name, found in sorted(modules.items())
    ]


async def _has(sandbox: Sandbox, need: _Need) -> bool:
    return (await sandbox.exec(need.probe, cwd="/", timeout_s=60)).exit_code == 0
