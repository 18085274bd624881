"""What is a suite, and which tasks does a folder of them hold?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from evalkit.errors import ConfigError
from evalkit.tasks.digest import suite_digest
from evalkit.tasks.document import validated
from evalkit.tasks.learned import Learned, read_learned
from evalkit.tasks.section import Count, PositiveNumber, Section
from evalkit.tasks.spelling import modernised
from evalkit.tasks.task import Task, load_task
from evalkit.textfile import readable
from evalkit.tomlfile import TomlFile, nearest, read_toml

SUITE_FILE = "suite.toml"
_TASK_FILE = "task.toml"
_WILDCARDS = "*?["

Weight = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]


class RunSettings(Section):
    """`[run]`: how a suite's trials are run. None: the suite does not say."""

    epochs: Count | None = None
    step_limit: Count | None = None
    """Model generations of one trial."""
    token_limit: Count | None = None
    """Tokens of one trial, in and out."""
    time_limit_s: PositiveNumber | None = None
    """Seconds of the agent's time in one trial; a task's own timeout also holds."""
    cost_limit: PositiveNumber | None = None
    """US dollars of one run."""
    max_trials: Count | None = None
    """Trials that run at the same time."""


class SuiteFile(Section):
    """All of a suite.toml."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=100)]
    version: Annotated[str, Field(min_length=1)] | None = None
    description: str = ""
    tasks: Annotated[tuple[str, ...], Field(min_length=1)] = ("tasks/*",)
    """Globs of task folders, relative to the suite's folder."""
    defaults: dict[str, Any] = Field(default_factory=dict)
    """Any setting of a task.toml; it lies under what each task says itself."""
    run: RunSettings = Field(default_factory=RunSettings)
    weights: Mapping[str, Weight] = Field(default_factory=dict[str, float])
    """Weight of a task in means over tasks; tasks that are not named weigh 1."""


@dataclass(frozen=True, slots=True)
class Suite:
    """A named, digest-pinned set of tasks with defaults."""

    name: str
    version: str | None
    description: str
    path: Path
    """The folder, absolute."""
    tasks: tuple[Task, ...]
    """By id, at least one."""
    digest: str
    run: RunSettings
    weights: Mapping[str, float]
    """Of every task."""
    warnings: tuple[str, ...]
    """Of the suite and of all its tasks."""

    @property
    def source(self) -> str:
        """Where it can be found again."""
        return str(self.path)

    def task(self, task_id: str) -> Task:
        """The task with this id. Raises ConfigError, naming the nearest one."""
        for task in self.tasks:
            if task.id == task_id:
                return task
        raise ConfigError(
            f"suite {self.name} has no task {task_id!r}",
            where=str(self.path),
            hint=nearest(task_id, (task.id for task in self.tasks)),
        )


def load_suite(path: Path) -> Suite:
    """Read a suite: a folder with suite.toml (or that file), a plain folder of tasks, or one task's folder.

    Raises ConfigError, with file and line where known, for anything that is missing or invalid.
    """
    with readable(path):
        return _load(path.absolute())


def _load(path: Path) -> Suite:
    if path.name == SUITE_FILE and path.is_file():
        path = path.parent
    if (path / SUITE_FILE).exists():
        return _declared(path)
    if (path / _TASK_FILE).exists():
        return _plain(path, [path])
    if not path.is_dir():
        raise ConfigError(
            "no suite or task is here", where=str(path), hint="A suite is a folder of task folders."
        )
    folders = [folder for folder in _subfolders(path) if (folder / _TASK_FILE).exists()]
    if not folders:
        raise ConfigError(
            "the folder holds no tasks",
            where=str(path),
            hint=f"Each task is a folder with {_TASK_FILE}; tasks that lie deeper need a {SUITE_FILE}.",
        )
    return _plain(path, folders)


def _plain(path: Path, folders: list[Path]) -> Suite:
    tasks = tuple(load_task(folder) for folder in folders)
    return _suite(path, SuiteFile.model_construct(name=path.name), tasks, ())


def _declared(path: Path) -> Suite:
    source = read_toml(path / SUITE_FILE)
    file = source.validate(SuiteFile, source.data)
    defaults, old_spellings = modernised(source, "defaults")
    document = validated(source, defaults, old_spellings, "defaults")
    warnings = list(document.warnings)
    tasks: dict[str, Task] = {}
    for folder, index in _task_folders(path, source, file.tasks, warnings).items():
        task = load_task(folder, defaults)
        if task.id in tasks:
            raise source.error(
                f"two tasks have the id {task.id!r}: {tasks[task.id].path.relative_to(path)} "
                f"and {folder.relative_to(path)}",
                ("tasks", index),
                "A task's id is the name of its folder; rename one.",
            )
        tasks[task.id] = task
    _check_weights(source, file, tasks)
    ordered = tuple(tasks[task_id] for task_id in sorted(tasks))
    return _suite(path, file, ordered, tuple(warnings))


def _suite(path: Path, file: SuiteFile, tasks: tuple[Task, ...], warnings: tuple[str, ...]) -> Suite:
    learned, old = read_learned(path, {task.id: task.digest for task in tasks})
    tasks = tuple(replace(task, learned=learned.get(task.id, Learned())) for task in tasks)
    settings = file.model_dump(mode="json", include={"name", "version", "defaults", "run", "weights"})
    return Suite(
        name=file.name,
        version=file.version,
        description=file.description,
        path=path,
        tasks=tasks,
        digest=suite_digest({task.id: task.digest for task in tasks}, settings),
        run=file.run,
        weights={task.id: file.weights.get(task.id, 1.0) for task in tasks},
        warnings=(*warnings, *old, *(warning for task in tasks for warning in task.warnings)),
    )


def _task_folders(
    path: Path, source: TomlFile, patterns: tuple[str, ...], warnings: list[str]
) -> dict[Path, int]:
    """The task folders that the patterns name, each once, with the index of its pattern."""
    found: dict[Path, int] = {}
    for index, pattern in enumerate(patterns):
        key = ("tasks", index)
        folders = [pattern] if not any(char in pattern for char in _WILDCARDS) else None
        if pattern.startswith("/") or ".." in pattern.split("/") or not pattern.strip("/"):
            raise source.error(
                f"{pattern!r} leaves the suite's folder", key, "Patterns are relative to suite.toml."
            )
        try:
            matches = sorted(path.glob(pattern)) if folders is None else [path / pattern]
        except (ValueError, NotImplementedError, OSError) as error:
            raise source.error(f"{pattern!r} is not a valid pattern: {error}", key) from None
        matched = [folder for folder in matches if folders or _is_task(folder, warnings)]
        if not matched or not all(folder.exists() for folder in matched):
            raise source.error(f"{pattern!r} matches no task", key, _what_is_there(path))
        for folder in matched:
            if not folder.resolve().is_relative_to(path.resolve()):
                raise source.error(f"{folder.relative_to(path)} leads outside the suite's folder", key)
            found.setdefault(folder, index)
    return found


def _is_task(path: Path, warnings: list[str]) -> bool:
    if not path.is_dir() or path.name.startswith((".", "__")):
        return False
    if (path / _TASK_FILE).exists():
        return True
    warnings.append(f"{path}: no {_TASK_FILE} here, so this is not taken as a task")
    return False


def _subfolders(path: Path) -> list[Path]:
    try:
        return sorted(
            folder for folder in path.iterdir() if folder.is_dir() and not folder.name.startswith(".")
        )
    except OSError as error:
        raise ConfigError(f"the folder cannot be read: {error.strerror}", where=str(path)) from None


def _what_is_there(path: Path) -> str:
    folders = list(_tasks_below(path))
    if not folders:
        return f"No folder below {path} holds a {_TASK_FILE}."
    return f"Tasks here: {', '.join(folders[:5])}{', ...' if len(folders) > 5 else ''}."


def _tasks_below(path: Path) -> Iterator[str]:
    for depth in ("*", "*/*", "*/*/*"):
        for file in sorted(path.glob(f"{depth}/{_TASK_FILE}")):
            yield file.parent.relative_to(path).as_posix()


def _check_weights(source: TomlFile, file: SuiteFile, tasks: Mapping[str, Task]) -> None:
    for task_id in file.weights:
        if task_id not in tasks:
            raise source.error(f"a weight is given for {task_id!r}, which is no task of this suite",
                               ("weights", task_id), nearest(task_id, tasks))  # fmt: skip
    if all(file.weights.get(task_id, 1.0) == 0 for task_id in tasks):
        raise source.error("every task weighs 0, so no mean can be taken", ("weights",))
