"""What would a naive grader, run where the agent worked, have said?"""

from __future__ import annotations

from evalkit.errors import GraderError
from evalkit.grading.bringing import bring_tests
from evalkit.grading.environment import VERIFIER, image_user
from evalkit.grading.healthcheck import said
from evalkit.grading.in_place import as_the_agent_left_it
from evalkit.sandbox.digest import MISSING
from evalkit.sandbox.protocol import Sandbox
from evalkit.tasks.stage import Stage
from evalkit.tasks.task import Task

_NOT_RUN = frozenset({126, 127})


async def naive_passed(task: Task, stage: Stage, sandbox: Sandbox) -> bool | None:
    """Run the task's naive grader on the agent's final state, everything the agent started killed; None where the
    task names none.

    It believes its shell line's exit code, as many graders do, and so tells what the agent's hacks would gain. Raises
    GraderError where it did not end in time or could not be run, SandboxError where the sandbox is gone.
    """
    line = task.settings.grading.naive if task.settings.grading else None
    if line is None:
        return None
    verifier = stage.verifier
    async with as_the_agent_left_it(sandbox):
        await sandbox.halt()
        await bring_tests(stage, sandbox)
        await sandbox.clear_folder(VERIFIER)
        user = verifier.user or image_user(task)
        cwd = "/" if await sandbox.workspace_digest() == MISSING else None
        result = await sandbox.exec(line, cwd=cwd, env=verifier.env, user=user, timeout_s=verifier.timeout_s)
    if result.timed_out:
        raise GraderError(f"the naive grader did not end within {verifier.timeout_s:g} s")
    if result.exit_code is None or result.shell_lost or result.exit_code in _NOT_RUN:
        raise GraderError(f"the naive grader could not be run ({said(result)})")
    return result.exit_code == 0
