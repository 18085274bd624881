"""What does a run's manifest say about a task that a trial's own rows do not?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from evalkit.scoring.frozen import Frozen
from evalkit.trajectory.manifest import RunManifest


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultFacts:
    """A planned fault, as far as scores need to know it."""

    id: str
    kind: str
    loud: bool
    canary: str | None = None
    """The value by which a silent fault's spread is traced; None where it brings none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFacts:
    """What was declared for a task. Everything is empty for runs that say nothing, such as imported ones."""

    step_limit: int | None = None
    resource_args: Mapping[str, str] = field(default_factory=dict[str, str])
    """Which argument of a function tool is its resource."""
    milestones: tuple[str, ...] = ()
    """Named checks, in order."""
    compares_answers: bool = False
    """Whether the task declares that the answers of its trials can be compared."""
    faults: Mapping[str, FaultFacts] = field(default_factory=dict[str, FaultFacts])
    """By id."""

    effects_declared: bool = False
    """Whether the task says what may change; else the working directory and what it delivers may."""
    required_effects: tuple[str, ...] = ()
    """Patterns of resources that are asked to change."""
    passes_at_start: tuple[str, ...] = ()
    """Named checks that pass before anybody has done anything."""
    network: bool = True
    """Whether its sandbox has one, as far as is known."""

    @property
    def silent_faults(self) -> frozenset[str]:
        return frozenset(fault.id for fault in self.faults.values() if not fault.loud)


class Facts:
    """The facts of every task of a run."""

    def __init__(self, manifest: RunManifest) -> None:
        self._manifest = manifest
        self._known: dict[tuple[str, str], TaskFacts] = {}

    def of(self, suite: str, task_id: str) -> TaskFacts:
        """Those of one task."""
        key = (suite, task_id)
        if key not in self._known:
            self._known[key] = self._read(suite, task_id)
        return self._known[key]

    def horizon(self, suite: str) -> int | None:
        """The largest step limit of a suite's tasks; None where none is known."""
        limits = (
            _step_limit(limit)
            for name, limit in self._manifest.limits.items()
            if name.startswith(f"{suite}/")
        )
        return max((limit for limit in limits if limit is not None), default=None)

    def _read(self, suite: str, task_id: str) -> TaskFacts:
        name = f"{suite}/{task_id}"
        told = _object(self._manifest.tasks.get(name))
        answer, effects = told.get("answer"), _object(told.get("effects"))
        faults = [
            _fault(fault)
            for fault in self._manifest.faults
            if fault.get("suite") == suite and fault.get("task") == task_id
        ]
        return TaskFacts(
            step_limit=_step_limit(self._manifest.limits.get(name)),
            resource_args=Frozen(
                {str(tool): str(arg) for tool, arg in _object(told.get("resource_args")).items()}
            ),
            compares_answers=isinstance(answer, str) and bool(answer),
            milestones=tuple(map(str, _list(told.get("milestones")))),
            faults=Frozen({fault.id: fault for fault in faults}),
            effects_declared=effects.get("declared") is True,
            required_effects=tuple(map(str, _list(effects.get("required")))),
            passes_at_start=tuple(map(str, _list(effects.get("passes_at_start")))),
            network=effects.get("network") is not False,
        )


def _fault(told: Mapping[str, Any]) -> FaultFacts:
    canary = told.get("canary")
    return FaultFacts(
        id=str(told.get("id")),
        kind=str(told.get("kind")),
        loud=told.get("loud") is not False,
        canary=canary if isinstance(canary, str) else None,
    )


def _step_limit(limit: object) -> int | None:
    steps = _object(limit).get("steps")
    return steps if isinstance(steps, int) else None


def _object(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _list(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []
