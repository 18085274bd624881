"""What is one stage of a task: told, worked on and graded by itself?

A task without `[[steps]]` is one stage without a name. What a step does not say is as the task says it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from evalkit.tasks.harbor import Artifact, Collect, EnvironmentTable, HarborTask, Healthcheck, StepTable
from evalkit.tasks.hostenv import resolved
from evalkit.tasks.instruction import read_instruction
from evalkit.tasks.network import NetworkMode, reaches_network
from evalkit.tasks.paths import inside
from evalkit.tasks.recipe import Recipe, parse_dockerfile
from evalkit.tasks.settings import GradingMode, Settings
from evalkit.tasks.tree import files_below


@dataclass(frozen=True, slots=True)
class Verifier:
    """How what a stage left is judged."""

    mode: GradingMode
    folders: tuple[Path, ...]
    """What lies in /tests: files of a later folder stand in place of those of an earlier one."""
    env: Mapping[str, str]
    """Further variables of the grader; those of the host as in `Task.env`."""
    user: str | None
    """As task.toml says; None: the image's own."""
    timeout_s: float
    network: bool
    """Whether the grader may reach anything outside."""
    collect: tuple[Collect, ...] = ()
    """Commands that save state into files before deliverables are taken, in order."""
    is_separate: bool = False
    """Whether Harbor's keys ask for a machine of the grader's own."""
    machine: EnvironmentTable | None = None
    """What that machine is like; None: like the agent's."""
    dockerfile: Path | None = None
    """What the grader's own image is built from; its folder is the build context."""
    recipe: Recipe | None = None
    """What that Dockerfile asks for."""

    @property
    def test_files(self) -> dict[str, Path]:
        """Each file by its path below /tests, sorted by folder; Python's caches are none of the task's."""
        return {
            file.relative_to(folder).as_posix(): file
            for folder in self.folders
            for file in files_below(folder)
            if "__pycache__" not in file.parts
        }

    @property
    def script(self) -> Path | None:
        """The test.sh that is run; None where there is none."""
        found = [folder / "test.sh" for folder in self.folders if (folder / "test.sh").is_file()]
        return found[-1] if found else None


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage, with everything that holds for it."""

    name: str | None
    """Its folder below steps/; None for the only stage of a task without steps."""
    path: Path
    """The folder that holds its instruction, tests and solution."""
    instruction: str
    agent_timeout_s: float | None
    """Seconds that the agent has for it; None where the task does not say."""
    user: str | None
    """Who the agent is, as task.toml says; None: the image's own."""
    network: bool
    """Whether the agent may reach anything outside."""
    healthcheck: Healthcheck | None
    """What must succeed before the agent goes on; the whole task's own is not this one."""
    artifacts: tuple[Artifact, ...]
    artifact_paths: tuple[str, ...]
    """What leaves the sandbox: artifacts' sources, then grading.keep; absolute, normalised, each once."""
    min_reward: Mapping[str, float]
    """Rewards below which no further stage follows."""
    verifier: Verifier
    workdir: Path | None = None
    """The folder whose files are put into the working directory before the agent goes on; it need not exist."""
    must_stay: str | None = None
    """A file that must be the same at the end as at the start, or nothing is passed; absolute."""

    @property
    def solution_dir(self) -> Path:
        """The folder that holds solve.sh; it need not exist."""
        return self.path / "solution"

    @property
    def workdir_files(self) -> dict[str, Path]:
        """What is put into the working directory before the agent goes on, by relative path, sorted by folder."""
        folder = self.workdir
        if folder is None or not folder.is_dir():
            return {}
        return {file.relative_to(folder).as_posix(): file for file in files_below(folder)}


@dataclass(frozen=True, slots=True)
class Source:
    """What a task's stages are made from."""

    path: Path
    harbor: HarborTask
    settings: Settings
    workdir: str


def read_stages(source: Source) -> tuple[Stage, ...]:
    """The stages of a task, in order. Raises ConfigError where an instruction is missing or says nothing."""
    steps = source.harbor.steps
    return tuple(_stage(source, step) for step in steps) if steps else (_stage(source, None),)


def network_default(settings: Settings) -> NetworkMode:
    """Harbor's default, or none where the task has been adapted to evalkit's graders."""
    return "public" if settings.grading is None else "no-network"


def network_baseline(harbor: HarborTask, settings: Settings) -> bool:
    """Whether `[environment]` reaches anything outside, before any phase says otherwise."""
    environment = harbor.environment
    mode = environment.network_mode or network_default(settings)
    return reaches_network(mode, environment.allowed_hosts)


def _stage(source: Source, step: StepTable | None) -> Stage:
    harbor, settings = source.harbor, source.settings
    path = source.path if step is None else source.path / "steps" / step.name
    artifacts = tuple(one for one in (*harbor.artifacts, *(step.artifacts if step else ())) if one.is_main)
    sources = [inside(source.workdir, artifact.source) for artifact in artifacts]
    kept = settings.grading.keep if settings.grading else ()
    published = ("/logs/artifacts",) if _where(source, step) == "separate" else ()
    timeout = step.agent.timeout_sec if step else None
    user = step.agent.user if step and step.agent.user is not None else harbor.agent.user
    return Stage(
        name=step.name if step else None,
        path=path,
        instruction=read_instruction(path / "instruction.md"),
        agent_timeout_s=harbor.agent.timeout_sec if timeout is None else timeout,
        user=None if user is None else str(user),
        network=_agent_network(source, step),
        healthcheck=step.healthcheck if step else None,
        artifacts=artifacts,
        artifact_paths=tuple(dict.fromkeys((*sources, *kept, *published))),
        min_reward=_thresholds(step),
        verifier=_verifier(source, step, path, delivers=bool(artifacts)),
        workdir=path / "workdir" if step else None,
    )


def _verifier(source: Source, step: StepTable | None, path: Path, *, delivers: bool) -> Verifier:
    harbor = source.harbor
    mode = _mode(source, step, delivers=delivers)
    separate = _where(source, step) == "separate"
    machine = (
        ((step.verifier.environment if step else None) or harbor.verifier.environment) if separate else None
    )
    folders = tuple(dict.fromkeys((source.path / "tests", path / "tests")))
    dockerfile = _dockerfile(folders, machine or harbor.environment) if separate else None
    says_timeout = step is not None and "timeout_sec" in step.verifier.model_fields_set
    user = step.verifier.user if step and step.verifier.user is not None else harbor.verifier.user
    return Verifier(
        mode=mode,
        folders=tuple(folder for folder in folders if folder.is_dir()),
        env={**resolved(harbor.verifier.env), **(resolved(step.verifier.env) if step else {})},
        user=None if user is None else str(user),
        timeout_s=step.verifier.timeout_sec if step and says_timeout else harbor.verifier.timeout_sec,
        network=_verifier_network(source, step, mode, machine),
        collect=(*harbor.verifier.collect, *(step.verifier.collect if step else ())),
        is_separate=separate,
        machine=machine,
        dockerfile=dockerfile,
        recipe=parse_dockerfile(dockerfile, dockerfile.parent) if dockerfile else None,
    )


def _where(source: Source, step: StepTable | None) -> str | None:
    """Harbor's own word for where the verifier runs; None where nothing is said."""
    return (step.verifier.mode if step else None) or source.harbor.verifier.mode


def _mode(source: Source, step: StepTable | None, *, delivers: bool) -> GradingMode:
    """As declared; else sealed with artifacts or a separate verifier; else snapshot, or in place between steps."""
    grading, where = source.settings.grading, _where(source, step)
    if grading and grading.mode:
        return grading.mode
    if where == "separate" or (delivers and not (step and where == "shared")):
        return "sealed"
    return "shared" if step else "snapshot"


def _dockerfile(folders: tuple[Path, ...], machine: EnvironmentTable) -> Path | None:
    """A separate verifier without an image of its own is built from its tests."""
    context = next(folder for folder in reversed(folders) if folder.is_dir() or folder == folders[0])
    dockerfile = context / "Dockerfile"
    return dockerfile if machine.docker_image is None and dockerfile.is_file() else None


def _agent_network(source: Source, step: StepTable | None) -> bool:
    harbor = source.harbor
    for table in (step.agent if step else None, harbor.agent):
        if table is not None and table.network_mode is not None:
            return reaches_network(table.network_mode, table.allowed_hosts)
    return network_baseline(harbor, source.settings)


def _verifier_network(
    source: Source, step: StepTable | None, mode: GradingMode, machine: EnvironmentTable | None
) -> bool:
    """Never where our grading table makes it sealed."""
    harbor, settings = source.harbor, source.settings
    if settings.grading is not None and mode == "sealed":
        return False
    for table in (step.verifier if step else None, harbor.verifier, machine):
        if table is not None and table.network_mode is not None:
            return reaches_network(table.network_mode, table.allowed_hosts)
    if machine is not None:
        return network_default(settings) == "public"
    return network_baseline(harbor, settings)


def _thresholds(step: StepTable | None) -> Mapping[str, float]:
    if step is None or step.min_reward is None:
        return {}
    return step.min_reward if isinstance(step.min_reward, dict) else {"reward": step.min_reward}
