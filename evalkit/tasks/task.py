"""What is a task, and is the folder that holds it valid?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from evalkit.errors import ConfigError
from evalkit.tasks.digest import task_digest
from evalkit.tasks.document import read_document
from evalkit.tasks.harbor import HarborTask
from evalkit.tasks.hostenv import resolved
from evalkit.tasks.learned import Learned
from evalkit.tasks.paths import inside
from evalkit.tasks.recipe import Recipe, read_recipe
from evalkit.tasks.settings import GradingMode, Settings
from evalkit.tasks.stage import Source, Stage, read_stages
from evalkit.tasks.tree import check_tree
from evalkit.tasks.twin import check_twin
from evalkit.textfile import read_text, readable
from evalkit.tomlfile import TomlFile

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_COMPOSE_FILES = ("docker-compose.yaml", "docker-compose.yml")
_WEAKEST_FIRST: tuple[GradingMode, ...] = ("shared", "snapshot", "sealed")


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
    stages: tuple[Stage, ...]
    """At least one, in order."""
    learned: Learned = field(default_factory=Learned)
    """What a suite's proof has found out about it."""

    @property
    def is_staged(self) -> bool:
        """Whether it has `[[steps]]`."""
        return bool(self.harbor.steps)

    @property
    def grading_mode(self) -> GradingMode:
        """The weakest of its stages' modes."""
        modes = {stage.verifier.mode for stage in self.stages}
        return next(mode for mode in _WEAKEST_FIRST if mode in modes)

    @property
    def artifact_paths(self) -> tuple[str, ...]:
        """What leaves the sandbox after any of its stages; absolute, normalised, each once.

        Artifacts of other containers than the agent's are left out.
        """
        return tuple(dict.fromkeys(path for stage in self.stages for path in stage.artifact_paths))

    @property
    def agent_network(self) -> bool:
        """Whether the agent may reach anything outside, in any stage. An allowlist that names hosts counts."""
        return any(stage.network for stage in self.stages)

    @property
    def verifier_network(self) -> bool:
        """Whether a grader may reach anything outside; never where our grading table makes it sealed."""
        return any(stage.verifier.network for stage in self.stages)

    @property
    def agent_timeout_s(self) -> float | None:
        """Seconds that the agent has; None where the task does not say."""
        return self.harbor.agent.timeout_sec

    @property
    def workdir(self) -> str:
        """Where the agent works: what task.toml says, else the Dockerfile's last WORKDIR, else /app."""
        return _workdir(self.harbor, self.recipe)

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
    def solution_env(self) -> Mapping[str, str]:
        """Further variables of a persona that plays the solution; those of the host as in `env`."""
        return resolved(self.harbor.solution.env)

    @property
    def programs(self) -> tuple[str, ...]:
        """Programs that must exist: `requires`, then what the packages of its Dockerfiles imply."""
        implied = (program for recipe in self._recipes for program in recipe.programs)
        return tuple(dict.fromkeys((*self.settings.requires, *implied)))

    @property
    def modules(self) -> tuple[str, ...]:
        """Python modules that must be importable, implied by the packages of its Dockerfiles."""
        return tuple(dict.fromkeys(module for recipe in self._recipes for module in recipe.modules))

    @property
    def compose_files(self) -> tuple[Path, ...]:
        """Files that ask for several containers: beside the Dockerfile, or beside a separate verifier's tests."""
        own = [
            folder for stage in self.stages if stage.verifier.is_separate for folder in stage.verifier.folders
        ]
        folders = dict.fromkeys((self.path / "environment", *own))
        return tuple(
            path for folder in folders for name in _COMPOSE_FILES if (path := folder / name).exists()
        )

    @property
    def _recipes(self) -> tuple[Recipe, ...]:
        own = (stage.verifier.recipe for stage in self.stages)
        return (self.recipe, *(recipe for recipe in own if recipe is not None))


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
    recipe = read_recipe(path / "environment", document.harbor.environment.docker_image)
    workdir = _workdir(document.harbor, recipe)
    stages = read_stages(Source(path, document.harbor, document.settings, workdir))
    task = Task(
        id=path.name,
        path=path,
        instruction=stages[0].instruction,
        harbor=document.harbor,
        settings=document.settings,
        digest=task_digest(path),
        warnings=(*document.warnings, *recipe.warnings),
        recipe=recipe,
        stages=stages,
    )
    _check_paths(document.source, task)
    if task.is_staged:
        _check_names(document.source, task)
    for stage in stages:
        _check_tests(stage)
    return replace(task, warnings=(*task.warnings, *check_twin(document.source, task)))


def _workdir(harbor: HarborTask, recipe: Recipe) -> str:
    named = harbor.environment.workdir
    return inside(recipe.workdir, named) if named else recipe.workdir


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


def _check_names(source: TomlFile, task: Task) -> None:
    """Of a task with steps, each check is known by its step."""
    names = tuple(f"{stage.name}/" for stage in task.stages)
    grading = task.settings.grading
    for check in grading.checks if grading else ():
        if not check.startswith(names):
            raise source.error(
                f"the check {check!r} belongs to no step",
                ("metadata", "evalkit", "grading", "checks"),
                f"Write the step before it, such as {names[0]}{check}.",
            )


def _check_tests(stage: Stage) -> None:
    """A stage without a test.sh of its own is tested by the task's."""
    script = stage.verifier.script or stage.path / "tests" / "test.sh"
    read_text(script, hint="The grader runs this script; it writes a reward to /logs/verifier/reward.txt.")
