"""Whose fault is it when a grader cannot work in the agent's own sandbox?"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from evalkit.errors import GraderError, SandboxError
from evalkit.sandbox.protocol import Sandbox

_PROBE = "/run/evalkit/probe"


@asynccontextmanager
async def as_the_agent_left_it(sandbox: Sandbox) -> AsyncGenerator[None]:
    """Turn a SandboxError in this block into a GraderError where the sandbox still stands.

    What is in the way is then among its files or processes, which are the agent's, and would be again: another attempt
    is no remedy. A sandbox that is gone stays a SandboxError.
    """
    try:
        yield
    except SandboxError as error:
        if not await _stands(sandbox):
            raise
        raise GraderError(
            f"the grader cannot work in the agent's sandbox as the agent left it: {error.message}",
            where=error.where,
            hint="Grade it sealed: declare under artifacts what the agent delivers.",
        ) from error


async def _stands(sandbox: Sandbox) -> bool:
    """Whether what isolates is still there, whatever became of the files and programs in it: asked from outside."""
    try:
        await sandbox.read_file(_PROBE, max_bytes=1)
    except SandboxError:
        return False
    except OSError:
        return True
    return True
