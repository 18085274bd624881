"""Which trials can be graded again, and what stands in the way of the others?"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from evalkit.engine.checkpoint_state import state_in
from evalkit.engine.inspect_suite import PREFIX
from evalkit.errors import NotComparable
from evalkit.grading.delivered import Delivered, read_delivered
from evalkit.tasks.digest import part_digests
from evalkit.tasks.stage import Stage
from evalkit.tasks.suite import Suite, load_suite
from evalkit.tasks.task import Task
from evalkit.trajectory.artifacts import ArtifactStore
from evalkit.trajectory.manifest import RunManifest
from evalkit.trajectory.step import Event, Step
from evalkit.trajectory.trial import Trial

_NO_END = frozenset({None, "error", "cancelled"})


@dataclass(frozen=True, slots=True)
class Regradable:
    """A trial that can be graded again, with everything that it takes."""

    trial: Trial
    suite: Suite
    task: Task
    """As it is now."""
    stages: tuple[tuple[Stage, Delivered], ...]
    """Those that were delivered, in order."""
    ended_by: str | None
    """What kept the next stage from being begun; None where nothing did, or it is not known."""
    tests_differ: bool
    """Whether its graders' files are others than when the run began."""


class Suites:
    """The suites of a run as they are now, each read once, and what the run says of their tasks."""

    def __init__(self, manifest: RunManifest) -> None:
        """Raises ConfigError for a suite that cannot be read, NotComparable for a run without any of ours."""
        self._manifest = manifest
        self._parts: dict[Path, dict[str, str]] = {}
        self._suites = {
            entry.name: load_suite(Path(entry.source))
            for entry in manifest.suites
            if entry.source is not None and not entry.source.startswith(PREFIX)
        }
        if not self._suites:
            raise NotComparable(
                "the run has no suite whose graders could be run again",
                hint="Imported runs were graded elsewhere, and Inspect tasks by their own scorers.",
            )

    @property
    def folders(self) -> tuple[Path, ...]:
        return tuple(suite.path for suite in self._suites.values())

    def task_of(self, trial: Trial) -> tuple[Suite, Task]:
        """The trial's task as it is now. Raises NotComparable where it is gone, or was never ours."""
        suite = self._suites.get(trial.suite)
        if trial.variant == "twin":
            raise NotComparable("it is an impossible twin, whose passing is evidence itself: run it again")
        if suite is None:
            raise NotComparable("its suite is none of evalkit's own: it was graded elsewhere")
        task = next((task for task in suite.tasks if task.id == trial.task_id), None)
        if task is None:
            raise NotComparable(f"the suite {trial.suite} has no task {trial.task_id} any more")
        return suite, task

    def check(self, trial: Trial, task: Task) -> bool:
        """Whether the task is another now in its tests alone. Raises NotComparable where anything else has changed."""
        if trial.task_digest == task.digest:
            return False
        told = cast("Mapping[str, Any]", self._manifest.tasks.get(f"{trial.suite}/{trial.task_id}") or {})
        before = cast("Mapping[str, str] | None", told.get("parts"))
        if before is None:
            raise NotComparable("its task has changed, and the run does not say in what")
        if task.path not in self._parts:
            self._parts[task.path] = part_digests(task.path)
        after = self._parts[task.path]
        changed = sorted(part for part in {*before, *after} if before.get(part) != after.get(part))
        if others := [part for part in changed if part != "tests"]:
            raise NotComparable(f"its task has changed beside its tests: {', '.join(others)}")
        return bool(changed)


def regradable(trial: Trial, steps: Sequence[Step], suites: Suites, store: ArtifactStore) -> Regradable:
    """The trial with what grading it again takes. Raises NotComparable, saying why, where it cannot be."""
    suite, task = suites.task_of(trial)
    differ = suites.check(trial, task)
    if trial.status == "unscored" and trial.stop_reason in _NO_END:
        raise NotComparable(
            f"it is unscored before any grader was asked ({trial.error_origin}: {trial.error_type})"
        )
    if trial.deliverables is None:
        raise NotComparable(
            "nothing that it delivered was kept"
            if trial.grader_mode == "sealed"
            else f"it was graded {trial.grader_mode or 'in an unknown way'}, and the state of its sandbox is not kept"
        )
    kept = read_delivered(trial.deliverables, store)
    stages = tuple(zip(task.stages, kept, strict=False))
    for stage, own in stages:
        mode = own.grader_mode if own.grader_mode != "sealed" else stage.verifier.mode
        if stage.name != own.stage or not kept or len(kept) > len(task.stages):
            raise NotComparable("its stages are others now")
        if mode != "sealed":
            raise NotComparable(f"it was graded {mode}, and the state of its sandbox is not kept")
    points = [
        step
        for step in steps
        if isinstance(step, Event) and step.event == "checkpoint" and state_in(step) is None
    ]
    graded = len(points) if task.is_staged else len(kept)
    if len(kept) != graded + (trial.status == "unscored" and task.is_staged):
        raise NotComparable("not everything that it delivered was kept")
    ended_by = _ended_by(points[-1]) if len(points) == len(kept) and points else None
    return Regradable(trial, suite, task, stages, ended_by, differ)


def _ended_by(checkpoint: Event) -> str | None:
    try:
        told: object = json.loads(checkpoint.detail or "")
    except (ValueError, RecursionError):
        return None
    ended = cast("dict[str, object]", told).get("trial_ended_by") if isinstance(told, dict) else None
    return ended if isinstance(ended, str) else None
