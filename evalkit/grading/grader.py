"""How is a trial's final state judged?

sealed     the declared deliverables, as data, in a fresh sandbox that never saw the agent
snapshot   the agent's own final state, everything it started killed
shared     in place, while its processes may live (Harbor's default; weak)
"""

from __future__ import annotations

import contextlib
import hashlib
import secrets
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, field

import anyio

from evalkit.errors import DeliverableRefused, GraderError, SandboxError
from evalkit.grading.environment import TESTS, VERIFIER, grader_environment
from evalkit.grading.setup import set_up
from evalkit.grading.verdict import FILES, MAX_BYTES, Verdict, read_verdict
from evalkit.sandbox.protocol import Deliverable, Environment, ExecResult, Sandbox
from evalkit.tasks.task import Task
from evalkit.trajectory.artifacts import ArtifactStore

CHANNEL = "/run/evalkit"
NONCE = f"{CHANNEL}/nonce"
ANSWER = "/logs/agent/answer.txt"
_TEST = f"( nonce=$(cat {NONCE}); rm -f {NONCE}; printf '%s\\n' \"$nonce\" ) | {TESTS}/test.sh"
"""The file is gone before the nonce can be read from the pipe, and the pipe is empty when it has been read."""


@dataclass(frozen=True, slots=True)
class Grading:
    """What grading needs besides the task: where deliverables are kept, and how to open a fresh sandbox."""

    store: ArtifactStore
    open_sandbox: Callable[[Environment], Sandbox]


@dataclass(frozen=True, slots=True)
class Taken:
    """What left the sandbox, and which declared paths were refused, with the reason."""

    deliverables: tuple[Deliverable, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict[str, str])


async def take_deliverables(task: Task, sandbox: Sandbox, grading: Grading) -> Taken:
    """Take the task's artifacts out of the halted sandbox, into the run's store.

    A path that leads outside counts as not delivered: the agent cannot make its trial unscored with it.
    """
    try:
        return Taken(await sandbox.export(task.artifact_paths, grading.store))
    except DeliverableRefused:
        pass  # each path on its own then, so that one does not take the others with it
    taken: list[Deliverable] = []
    refused: dict[str, str] = {}
    for path in task.artifact_paths:
        try:
            taken += await sandbox.export([path], grading.store)
        except DeliverableRefused as error:
            refused[path] = str(error)
    return Taken(tuple(taken), refused)


async def grade(
    task: Task,
    sandbox: Sandbox,
    deliverables: tuple[Deliverable, ...],
    grading: Grading,
    *,
    answer: str | None,
) -> Verdict:
    """Run the task's grader in its mode on the final state; `answer` is what the agent submitted, where it did.

    Raises GraderError where it gives no verdict: crashed, timed out, silent, or not to be believed.
    """
    if not (task.tests_dir / "test.sh").is_file():
        raise GraderError("the task has no grader", where=str(task.tests_dir / "test.sh"))
    if task.grading_mode == "sealed":
        async with _fresh(task, grading) as fresh:
            await fresh.place(deliverables, grading.store)
            return await _run_tests(task, fresh, answer)
    await _bring_tests(task, sandbox)
    return await _run_tests(task, sandbox, answer)


def tests_digest(task: Task) -> str:
    """sha256 over the grader's files, sorted by path: equal graders have equal digests."""
    lines: list[bytes] = []
    for path in task.test_files:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        lines.append(
            f"{path.relative_to(task.tests_dir).as_posix()}\0{digest}\n".encode("utf-8", "surrogateescape")
        )
    return hashlib.sha256(b"".join(lines)).hexdigest()


@contextlib.asynccontextmanager
async def _fresh(task: Task, grading: Grading) -> AsyncGenerator[Sandbox]:
    fresh = grading.open_sandbox(grader_environment(task))
    try:
        await fresh.start()
        await set_up(task, fresh)
        yield fresh
    finally:
        with anyio.CancelScope(shield=True):
            await fresh.stop()


async def _bring_tests(task: Task, sandbox: Sandbox) -> None:
    """Replace whatever the agent left at /tests by the real tests."""
    await sandbox.clear_folder(TESTS)
    for path in task.test_files:
        inside = f"{TESTS}/{path.relative_to(task.tests_dir).as_posix()}"
        executable = bool(path.stat().st_mode & 0o100) or path == task.tests_dir / "test.sh"
        await sandbox.write_file(inside, path.read_bytes(), executable=executable)


async def _run_tests(task: Task, sandbox: Sandbox, answer: str | None) -> Verdict:
    nonce = secrets.token_hex(16)
    await sandbox.clear_folder(VERIFIER)
    if task.settings.answer is not None and answer is not None:
        await sandbox.write_file(ANSWER, answer.encode("utf-8", "replace"))
    await sandbox.clear_folder(CHANNEL)  # so that the grader's user may take the nonce away
    await sandbox.write_file(NONCE, nonce.encode())
    result = await sandbox.exec(_TEST, env=task.verifier_env, timeout_s=task.verifier_timeout_s)
    if result.timed_out:
        raise GraderError(
            f"the grader did not end within {task.verifier_timeout_s:g} s{_tail(result)}",
            hint="Raise [verifier] timeout_sec in task.toml, or make the tests faster.",
        )
    await sandbox.halt()
    files = await _read_channel(sandbox)
    try:
        return read_verdict(
            files,
            nonce=nonce,
            signs=task.settings.grading.nonce if task.settings.grading else False,
            expected=task.settings.grading.checks if task.settings.grading else (),
            pass_reward=task.settings.pass_reward,
        )
    except GraderError as error:
        raise GraderError(f"{error.message}{_tail(result)}", where=error.where, hint=error.hint) from error


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
