"""Can a fault be planned for a task at all?"""

from __future__ import annotations

import posixpath

from evalkit.errors import ConfigError
from evalkit.tasks.faults import Fault
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


def check_fits(task: Task, fault: Fault) -> None:
    """Raise ConfigError for a full disk where the task's files, its deliverables or the system would be hidden.

    What lies on the small disk is gone before the grader looks.
    """
    if fault.path is None:
        return
    path = posixpath.normpath(fault.path)
    why = _why_not(path, task)
    if why is not None:
        raise ConfigError(
            f"the fault {fault.id!r} cannot fill {path}: {why}",
            where=str(task.path / "task.toml"),
            hint="Name an empty folder of its own below the working directory, where only what may get lost is put.",
        )


def _why_not(path: str, task: Task) -> str | None:
    if path in _NOT_ITSELF or any(_holds(folder, path) for folder in _NOT_TO_BE_HIDDEN):
        return "the sandbox needs it"
    if _holds(path, task.workdir):
        return f"the working directory {task.workdir} lies in it"
    hidden = next((one for one in task.artifact_paths if _holds(path, one)), None)
    if hidden is not None:
        return f"{hidden}, which is graded, lies in it"
    copied = (copy.target for copy in task.recipe.copies)
    hidden = next((one for one in copied if _holds(path, posixpath.normpath(one))), None)
    return None if hidden is None else f"the Dockerfile copies {hidden} there, which would be hidden"


def _holds(folder: str, path: str) -> bool:
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")
