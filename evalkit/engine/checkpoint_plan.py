"""Which states of an agent's work are to be copied, how many are graded, and of which tasks?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar, cast

from evalkit.errors import UsageError
from evalkit.tasks.task import Task

if TYPE_CHECKING:
    from evalkit.trajectory.manifest import Json

DEFAULT_BUDGET = 20
_NAMED = 5
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CheckpointPlan:
    """What was asked for."""

    stride: int = 1
    """Of the calls that change the workspace, every so many-th is followed by a copy."""
    budget: int = DEFAULT_BUDGET
    """How many states of a trial are graded; the others are only stored."""

    @property
    def parts(self) -> Mapping[str, Json]:
        """As run.json says it."""
        return {"stride": self.stride, "budget": self.budget}

    @classmethod
    def from_settings(cls, settings: Mapping[str, Json]) -> CheckpointPlan | None:
        """What `parts` were made of; None where a run has no checkpoints."""
        stored = settings.get("checkpoints")
        if not isinstance(stored, Mapping):
            return None
        parts = cast("Mapping[str, int]", stored)
        return cls(int(parts["stride"]), int(parts["budget"]))


def plan_checkpoints(wanted: bool | None, stride: int | None, budget: int | None) -> CheckpointPlan | None:
    """What flags and evalkit.toml ask for. Raises UsageError where something is said of checkpoints that are not
    wanted.
    """
    if wanted:
        return CheckpointPlan(stride or 1, DEFAULT_BUDGET if budget is None else budget)
    if wanted is None and (stride is not None or budget is not None):
        option = "stride" if stride is not None else "budget"
        raise UsageError(
            f"a checkpoint {option} was given, and no checkpoints are wanted", hint="Add --checkpoints."
        )
    return None


def without_states(task: Task) -> str | None:
    """Why no states of this task's trials are stored; None where they are."""
    stage = task.stages[0]
    if task.is_staged:
        return "have steps"
    if stage.verifier.mode != "sealed":
        return f"are graded {stage.verifier.mode}"
    if stage.verifier.collect:
        return "have collect commands, which would be noticed"
    return None  # sealed grading needs something to be delivered


def remarks_on(tasks: Iterable[Task]) -> tuple[str, ...]:
    """One sentence for each reason for which tasks have no checkpoints."""
    by_reason: dict[str, list[str]] = {}
    for task in tasks:
        if (reason := without_states(task)) is not None:
            by_reason.setdefault(reason, []).append(task.id)
    return tuple(
        f"no checkpoints of {_listed(names)}: checkpoints need deliverables and a sealed grader, and these {reason}"
        for reason, names in by_reason.items()
    )


def spread(items: Sequence[T], most: int) -> tuple[T, ...]:
    """At most so many, evenly from the first to the last; of one the last."""
    if len(items) <= most:
        return tuple(items)
    if most < 2:
        return tuple(items[len(items) - most :])
    last = len(items) - 1
    return tuple(items[round(place * last / (most - 1))] for place in range(most))


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"
