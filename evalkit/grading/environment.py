"""Which sandbox does a task's agent get, and which its grader?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from evalkit.sandbox.protocol import Environment, Imitation, Limits, Placement
from evalkit.tasks.harbor import EnvironmentTable
from evalkit.tasks.hostenv import resolved
from evalkit.tasks.paths import inside
from evalkit.tasks.recipe import Recipe
from evalkit.tasks.stage import Stage
from evalkit.tasks.task import Task

LOGS = "/logs"
TESTS = "/tests"
SOLUTION = "/solution"
VERIFIER = f"{LOGS}/verifier"
SCRATCH = ("/tmp", "/run", LOGS)  # noqa: S108  -- paths inside the sandbox
"""Where a sealed grader may write."""


def agent_environment(task: Task, *, with_solution: bool = False) -> Environment:
    """What the agent's sandbox starts from.

    /logs and /tests are there, empty, as in Harbor; /solution only for personas that play it. What a stage's own
    folders hold comes with the stage.
    """
    solutions = [stage.solution_dir for stage in task.stages if stage.solution_dir.is_dir()]
    played = with_solution and bool(solutions)
    placed = [Placement(solutions[0], SOLUTION)] if played and not task.is_staged else []
    return _environment(
        task,
        _task_machine(task),
        env={**task.own_env, **task.solution_env} if with_solution else task.own_env,
        user=_user(task.harbor.agent.user),
        network=task.agent_network,
        extra=tuple(placed),
        private=(LOGS, TESTS, SOLUTION) if played else (LOGS, TESTS),
    )


def grader_environment(task: Task, stage: Stage) -> Environment:
    """What a sealed grader's fresh sandbox starts from: files of the task, or of the grader's own image, and its
    tests, nothing else.
    """
    verifier = stage.verifier
    machine = _grader_machine(task, stage)
    own = task.own_env if verifier.machine is None else resolved(verifier.machine.env)
    return _environment(
        task,
        machine,
        env={**own, **verifier.env},
        user=verifier.user,
        network=verifier.network,
        extra=tuple(
            Placement(file, f"{TESTS}/{path}", executable=path == "test.sh")
            for path, file in verifier.test_files.items()
        ),
        private=(LOGS, TESTS),
        sealed=SCRATCH if is_sealed_off(task, stage) else (),
    )


def is_sealed_off(task: Task, stage: Stage) -> bool:
    """Whether the grader's fresh sandbox is read-only but for a scratch folder, with nothing of the set-up running.

    Only where the task itself declares the mode and its grader has no machine of its own: Harbor's graders may write
    anywhere.
    """
    grading = task.settings.grading
    return grading is not None and grading.mode == "sealed" and stage.verifier.machine is None


def grader_recipe(task: Task, stage: Stage) -> tuple[Recipe, Path]:
    """What a sealed grader's machine asks for, and where that is written."""
    machine = _grader_machine(task, stage)
    return machine.recipe, machine.dockerfile or _dockerfile(task)


def image_user(task: Task) -> str | None:
    """Who a command runs as that is neither the agent's nor anybody's by name; None: the sandbox's own user.

    A container's own user cannot be asked for where the agent is said to be another one; it is root mostly.
    """
    return None if task.harbor.agent.user is None else task.recipe.user or "root"


@dataclass(frozen=True, slots=True)
class _Machine:
    """An image and what it is like."""

    table: EnvironmentTable
    recipe: Recipe
    dockerfile: Path | None
    image: str | None


def _task_machine(task: Task) -> _Machine:
    table, dockerfile = task.harbor.environment, _dockerfile(task)
    return _Machine(table, task.recipe, dockerfile if dockerfile.is_file() else None, table.docker_image)


def _grader_machine(task: Task, stage: Stage) -> _Machine:
    """A separate verifier's own image, where it has one; else the task's."""
    verifier, shared = stage.verifier, _task_machine(task)
    table = verifier.machine or shared.table
    if verifier.recipe is not None:
        return _Machine(table, verifier.recipe, verifier.dockerfile, None)
    if verifier.machine is not None and table.docker_image not in (None, shared.image):
        return _Machine(table, Recipe(base=table.docker_image), None, table.docker_image)
    return _Machine(table, shared.recipe, shared.dockerfile, shared.image)


def _environment(
    task: Task,
    machine: _Machine,
    *,
    env: Mapping[str, str],
    user: str | None,
    network: bool,
    extra: tuple[Placement, ...],
    private: tuple[str, ...],
    sealed: tuple[str, ...] = (),
) -> Environment:
    table, recipe = machine.table, machine.recipe
    copies = tuple(Placement(copy.source, copy.target) for copy in recipe.copies)
    return Environment(
        workdir=inside(recipe.workdir, table.workdir) if table.workdir else "",
        env=env,
        user=user,
        files=extra,
        network=network,
        limits=Limits(cpus=table.cpus, memory_mb=table.memory_mb, storage_mb=table.storage_mb),
        image=machine.image,
        dockerfile=machine.dockerfile,
        build_timeout_s=table.build_timeout_sec,
        imitation=Imitation(recipe.workdir, recipe.env, recipe.user, copies),
        private=private + tuple(recipe.folders) + _delivered_tops(task),
        sealed=sealed,
    )


def _dockerfile(task: Task) -> Path:
    return task.path / "environment" / "Dockerfile"


def _delivered_tops(task: Task) -> tuple[str, ...]:
    """The top-level folders that deliverables lie in: the agent must be able to make them."""
    return tuple(dict.fromkeys(f"/{path.split('/')[1]}" for path in task.artifact_paths))


def _user(asked: str | int | None) -> str | None:
    return None if asked is None else str(asked)
