"""Where did an injected fault strike?"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, cast

from evalkit.trajectory.step import Act, Event, Step

_LONGEST_S = 1e9
"""Seconds; nobody asks to wait longer."""


@dataclass(frozen=True, slots=True)
class Strike:
    """One call that a fault struck."""

    step: int
    """Of the call."""
    fault_id: str
    kind: str
    loud: bool
    visible: bool
    """Whether the observation shows it."""
    canary: str | None = None
    """What it put in place of a true value; None where it put nothing."""
    retry_after_s: float | None = None
    """How long it asked to wait; None where it asked nothing."""


def strikes(steps: Iterable[Step]) -> tuple[Strike, ...]:
    """Every strike in order; none in a trial without faults. What is no event of the injector's is passed over, and so
    is one that belongs to no call before it.
    """
    found: list[Strike] = []
    calls: set[int] = set()
    for step in steps:
        if isinstance(step, Act):
            calls.add(step.step)
        elif isinstance(step, Event) and step.event == "fault" and step.parent_step in calls:
            strike = _strike(step.parent_step, step.detail)
            if strike is not None:
                found.append(strike)
    return tuple(found)


def first_silent(found: Iterable[Strike]) -> tuple[Strike, ...]:
    """Of each silent fault that changed an observation visibly the first such strike, in order."""
    first: dict[str, Strike] = {}
    for strike in found:
        if strike.visible and not strike.loud:
            first.setdefault(strike.fault_id, strike)
    return tuple(first.values())


def _strike(act: int, detail: str | None) -> Strike | None:
    try:
        told: object = json.loads(detail or "")
    except (ValueError, RecursionError):
        return None
    if not isinstance(told, dict):
        return None
    fields = cast("dict[str, Any]", told)
    if not isinstance(fields.get("id"), str) or fields.get("fired") is False:
        return None
    canary = fields.get("canary")
    return Strike(
        step=act,
        fault_id=fields["id"],
        kind=str(fields.get("kind")),
        loud=fields.get("loud") is not False,
        visible=fields.get("visible") is True,
        canary=canary if isinstance(canary, str) and canary else None,
        retry_after_s=_seconds(fields.get("retry_after_s")),
    )


def _seconds(wait: object) -> float | None:
    """None for what is no time that anybody asks to wait."""
    if isinstance(wait, int | float) and not isinstance(wait, bool) and 0 <= wait <= _LONGEST_S:
        return float(wait)
    return None
