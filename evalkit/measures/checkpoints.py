"""Which states of its work did an agent pass through, and how good was each by the grader's word?"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from evalkit.trajectory.step import Event, Step


@dataclass(frozen=True, slots=True)
class State:
    """One state that was copied out while the agent worked, and graded."""

    step: int
    """The call after which it was taken."""
    passed: bool
    reward: float | None = None
    checks: Mapping[str, bool] | None = None
    """None where the grader names none."""


def graded_states(steps: Iterable[Step]) -> tuple[State, ...]:
    """Those of a trial that were graded, in order of their calls; of two of one call the later.

    Empty without checkpoints, and where none could be graded. Ends of stages are no such states.
    """
    found = (_state(step) for step in steps if isinstance(step, Event) and step.event == "checkpoint")
    by_step = {state.step: state for state in found if state is not None}
    return tuple(by_step[step] for step in sorted(by_step))


def copied_states(steps: Iterable[Step]) -> int:
    """How many a trial has, with and without a verdict."""
    return sum(
        isinstance(step, Event) and step.event == "checkpoint" and _of_step(step) is not None
        for step in steps
    )


def first_passed(states: Sequence[State]) -> int | None:
    """The call after which the grader passed for the first time; None where it never did."""
    return next((state.step for state in states if state.passed), None)


def _fields(event: Event) -> dict[str, Any]:
    try:
        told: object = json.loads(event.detail or "")
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", told) if isinstance(told, dict) else {}


def _of_step(event: Event) -> int | None:
    step = _fields(event).get("of_step")
    return step if type(step) is int and 0 <= step <= event.step else None


def _state(event: Event) -> State | None:
    fields, step = _fields(event), _of_step(event)
    passed, reward = fields.get("passed"), fields.get("reward")
    if step is None or type(passed) is not bool:
        return None
    return State(step, passed, _number(reward), _checks(fields.get("checks")))


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _checks(value: object) -> Mapping[str, bool] | None:
    if not isinstance(value, dict) or not value:
        return None
    named = cast("dict[str, object]", value)
    if not all(type(ok) is bool for ok in named.values()):
        return None
    return cast("dict[str, bool]", named)
