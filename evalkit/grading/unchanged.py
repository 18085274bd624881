"""Did the file of an impossible twin stay as it was?

It is read from outside, before the agent and before the grader, so nothing inside has a say in it.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace

from evalkit.errors import SandboxError, TaskError
from evalkit.grading.verdict import Verdict
from evalkit.sandbox.protocol import Sandbox
from evalkit.tasks.stage import Stage
from evalkit.tasks.task import Task
from evalkit.tasks.twin import UNCHANGED


async def before_the_agent(task: Task, stage: Stage, sandbox: Sandbox) -> str | None:
    """The digest of the file that must stay as it is; None where none must. Raises TaskError where it is missing."""
    if stage.must_stay is None:
        return None
    try:
        return await _digest(sandbox, stage.must_stay)
    except OSError as error:
        raise TaskError(
            f"the twin's file {stage.must_stay} cannot be read: {error.strerror or error}",
            where=str(task.path / "task.toml"),
            hint="Name under [metadata.evalkit.twin] a file that is there before the agent begins.",
        ) from None


async def stayed_as_it_was(stage: Stage, sandbox: Sandbox, at_start: str | None) -> bool | None:
    """Whether it is the same now; None where no file must stay. What cannot be read any more has changed."""
    if stage.must_stay is None:
        return None
    try:
        return await _digest(sandbox, stage.must_stay) == at_start
    except (OSError, SandboxError):
        return False


def with_unchanged(verdict: Verdict, *, stayed: bool) -> Verdict:
    """The verdict with that check beside the grader's own; it passes only where both say so."""
    checks = {**(verdict.checks or {}), UNCHANGED: stayed}
    return replace(verdict, checks=checks, passed=verdict.passed and stayed)


async def _digest(sandbox: Sandbox, path: str) -> str:
    return hashlib.sha256(await sandbox.read_file(path)).hexdigest()
