"""Can a fault be planned for a task at all?"""

from __future__ import annotations

import posixpath
from pathlib import Path

from evalkit.errors import ConfigError
from evalkit.grading.delivering import is_left_out
from evalkit.tasks.copying import Copy
from evalkit.tasks.faults import Fault
from evalkit.tasks.stage import Stage
from evalkit.tasks.task import Task

_NOT_TO_BE_HIDDEN = (
    "/bin",
    "/dev",
    "/etc",
    "/lib",
    "/logs",
    "/proc",
    "/run",
    "/sbin",
    "/solution",
    "/sys",
    "/tests",
)
_NOT_ITSELF = ("/", "/home", "/root", "/tmp", "/usr", "/opt", "/var")  # noqa: S108  paths inside the sandbox


_PLACEHOLDERS = frozenset({".gitkeep", ".keep"})
"""Files whose only use is that their folder is there."""
_OWN_FOLDER = (
    "Name an empty folder of its own below the working directory, where only what may get lost is put."
)
_APART = (
    "Name a folder that is not delivered, or leave it out of the deliverable: exclude = [...] of the artifact; "
    "grading.keep leaves nothing out."
)
_ELSEWHERE = (
    "Declare what the agent delivers (artifacts), so that grading is sealed, or name a folder outside the working "
    "directory."
)

_NOT_HALTED = "Grade that step sealed or shared, or plan the fault for a task without steps."


def check_fits(task: Task, fault: Fault) -> None:
    """Raise ConfigError for a full disk where the task's files or the system would be hidden, or where something that
    is graded would lie on it.

    What lies on the small disk cannot be delivered, and a sandbox that was halted need not have it any more.
    """
    if fault.path is None:
        return
    path = posixpath.normpath(fault.path)
    found = _hides(path, task) or _loses(path, task)
    if found is not None:
        why, hint = found
        raise ConfigError(
            f"the fault {fault.id!r} cannot fill {path}: {why}",
            where=str(task.path / "task.toml"),
            hint=hint,
        )


def _hides(path: str, task: Task) -> tuple[str, str] | None:
    """What is needed and would lie under the disk, and a hint."""
    if path in _NOT_ITSELF or any(_holds(folder, path) for folder in _NOT_TO_BE_HIDDEN):
        return "the sandbox needs it", _OWN_FOLDER
    if _holds(path, task.workdir):
        return f"the working directory {task.workdir} lies in it", _OWN_FOLDER
    copied = next((one for copy in task.recipe.copies if (one := _copied_below(path, copy))), None)
    if copied is not None:
        return f"the Dockerfile copies {copied} there, which would be hidden", _OWN_FOLDER
    brought = (posixpath.join(task.workdir, name) for stage in task.stages for name in stage.workdir_files)
    hidden = next((one for one in brought if _holds(path, one)), None)
    if hidden is not None:
        return f"a step brings {hidden}, which would be hidden", _OWN_FOLDER
    return None


def _loses(path: str, task: Task) -> tuple[str, str] | None:
    """What is graded and would lie on the disk, and a hint."""
    for stage in task.stages[:-1]:
        if stage.verifier.mode == "snapshot":
            return (
                f"everything is halted after {_named(stage)}, and a disk need not outlive that",
                _NOT_HALTED,
            )
    for stage in task.stages:
        for one in stage.artifact_paths:
            if _holds(path, one):
                return f"{one}, which is graded, lies in it", _OWN_FOLDER
            if _holds(one, path) and not is_left_out(task, stage, path):
                return f"it lies in {one}, which is graded, and what is on that disk is not delivered", _APART
        if stage.verifier.mode == "snapshot" and _holds(task.workdir, path):
            return f"{_named(stage)} grades the working directory {task.workdir} as it is left", _ELSEWHERE
    return None


def _named(stage: Stage) -> str:
    return "the task" if stage.name is None else f"its step {stage.name}"


def _copied_below(path: str, copy: Copy) -> str | None:
    """A file or folder that is copied to below `path`."""
    target = posixpath.normpath(copy.target)
    if _holds(path, target):
        return target
    if not _holds(target, path) or not copy.source.is_dir():
        return None
    source = copy.source / posixpath.relpath(path, target)
    files = [source] if source.is_file() else sorted(source.rglob("*")) if source.is_dir() else list[Path]()
    file = next((one for one in files if one.is_file() and one.name not in _PLACEHOLDERS), None)
    return None if file is None else posixpath.join(target, file.relative_to(copy.source).as_posix())


def _holds(folder: str, path: str) -> bool:
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")
