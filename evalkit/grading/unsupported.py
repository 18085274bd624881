"""What does a task ask for that cannot be honoured?

It is refused by name, before anything is run, and never half done.
"""

from __future__ import annotations

from collections.abc import Iterator

from evalkit.errors import UsageError
from evalkit.grading.environment import TESTS, VERIFIER, image_user
from evalkit.tasks.harbor import Artifact, EnvironmentTable, Network
from evalkit.tasks.stage import Stage, network_baseline
from evalkit.tasks.task import Task


def refuse_unsupported(task: Task) -> None:
    """Raise UsageError naming what no sandbox can honour."""
    names = list(dict.fromkeys((*_machines(task), *_services(task), *_networks(task), *_grading(task))))
    if names:
        raise UsageError(
            f"task '{task.id}' asks for what this version of evalkit cannot do: {', '.join(names)}",
            where=str(task.path / "task.toml"),
            hint=f"Leave the task out with --task '!{task.id}', or run it with Harbor.",
        )


def refuse_without_docker(task: Task) -> None:
    """Raise UsageError for a task that only containers can honour."""
    needs = task.recipe.needs_docker or next(_only_containers(task), None)
    if needs is not None:
        raise UsageError(
            f"task '{task.id}' needs docker: {needs}",
            where=str(task.path),
            hint="The local sandbox builds no images: use --sandbox docker, or leave the task out with "
            f"--task '!{task.id}'.",
        )


def remarks(task: Task) -> tuple[str, ...]:
    """What a reader should know before this task runs: a network nobody asked for, keys that change nothing here."""
    harbor, said = task.harbor, list[str]()
    modes = (harbor.agent.network_mode, harbor.environment.network_mode)
    if task.agent_network and modes == (None, None):
        said.append(
            "network_mode is not set, and Harbor's default is public: the agent gets this machine's network. "
            'Say network_mode = "no-network" under [environment] to shut it off.'
        )
    if any(artifact.destination for artifact in _artifacts(task)):
        said.append("`destination` of artifacts is not used: what is delivered is kept by its content.")
    if any(table.skills_dir for _, table in _tables(task)):
        said.append("`skills_dir` is not used: the agent is not told of skills.")
    return tuple(f"{task.path / 'task.toml'}: {remark}" for remark in said)


def _tables(task: Task) -> Iterator[tuple[str, EnvironmentTable]]:
    """Every table that describes a machine, with its name."""
    yield "environment", task.harbor.environment
    for stage in task.stages:
        if stage.verifier.machine is not None:
            yield "verifier.environment", stage.verifier.machine


def _artifacts(task: Task) -> Iterator[Artifact]:
    yield from task.harbor.artifacts
    for step in task.harbor.steps:
        yield from step.artifacts


def _machines(task: Task) -> Iterator[str]:
    for name, table in _tables(task):
        prefix = "" if name == "environment" else f"[{name}] "
        found = {
            f"[[{name}.mcp_servers]]": bool(table.mcp_servers),
            f"{prefix}gpus": bool(table.gpus),
            f"{prefix}tpu": table.tpu is not None,
            f'{prefix}os = "windows"': table.os == "windows",
        }
        yield from (asked for asked, present in found.items() if present)


def _services(task: Task) -> Iterator[str]:
    """Other containers than the agent's own."""
    for path in task.compose_files:
        yield f"several containers ({path.relative_to(task.path).as_posix()})"
    for artifact in _artifacts(task):
        if not artifact.is_main:
            yield f"artifacts of the service {artifact.service!r}"
    for stage in task.stages:
        for hook in stage.verifier.collect:
            if hook.service != "main":
                yield f"[[verifier.collect]] in the service {hook.service!r}"


def _networks(task: Task) -> Iterator[str]:
    harbor = task.harbor
    steps = [table for step in harbor.steps for table in (step.agent, step.verifier)]
    tables: list[Network] = [harbor.agent, harbor.verifier, *steps, *(table for _, table in _tables(task))]
    if any(table.network_mode == "allowlist" for table in tables):
        yield 'network_mode = "allowlist"'
    if len({stage.network for stage in task.stages}) > 1:
        yield "steps whose agents have different network modes"
    baseline = network_baseline(harbor, task.settings)
    for stage in task.stages:
        if stage.network != baseline and "setup.sh" in stage.workdir_files:
            yield "a setup.sh of a step with another network mode ([environment]) than the agent's"
        if stage.verifier.mode != "sealed" and stage.verifier.network != task.agent_network:
            yield "a grader in the agent's own sandbox with another network mode than the agent's"


def _grading(task: Task) -> Iterator[str]:
    if any(map(_overlaps, task.artifact_paths)):
        yield "artifacts in the grader's own folders (/tests, /logs/verifier)"
    for stage in task.stages:
        if any(path.is_symlink() and path.is_dir() for path in (stage.path / "workdir").rglob("*")):
            yield "links to folders in a step's workdir/"
        if stage.verifier.machine is not None and stage.verifier.mode != "sealed":
            yield f'[verifier.environment] with grading.mode = "{stage.verifier.mode}"'


def _overlaps(path: str) -> bool:
    """Whether a deliverable would land in, or bring along, a folder that belongs to the grader."""
    inside = f"{path.rstrip('/')}/"
    return any(f"{own}/".startswith(inside) or inside.startswith(f"{own}/") for own in (TESTS, VERIFIER))


def _only_containers(task: Task) -> Iterator[str]:
    for stage in task.stages:
        verifier = stage.verifier
        image = verifier.machine.docker_image if verifier.machine else None
        if verifier.mode == "sealed" and image not in (None, task.harbor.environment.docker_image):
            yield f"the grader has an image of its own, {image}"
        if verifier.recipe is not None and verifier.recipe.needs_docker is not None:
            yield verifier.recipe.needs_docker
    # Locally there is one account, which is shown as root or as the agent.
    others = sorted({user for stage in task.stages for user in _users(task, stage)} - {"root", "0"})
    if len(others) > 1:
        yield f"several users in one sandbox ({', '.join(others)})"


def _users(task: Task, stage: Stage) -> set[str]:
    """Everybody whom commands run as in the agent's sandbox."""
    named = [task.user, stage.user, image_user(task), *(_name(hook.user) for hook in stage.verifier.collect)]
    if stage.verifier.mode != "sealed":
        named.append(stage.verifier.user)
    return {name for name in named if name is not None}


def _name(user: str | int | None) -> str | None:
    return None if user is None else str(user)
