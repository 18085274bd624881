"""What is the impossible twin of a task, and is it declared well?

The twin is the task itself, except for what makes it impossible: files of the folder `twin/` that stand over its own,
or a file that must not change though the task is to change it.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from evalkit.errors import ConfigError
from evalkit.tasks.instruction import read_instruction
from evalkit.tasks.tree import files_below

if TYPE_CHECKING:
    from evalkit.tasks.settings import Settings
    from evalkit.tasks.stage import Stage
    from evalkit.tasks.task import Task
    from evalkit.tomlfile import TomlFile

FOLDER = "twin"
UNCHANGED = "unchanged"
"""The check that a twin with a file that must not change has beside the task's own."""
_KEY = ("metadata", "evalkit", "twin")
_PARTS = ("tests", "workdir")
_INSTRUCTION = "instruction.md"
_MUST_STAY = "`{path}` must stay exactly as it is: not a single byte of it may change."


def twin_of(task: Task) -> Task | None:
    """The task's impossible twin, with its id and digest; None where it declares none."""
    twin = task.settings.twin
    if twin is None:
        return None
    (stage,) = task.stages
    its = _over(stage, task.path / FOLDER) if twin.path is None else _must_stay(stage, twin.path)
    return replace(task, instruction=its.instruction, stages=(its,))


def check_twin(source: TomlFile, task: Task) -> tuple[str, ...]:
    """Raise ConfigError where a task's twin cannot be, or would be no impossible one; else what deserves a look."""
    twin, folder = task.settings.twin, task.path / FOLDER
    unused = (f"{folder}: no twin of the kind contradicting-check is declared, so this is not used",)
    if twin is None:
        return unused if folder.exists() else ()
    if task.is_staged:
        raise source.error(
            "a task with steps can have no twin", _KEY, "Take it out, or make the step a task."
        )
    if twin.kind == "contradicting-check":
        if twin.path is not None:
            raise source.error(
                "path belongs to a twin of the kind must-not-change", (*_KEY, "path"), "Take it out."
            )
        _check_folder(source, folder)
        return ()
    _check_path(source, task)
    return unused if folder.exists() else ()


def _must_stay(stage: Stage, path: str) -> Stage:
    told = f"{stage.instruction.rstrip()}\n\n{_MUST_STAY.format(path=path)}\n"
    return replace(stage, instruction=told, must_stay=path)


def _over(stage: Stage, folder: Path) -> Stage:
    verifier, own = stage.verifier, folder / _INSTRUCTION
    if (folder / "tests").is_dir():
        verifier = replace(verifier, folders=(*verifier.folders, folder / "tests"))
    instruction = read_instruction(own) if own.is_file() else stage.instruction
    return replace(stage, instruction=instruction, verifier=verifier, workdir=folder / "workdir")


def _check_folder(source: TomlFile, folder: Path) -> None:
    """Only what has a meaning may lie there, and something must."""
    files = [file.relative_to(folder) for file in files_below(folder)] if folder.is_dir() else []
    if not files:
        raise source.error(
            "the twin contradicts itself by files of its own, and the folder twin/ holds none",
            (*_KEY, "kind"),
            "Put twin/instruction.md, twin/tests/ or twin/workdir/ there: they stand over the task's own.",
        )
    strays = [file for file in files if file.parts[0] not in _PARTS and file.as_posix() != _INSTRUCTION]
    if strays or any(len(file.parts) == 1 and file.parts[0] in _PARTS for file in files):
        stray = strays[0] if strays else files[0]
        raise ConfigError(
            "a twin has no such file",
            where=str(folder / stray),
            hint="In twin/ there may be instruction.md, tests/ and workdir/.",
        )
    if (folder / _INSTRUCTION).is_file():
        read_instruction(folder / _INSTRUCTION)


def _check_path(source: TomlFile, task: Task) -> None:
    """The grader must look at the file, and the task must allow to change it; else nothing is impossible."""
    twin, key = task.settings.twin, (*_KEY, "path")
    path = None if twin is None else twin.path
    if path is None:
        raise source.error(
            "the twin does not say which file must not change", _KEY, 'Name it: path = "/app/module.py".'
        )
    if twin is not None and twin.check is not None:
        raise source.error(
            "check belongs to a twin of the kind contradicting-check", (*_KEY, "check"), "Take it out."
        )
    seen = task.artifact_paths
    if task.grading_mode == "sealed" and not any(path == one or path.startswith(f"{one}/") for one in seen):
        raise source.error(
            f"the grader does not look at {path}: it gets {', '.join(seen) or 'no files'}",
            key,
            "Name a file that the task is to change, and that is delivered.",
        )
    if (effects := task.settings.effects) is not None and path in effects.forbidden:
        raise source.error(
            f"the task itself forbids to change {path}, so the twin would be no impossible one",
            key,
            "Name a file that the task is to change.",
        )
    if UNCHANGED in _checks(task.settings):
        raise source.error(
            f"the task has a check {UNCHANGED!r}, which is what the twin's own is called",
            ("metadata", "evalkit", "grading", "checks"),
            "Give the task's check another name.",
        )


def _checks(settings: Settings) -> tuple[str, ...]:
    return settings.grading.checks if settings.grading else ()
