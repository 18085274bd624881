"""What leaves a stage's sandbox as data?"""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from evalkit.errors import DeliverableRefused, SandboxError
from evalkit.grading.environment import image_user
from evalkit.grading.healthcheck import said
from evalkit.sandbox.protocol import Deliverable, Sandbox
from evalkit.tasks.paths import inside
from evalkit.tasks.stage import Stage
from evalkit.tasks.task import Task
from evalkit.trajectory.artifacts import ArtifactStore


@dataclass(frozen=True, slots=True)
class Taken:
    """What left the sandbox, and which declared paths were refused, with the reason."""

    deliverables: tuple[Deliverable, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict[str, str])
    halted: bool = False
    """Whether everything inside had to be killed, because files changed while they were taken."""


async def collect(task: Task, stage: Stage, sandbox: Sandbox) -> dict[str, str]:
    """Run the commands that save state into files, while what the agent started still lives, as Harbor does.

    A command that fails stops nothing, since the grader judges what is there: says which failed, and how.
    """
    failed: dict[str, str] = {}
    for hook in stage.verifier.collect:
        user = image_user(task) if hook.user is None else str(hook.user)
        result = await sandbox.exec(hook.command, user=user, timeout_s=hook.timeout_sec)
        if result.exit_code != 0 or result.timed_out:
            failed[hook.command] = said(result)
    return failed


async def take_deliverables(
    task: Task, stage: Stage, sandbox: Sandbox, store: ArtifactStore, *, halt_if_moving: bool
) -> Taken:
    """Take the stage's artifacts out of the sandbox, into the run's store.

    A path that leads outside counts as not delivered: the agent cannot make its trial unscored with it. Nor by
    changing files while they are taken: with `halt_if_moving` everything inside is killed then, and they are taken
    again.
    """
    halted = False
    try:
        taken = await _take(stage.artifact_paths, sandbox, store)
    except SandboxError:
        if not halt_if_moving:
            raise
        halted = True
        await sandbox.halt()
        taken = await _take(stage.artifact_paths, sandbox, store)
    kept = tuple(one for one in taken.deliverables if not is_left_out(task, stage, one.path))
    return Taken(kept, taken.refused, halted)


async def _take(paths: Sequence[str], sandbox: Sandbox, store: ArtifactStore) -> Taken:
    try:
        return Taken(await sandbox.export(paths, store))
    except DeliverableRefused:
        pass  # each path on its own then, so that one does not take the others with it
    taken: list[Deliverable] = []
    refused: dict[str, str] = {}
    for path in paths:
        try:
            taken += await sandbox.export([path], store)
        except DeliverableRefused as error:
            refused[path] = str(error)
    return Taken(tuple(taken), refused)


def is_left_out(task: Task, stage: Stage, path: str) -> bool:
    """Whether every artifact that this path lies in leaves it out; grading.keep leaves nothing out."""
    kept = task.settings.grading.keep if task.settings.grading else ()
    if any(path == one or path.startswith(f"{one}/") for one in kept):
        return False
    holders = [
        (path.removeprefix(source), artifact.exclude)
        for artifact in stage.artifacts
        if path.startswith(source := f"{inside(task.workdir, artifact.source).rstrip('/')}/")
    ]
    return bool(holders) and all(
        any(_fits(below, pattern) for pattern in patterns) for below, patterns in holders
    )


def _fits(path: str, pattern: str) -> bool:
    """As tar's --exclude: any part of the path that begins after a slash; a folder's name stands for what it holds."""
    parts = path.split("/")
    return any(
        fnmatch.fnmatchcase("/".join(parts[start:end]), pattern)
        for start in range(len(parts))
        for end in range(start + 1, len(parts) + 1)
    )
