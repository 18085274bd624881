"""What is a task, and is the folder that holds it valid?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from evalkit.errors import ConfigError
from evalkit.tasks import network
from evalkit.tasks.digest import task_digest
from evalkit.tasks.document import read_document
from evalkit.tasks.harbor import Artifact, HarborTask, Network, StepTable, VerifierTable
from evalkit.tasks.hostenv import resolved
from evalkit.tasks.instruction import read_instruction
from evalkit.tasks.paths import inside
from evalkit.tasks.recipe import Recipe, read_recipe
from evalkit.tasks.settings import GradingMode, Settings
from evalkit.tasks.tree import check_tree, files_below
from evalkit.textfile import read_text, readable
from evalkit.tomlfile import TomlFile

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Step:
    """One stage of a task with several: its own instruction, tests and solution under steps/<name>/."""

    name: str
    path: Path
    instruction: str
    harbor: StepTable

    @property
    def tests_dir(self) -> Path:
        """The folder that holds test.sh."""
        return self.path / "tests"

    @property
    def solution_dir(self) -> Path:
        """The folder that holds solve.sh."""
        return self.path / "solution"


@dataclass(frozen=True, slots=True)
class Task:
    """One problem: a folder in Harbor's format, with evalkit's settings beside Harbor's."""

    id: str
    """The name of the folder."""
    path: Path
    """The folder, absolute."""
    instruction: str
    """What the agent is told; of a task with steps, what it is told first."""
    harbor: HarborTask
    """task.toml, with a suite's defaults under it."""
    settings: Settings
    digest: str
    warnings: tuple[str, ...]
    """What was accepted but deserves a look, each with file and line where known."""
    recipe: Recipe
    steps: tuple[Step, ...] = ()

    @property
    def grading_mode(self) -> GradingMode:
        """As declared; else sealed with artifacts or a separate verifier; else snapshot."""
        if self.settings.grading and self.settings.grading.mode:
            return self.settings.grading.mode
        separate = any(verifier.mode == "separate" for verifier in self._verifiers)
        return "sealed" if separate or any(self._artifacts) else "snapshot"

    @property
    def artifact_paths(self) -> tuple[str, ...]:
        """What leaves the sandbox: artifacts' sources, then grading.keep; absolute, normalised, each once.

        Artifacts of other containers than the agent's are left out.
        """
        sources = [inside(self.workdir, artifact.source) for artifact in self._artifacts]
        kept = self.settings.grading.keep if self.settings.grading else ()
        return tuple(dict.fromkeys((*sources, *kept)))

    @property
    def agent_network(self) -> bool:
        """Whether the agent may reach anything outside. An allowlist counts; see `agent_allowed_hosts`."""
        return network.reaches_network(self._network_mode(self.harbor.agent), self.agent_allowed_hosts)

    @property
    def agent_allowed_hosts(self) -> tuple[str, ...] | None:
        """The only hosts that the agent may reach; None where there is no allowlist."""
        for table in (self.harbor.agent, self.harbor.environment):
            if table.network_mode is not None:
                return table.allowed_hosts if table.network_mode == "allowlist" else None
        return None

    @property
    def verifier_network(self) -> bool:
        """Whether the grader may reach anything outside; never where our grading table makes it sealed."""
        if self.settings.grading is not None and self.grading_mode == "sealed":
            return False
        verifier = self.harbor.verifier
        for table in (verifier, verifier.environment):
            if table is not None and table.network_mode is not None:
                return network.reaches_network(table.network_mode, table.allowed_hosts)
        if verifier.environment is not None:
            return self._network_default == "public"
        environment = self.harbor.environment
        return network.reaches_network(
            environment.network_mode or self._network_default, environment.allowed_hosts
        )

    @property
    def tests_dir(self) -> Path:
        """The folder that holds test.sh."""
        return self.path / "tests"

    @property
    def test_files(self) -> tuple[Path, ...]:
        """Every file below tests/, sorted; Python's caches are none of the task's."""
        return tuple(file for file in files_below(self.tests_dir) if "__pycache__" not in file.parts)

    @property
    def solution_dir(self) -> Path:
        """The folder that holds solve.sh; it need not exist."""
        return self.path / "solution"

    @property
    def agent_timeout_s(self) -> float | None:
        """Seconds that the agent has; None where the task does not say."""
        return self.harbor.agent.timeout_sec

    @property
    def verifier_timeout_s(self) -> float:
        """Seconds that the grader has."""
        return self.harbor.verifier.timeout_sec

    @property
    def workdir(self) -> str:
        """Where the agent works: what task.toml says, else the Dockerfile's last WORKDIR, else /app."""
        named = self.harbor.environment.workdir
        return inside(self.recipe.workdir, named) if named else self.recipe.workdir

    @property
    def user(self) -> str | None:
        """Who the agent is: what task.toml says, else the Dockerfile's last USER; None: the image's own."""
        user = self.harbor.agent.user
        return self.recipe.user if user is None else str(user)

    @property
    def env(self) -> Mapping[str, str]:
        """Variables of the Dockerfile and of `[environment.env]`.

        `${NAME:-other}` gives `other`: variables of the host never enter a sandbox by themselves, and an
        entry that needs one is left out (and warned about).
        """
        return {**self.recipe.env, **self.own_env}

    @property
    def own_env(self) -> Mapping[str, str]:
        """Variables of `[environment.env]` alone; those of the host as in `env`."""
        return resolved(self.harbor.environment.env)

    @property
    def verifier_env(self) -> Mapping[str, str]:
        """Further variables of the grader; those of the host as in `env`."""
        return resolved(self.harbor.verifier.env)

    @property
    def solution_env(self) -> Mapping[str, str]:
        """Further variables of a persona that plays the solution; those of the host as in `env`."""
        return resolved(self.harbor.solution.env)

    @property
    def programs(self) -> tuple[str, ...]:
        """Programs that must exist: `requires`, then what the Dockerfile's packages imply."""
        return tuple(dict.fromkeys((*self.settings.requires, *self.recipe.programs)))

    @property
    def _verifiers(self) -> Iterator[VerifierTable]:
        yield self.harbor.verifier
        yield from (step.verifier for step in self.harbor.steps)

    @property
    def _artifacts(self) -> list[Artifact]:
        declared = [*self.harbor.artifacts, *(each for step in self.harbor.steps for each in step.artifacts)]
        return [artifact for artifact in declared if artifact.is_main]

    @property
    def _network_default(self) -> network.NetworkMode:
        """Harbor's default, or none where the task has been adapted to evalkit's graders."""
        return "public" if self.settings.grading is None else "no-network"

    def _network_mode(self, phase: Network) -> network.NetworkMode:
        return phase.network_mode or self.harbor.environment.network_mode or self._network_default


def load_task(path: Path, defaults: Mapping[str, object] | None = None) -> Task:
    """Read and check a task folder; `defaults` (a suite's, shaped like a task.toml) lie under its own values.

    Raises ConfigError, with file and line where known, for anything that is missing or invalid.
    """
    with readable(path):
        return _load(path.absolute(), defaults or {})


def _load(path: Path, defaults: Mapping[str, object]) -> Task:
    _check_folder(path)
    document = read_document(path / "task.toml", defaults)
    check_tree(path)
    steps = tuple(_step(path, table) for table in document.harbor.steps)
    recipe = read_recipe(path / "environment", document.harbor.environment.docker_image)
    task = Task(
        id=path.name,
        path=path,
        instruction=steps[0].instruction if steps else read_instruction(path / "instruction.md"),
        harbor=document.harbor,
        settings=document.settings,
        digest=task_digest(path),
        warnings=(*document.warnings, *recipe.warnings),
        recipe=recipe,
        steps=steps,
    )
    _check_paths(document.source, task)
    for folder in [step.tests_dir for step in steps] or [task.tests_dir]:
        _check_tests(folder, task.tests_dir)
    return task


def _check_folder(path: Path) -> None:
    if not _is_folder(path):
        raise ConfigError("a task folder was expected here", where=str(path))
    try:
        path.name.encode()
    except UnicodeEncodeError:
        raise ConfigError(f"the name {path.name!a} is not UTF-8", where=str(path.parent)) from None
    if not path.name or _CONTROL.search(path.name):
        raise ConfigError(f"{path.name!r} cannot be the id of a task", where=str(path.parent))


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except ValueError:
        return False


def _step(path: Path, table: StepTable) -> Step:
    folder = path / "steps" / table.name
    return Step(table.name, folder, read_instruction(folder / "instruction.md"), table)


def _check_paths(source: TomlFile, task: Task) -> None:
    """What depends on several places at once: paths inside the sandbox, and something to seal."""
    if task.workdir == "/":
        raise source.error(
            "the working directory should be a folder of the task's own, not /",
            ("environment", "workdir"),
            "Set workdir under [environment], or WORKDIR in the Dockerfile.",
        )
    grading = task.settings.grading
    explicit = grading is not None and grading.mode == "sealed"
    if explicit and not task.artifact_paths and task.settings.answer is None:
        raise source.error(
            "sealed grading needs something to be delivered, and nothing is",
            ("metadata", "evalkit", "grading", "mode"),
            'List what the agent makes under keep, such as keep = ["/app/out"].',
        )


def _check_tests(folder: Path, shared: Path) -> None:
    """A step without a test.sh of its own is tested by the task's."""
    script = folder / "test.sh"
    if not script.exists() and (shared / "test.sh").exists():
        script = shared / "test.sh"
    read_text(script, hint="The grader runs this script; it writes a reward to /logs/verifier/reward.txt.")
