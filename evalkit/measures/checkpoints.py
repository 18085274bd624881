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


def first_passed(states: Sequence[State]) -> int | None:
    """The call after which the grader passed for the first time; None where it never did."""
    return next((state.step for state in states if state.passed), None)


def _state(event: Event) -> State | None:
    try:
        told: object = json.loads(event.detail or "")
    except (ValueError, RecursionError):
        return None
    if not isinstance(told, dict):
        return None
    fields = cast("dict[str, Any]", told)
    step, passed, reward = fields.get("of_step"), fields.get("passed"), fields.get("reward")
    if type(step) is not int or not 0 <= step <= event.step or type(passed) is not bool:
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
