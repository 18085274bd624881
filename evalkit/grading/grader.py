"""How is what an agent left judged?

sealed     the declared deliverables, as data, in a fresh sandbox that never saw the agent
snapshot   the agent's own final state, everything it started killed
shared     in place, while its processes may live (Harbor's default; weak)
"""

from __future__ import annotations

import contextlib
import hashlib
import secrets
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, replace

import anyio

from evalkit.errors import GraderError, SandboxError
from evalkit.grading.bringing import bring_tests
from evalkit.grading.environment import (
    TESTS,
    VERIFIER,
    grader_environment,
    grader_recipe,
    image_user,
    is_sealed_off,
)
from evalkit.grading.healthcheck import until_healthy
from evalkit.grading.in_place import as_the_agent_left_it
from evalkit.grading.known_verdicts import KnownVerdicts
from evalkit.grading.setup import set_up
from evalkit.grading.total import expected_checks
from evalkit.grading.verdict import FILES, MAX_BYTES, Verdict, read_verdict
from evalkit.sandbox.digest import MISSING
from evalkit.sandbox.protocol import Deliverable, Environment, ExecResult, Sandbox
from evalkit.tasks.stage import Stage
from evalkit.tasks.task import Task
from evalkit.trajectory.artifacts import ArtifactStore

CHANNEL = "/run/evalkit"
NONCE = f"{CHANNEL}/nonce"
ANSWER = "/logs/agent/answer.txt"
TIMEOUT = "EVALKIT_VERIFIER_TIMEOUT"
"""The variable that tells a grader its seconds, so that code which it runs cannot use them up."""
_TEST = f"( nonce=$(cat {NONCE}); rm -f {NONCE}; printf '%s\\n' \"$nonce\" ) | {TESTS}/test.sh"
"""The file is gone before the nonce can be read from the pipe, and the pipe is empty when it has been read."""

_NO_PROGRAM = (
    "See that the program in the first line of test.sh is there, that the line does not end in a carriage return, "
    "and that what it calls is installed."
)


@dataclass(frozen=True, slots=True)
class Grading:
    """What grading needs besides the task: where deliverables are kept, and how to open a fresh sandbox."""

    store: ArtifactStore
    open_sandbox: Callable[[Environment], Sandbox]
    known: KnownVerdicts | None = None
    """What counts as said already, where sealed graders need not be asked twice."""


async def grade(
    task: Task,
    stage: Stage,
    sandbox: Sandbox,
    deliverables: tuple[Deliverable, ...],
    grading: Grading,
    *,
    answer: str | None,
    goes_on: bool = False,
) -> Verdict:
    """Run the stage's grader in its mode on what the agent left; `answer` is what it submitted, where it did.

    `goes_on` says that a further stage follows, so that in `shared` mode nothing is killed.
    Raises GraderError where it gives no verdict: crashed, timed out, silent, or not to be believed.
    """
    if stage.verifier.script is None:
        raise GraderError("the task has no grader", where=str(stage.path / "tests" / "test.sh"))
    if stage.verifier.mode == "sealed":

        async def sealed() -> Verdict:
            return await grade_delivered(task, stage, deliverables, grading, answer=answer)

        return await (
            grading.known.ask((stage.name, deliverables, answer), sealed) if grading.known else sealed()
        )
    user = stage.verifier.user or image_user(task)
    alive = goes_on and stage.verifier.mode == "shared"
    async with as_the_agent_left_it(sandbox):
        await bring_tests(stage, sandbox)
        return await _run_tests(task, stage, sandbox, answer, user=user, alive=alive)


async def grade_delivered(
    task: Task, stage: Stage, deliverables: tuple[Deliverable, ...], grading: Grading, *, answer: str | None
) -> Verdict:
    """Run the stage's grader on deliverables in a fresh sandbox, as in `sealed` mode. Raises as `grade` does."""
    if stage.verifier.script is None:
        raise GraderError("the task has no grader", where=str(stage.path / "tests" / "test.sh"))
    async with _fresh(task, stage, grading) as fresh:
        await _place(task, stage, deliverables, fresh, grading.store)
        return await _run_tests(task, stage, fresh, answer, user=None)


def tests_digest(task: Task) -> str:
    """sha256 over the graders' files, sorted by path: equal graders have equal digests."""
    lines: list[bytes] = []
    for stage in task.stages:
        prefix = f"{stage.name}/" if stage.name is not None else ""
        for name, path in stage.verifier.test_files.items():
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            lines.append(f"{prefix}{name}\0{digest}\n".encode("utf-8", "surrogateescape"))
    return hashlib.sha256(b"".join(lines)).hexdigest()


@contextlib.asynccontextmanager
async def _fresh(task: Task, stage: Stage, grading: Grading) -> AsyncGenerator[Sandbox]:
    fresh = grading.open_sandbox(grader_environment(task, stage))
    machine = stage.verifier.machine
    try:
        await fresh.start()
        await set_up(*grader_recipe(task, stage), fresh)
        if machine is not None and machine.healthcheck is not None:
            await until_healthy(machine.healthcheck, fresh, user=None, where=str(task.path / "task.toml"))
        yield fresh
    finally:
        with anyio.CancelScope(shield=True):
            await fresh.stop()


async def _place(
    task: Task, stage: Stage, deliverables: tuple[Deliverable, ...], fresh: Sandbox, store: ArtifactStore
) -> None:
    """Put in what was delivered. Where the task asks for a sealed grader, nobody but its owner may write to it."""
    if is_sealed_off(task, stage):
        await fresh.place([replace(one, mode=one.mode & 0o755) for one in deliverables], store)
        await fresh.halt()
    else:
        await fresh.place(deliverables, store)


async def _run_tests(
    task: Task, stage: Stage, sandbox: Sandbox, answer: str | None, *, user: str | None, alive: bool = False
) -> Verdict:
    """`user` is somebody else than the sandbox's own; with `alive` nothing is killed before the verdict is read."""
    nonce, grading, verifier = secrets.token_hex(16), task.settings.grading, stage.verifier
    await sandbox.clear_folder(VERIFIER)
    if task.settings.answer is not None and answer is not None:
        await sandbox.write_file(ANSWER, answer.encode("utf-8", "replace"))
    await sandbox.clear_folder(CHANNEL)  # so that the grader's user may take the nonce away
    await sandbox.write_file(NONCE, nonce.encode())
    if user is not None:
        await _open_to_all(sandbox, VERIFIER, CHANNEL)
    # Where the agent removed the working directory, that is for the tests to see.
    cwd = "/" if await sandbox.workspace_digest() == MISSING else None
    env = {TIMEOUT: f"{verifier.timeout_s:g}", **verifier.env}
    result = await sandbox.exec(_TEST, cwd=cwd, env=env, user=user, timeout_s=verifier.timeout_s)
    if result.timed_out:
        raise GraderError(
            f"the grader did not end within {verifier.timeout_s:g} s{_tail(result)}",
            hint="Raise [verifier] timeout_sec in task.toml, or make the tests faster.",
        )
    if not alive:
        await sandbox.halt()
    files = await _read_channel(sandbox)
    try:
        return read_verdict(
            files,
            nonce=nonce,
            signs=grading.nonce if grading else False,
            expected=expected_checks(task, stage),
            pass_reward=task.settings.pass_reward,
        )
    except GraderError as error:
        hint = error.hint or (_NO_PROGRAM if result.exit_code in {126, 127} else None)
        raise GraderError(f"{error.message}{_tail(result)}", where=error.where, hint=hint) from error


async def _open_to_all(sandbox: Sandbox, *folders: str) -> None:
    """Folders are made for the agent; a grader that is somebody else must be able to write there."""
    done = await sandbox.exec(("chmod", "0777", *folders), cwd="/", user="root", timeout_s=60)
    if done.exit_code != 0:
        raise GraderError(f"the grader's folders cannot be made{_tail(done)}")


async def _read_channel(sandbox: Sandbox) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for name in FILES:
        try:
            files[name] = await sandbox.read_file(f"{VERIFIER}/{name}", max_bytes=MAX_BYTES)
        except FileNotFoundError:
            continue
        except (OSError, SandboxError) as error:
            raise GraderError(f"{VERIFIER}/{name} cannot be read: {error}") from error
    return files


def _tail(result: ExecResult) -> str:
    """The end of what the grader printed, for the message of an error."""
    said = (result.stderr.text.strip() or result.stdout.text.strip())[-400:]
    code = "" if result.timed_out else f" (test.sh exited with {result.exit_code})"
    return f"{code}: {said}" if said else code
