"""What does evalkit know of one of Inspect's own tasks?

An Inspect task is a suite, and each of its samples is a task. Nothing here imports Inspect, so that plans stay light;
`inspect_loading` makes these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from evalkit.sandbox import SandboxKind
from evalkit.sandbox.protocol import Environment
from evalkit.tasks.settings import Settings
from evalkit.tasks.suite import RunSettings

if TYPE_CHECKING:
    from inspect_ai import Task
    from inspect_ai.dataset import Sample

    from evalkit.trajectory.manifest import Json

PREFIX = "inspect:"
BACKSTOP = 500
"""Generations of a trial whose Inspect task sets no limit at all, so that every run comes to an end."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a sample's code runs."""

    kind: SandboxKind
    environment: Environment


@dataclass(frozen=True, slots=True)
class InspectTask:
    """One sample."""

    id: str
    """The sample's id, made safe for file names and unique among its suite."""
    digest: str
    sample: Sample
    place: Place | None
    """None: the sample asks for no sandbox."""
    settings: Settings = field(default_factory=Settings)

    @property
    def grading_mode(self) -> str:
        """Always Inspect's own scorers."""
        return "inspect"


@dataclass(frozen=True, slots=True)
class InspectSuite:
    """One Inspect task, pinned by the digest of its samples."""

    name: str
    version: str | None
    digest: str
    source: str
    """`inspect:` with the file's absolute path or the package, so that it can be loaded again."""
    tasks: tuple[InspectTask, ...]
    task: Task
    """As Inspect made it."""
    folder: str
    """Where relative paths of the task start."""
    code: Path
    """The folder that the task's code lies in."""
    run: RunSettings
    arguments: Mapping[str, Json]
    """What the task was made with."""
    warnings: tuple[str, ...] = ()

    @property
    def backstop(self) -> int | None:
        """The step limit where nobody sets any; None where the task has a limit of its own."""
        task = self.task
        own = (task.message_limit, task.token_limit, task.turn_limit, task.time_limit)
        return (
            BACKSTOP if all(limit is None for limit in (*own, task.working_limit, task.cost_limit)) else None
        )
