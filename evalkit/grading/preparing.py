"""How does a sandbox get ready for a stage, and what does a graded stage leave behind?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from evalkit.errors import TaskError
from evalkit.grading.environment import LOGS, SOLUTION, TESTS, VERIFIER
from evalkit.grading.healthcheck import said, until_healthy
from evalkit.grading.in_place import as_the_agent_left_it
from evalkit.sandbox.protocol import Sandbox
from evalkit.tasks.stage import Stage
from evalkit.tasks.task import Task

_SETUP = "if command -v bash >/dev/null 2>&1; then bash setup.sh; else sh setup.sh; fi"


async def prepare_stage(task: Task, stage: Stage, sandbox: Sandbox, *, with_solution: bool) -> None:
    """Put the stage's files into the working directory, run their setup.sh as its agent, and wait for its healthcheck.

    `with_solution` brings its solution/ too, for personas that play it. Raises TaskError where the files do not fit
    what stands there, setup.sh fails, or the healthcheck does.
    """
    files = stage.workdir_files
    await _bring(files, sandbox, "")
    if not task.is_staged:
        return
    if with_solution:
        await sandbox.clear_folder(SOLUTION)
        await _bring(_below(stage.solution_dir), sandbox, f"{SOLUTION}/")
    if "setup.sh" in files:
        limit = task.harbor.environment.build_timeout_sec
        result = await sandbox.exec(_SETUP, user=stage.user, timeout_s=limit)
        if result.exit_code != 0 or result.timed_out:
            raise TaskError(f"setup.sh failed ({said(result)})", where=str(files["setup.sh"]))
    if stage.healthcheck is not None:
        where = str(task.path / "task.toml")
        await until_healthy(stage.healthcheck, sandbox, user=stage.user, where=where)


async def clear_traces(task: Task, sandbox: Sandbox) -> None:
    """Take away what grading in the agent's own sandbox left, before the agent goes on: tests, verdict and answer."""
    answer = (f"{LOGS}/agent",) if task.settings.answer is not None else ()
    async with as_the_agent_left_it(sandbox):
        for folder in (TESTS, VERIFIER, *answer):
            await sandbox.clear_folder(folder)


async def _bring(files: Mapping[str, Path], sandbox: Sandbox, prefix: str) -> None:
    for path, file in files.items():
        executable = bool(file.stat().st_mode & 0o111)
        try:
            await sandbox.write_file(f"{prefix}{path}", file.read_bytes(), executable=executable)
        except OSError as error:
            raise TaskError(f"cannot be put at {prefix}{path}: {error.strerror}", where=str(file)) from error


def _below(folder: Path) -> dict[str, Path]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {file.relative_to(folder).as_posix(): file for file in files}
