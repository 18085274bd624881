"""How does a started sandbox get what only commands inside can set up?"""

from __future__ import annotations

import shlex
from pathlib import Path

from evalkit.errors import TaskError
from evalkit.sandbox.protocol import Sandbox
from evalkit.tasks.recipe import Recipe

TIMEOUT_S = 60.0


async def set_up(recipe: Recipe, dockerfile: Path, sandbox: Sandbox) -> None:
    """Give copied files their modes and run the recipe's set-up lines, in order; a built image has done it all.

    `dockerfile` is what the recipe was read from. Raises TaskError, with what was printed, where one of them fails:
    the task is broken, nobody failed it.
    """
    if sandbox.image_digest is not None:
        return
    modes = [
        f"chmod {copy.chmod:o} {shlex.quote(copy.target)}" for copy in recipe.copies if copy.chmod is not None
    ]
    for line in (*modes, *recipe.setup):
        result = await sandbox.exec(line, cwd="/", timeout_s=TIMEOUT_S)
        if result.exit_code != 0:
            said = (result.stderr.text or result.stdout.text).strip()[-300:]
            ending = "timed out" if result.timed_out else f"exit code {result.exit_code}"
            raise TaskError(
                f"setting the task up failed ({ending}): {line}: {said}",
                where=str(dockerfile),
            )
