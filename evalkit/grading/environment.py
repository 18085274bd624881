"""Which sandbox does a task's agent get, and which its grader?"""

from __future__ import annotations

from collections.abc import Mapping

from evalkit.errors import UsageError
from evalkit.sandbox.protocol import Environment, Imitation, Limits, Placement
from evalkit.tasks.task import Task

LOGS = "/logs"
TESTS = "/tests"
SOLUTION = "/solution"
VERIFIER = f"{LOGS}/verifier"


def agent_environment(task: Task, *, with_solution: bool = False) -> Environment:
    """What the agent's sandbox starts from.

    /logs and /tests are there, empty, as in Harbor; /solution only for personas that play it.
    """
    extra: tuple[Placement, ...] = ()
    if with_solution and task.solution_dir.is_dir():
        extra = (Placement(task.solution_dir, SOLUTION),)
    return _environment(
        task,
        env={**task.own_env, **task.solution_env} if with_solution else task.own_env,
        user=_user(task.harbor.agent.user),
        network=task.agent_network,
        extra=extra,
        private=(LOGS, TESTS, SOLUTION) if extra else (LOGS, TESTS),
    )


def grader_environment(task: Task) -> Environment:
    """What a sealed grader's fresh sandbox starts from: the task's own files and its tests, nothing else."""
    return _environment(
        task,
        env={**task.own_env, **task.verifier_env},
        user=_user(task.harbor.verifier.user),
        network=task.verifier_network,
        extra=tuple(
            Placement(
                file,
                f"{TESTS}/{file.relative_to(task.tests_dir).as_posix()}",
                executable=file == task.tests_dir / "test.sh",
            )
            for file in task.test_files
        ),
        private=(LOGS, TESTS),
    )


def refuse_unsupported(task: Task) -> None:
    """Raise UsageError naming what this version cannot honour; never half do it."""
    harbor = task.harbor
    verifier, environment = harbor.verifier, harbor.environment
    found = {
        "multi-step tasks ([[steps]])": bool(harbor.steps),
        "[environment.healthcheck]": environment.healthcheck is not None,
        "[[environment.mcp_servers]]": bool(environment.mcp_servers),
        "gpus": bool(environment.gpus),
        "tpu": environment.tpu is not None,
        'network_mode = "allowlist"': "allowlist"
        in {environment.network_mode, harbor.agent.network_mode, verifier.network_mode},
        "[[verifier.collect]]": bool(verifier.collect),
        "[verifier.environment]": verifier.environment is not None,
        "artifacts in the grader's own folders (/tests, /logs/verifier)": any(
            map(_overlaps, task.artifact_paths)
        ),
    }
    names = [name for name, present in found.items() if present]
    if names:
        raise UsageError(
            f"task '{task.id}' asks for what this version of evalkit cannot do: {', '.join(names)}",
            where=str(task.path / "task.toml"),
            hint="Leave the task out with --task, or run it with Harbor.",
        )


def _overlaps(path: str) -> bool:
    """Whether a deliverable would land in, or bring along, a folder that belongs to the grader."""
    inside = f"{path.rstrip('/')}/"
    return any(f"{own}/".startswith(inside) or inside.startswith(f"{own}/") for own in (TESTS, VERIFIER))


def remarks(task: Task) -> tuple[str, ...]:
    """What a reader should know before this task runs: a network nobody asked for, keys that change nothing here."""
    said: list[str] = []
    modes = (task.harbor.agent.network_mode, task.harbor.environment.network_mode)
    if task.agent_network and modes == (None, None):
        said.append(
            "network_mode is not set, and Harbor's default is public: the agent gets this machine's network. "
            'Say network_mode = "no-network" under [environment] to shut it off.'
        )
    if any(artifact.exclude or artifact.destination for artifact in task.harbor.artifacts):
        said.append("`exclude` and `destination` of artifacts are not used: the whole source is delivered.")
    return tuple(f"{task.path / 'task.toml'}: {remark}" for remark in said)


def refuse_without_docker(task: Task) -> None:
    """Raise UsageError for a task whose Dockerfile only an image build can honour."""
    if task.recipe.needs_docker is not None:
        raise UsageError(
            f"task '{task.id}' needs docker: {task.recipe.needs_docker}",
            where=str(task.path),
            hint="The local sandbox builds no images: use --sandbox docker, or leave the task out with --task.",
        )


def _environment(
    task: Task,
    *,
    env: Mapping[str, str],
    user: str | None,
    network: bool,
    extra: tuple[Placement, ...],
    private: tuple[str, ...],
) -> Environment:
    resources, recipe = task.harbor.environment, task.recipe
    dockerfile = task.path / "environment" / "Dockerfile"
    copies = tuple(Placement(copy.source, copy.target) for copy in recipe.copies)
    return Environment(
        workdir=task.workdir if resources.workdir else "",
        env=env,
        user=user,
        files=copies + extra,
        network=network,
        limits=Limits(cpus=resources.cpus, memory_mb=resources.memory_mb, storage_mb=resources.storage_mb),
        image=resources.docker_image,
        dockerfile=dockerfile if dockerfile.is_file() else None,
        imitation=Imitation(workdir=recipe.workdir, env=recipe.env, user=recipe.user),
        private=private + tuple(recipe.folders) + _delivered_tops(task),
    )


def _delivered_tops(task: Task) -> tuple[str, ...]:
    """The top-level folders that deliverables lie in: the agent must be able to make them."""
    return tuple(dict.fromkeys(f"/{path.split('/')[1]}" for path in task.artifact_paths))


def _user(asked: str | int | None) -> str | None:
    return None if asked is None else str(asked)
