"""Is what a task needs up before the agent goes on?"""

from __future__ import annotations

import time

import anyio

from evalkit.errors import TaskError
from evalkit.sandbox.protocol import ExecResult, Sandbox
from evalkit.tasks.harbor import Healthcheck


async def until_healthy(check: Healthcheck, sandbox: Sandbox, *, user: str | None, where: str) -> None:
    """Run the check until it succeeds, as Docker does: failures in the start period do not count.

    Raises TaskError, with what was printed last, after `retries` failures in a row (but at least one): the task did
    not come up, so nobody failed it.
    """
    began = time.monotonic()
    failures = 0
    while True:
        starting = time.monotonic() - began < check.start_period_sec
        result = await sandbox.exec(check.command, user=user, timeout_s=check.timeout_sec)
        if result.exit_code == 0 and not result.timed_out:
            return
        if starting:
            await anyio.sleep(check.start_interval_sec)
            continue
        failures += 1
        if failures >= check.retries:
            raise TaskError(
                f"the healthcheck failed {failures} times in a row ({said(result)}): {check.command}",
                where=where,
                hint="Raise start_period_sec, interval_sec or retries, or see what keeps it from coming up.",
            )
        await anyio.sleep(check.interval_sec)


def said(result: ExecResult) -> str:
    """How a command ended and the end of what it printed, for a message."""
    text = (result.stderr.text.strip() or result.stdout.text.strip())[-300:]
    ending = "timed out" if result.timed_out else f"exit code {result.exit_code}"
    return f"{ending}: {text}" if text else ending
