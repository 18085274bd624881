"""When did an agent reach something that its task counts?"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from typing import Any, cast

from evalkit.trajectory.step import Event


def milestones(events: Iterable[Event], names: Collection[str]) -> tuple[int, ...]:
    """Steps of the checkpoints at which a declared check, or a stage of that name, passed for the first time.

    Empty without declared names, and without checkpoints.
    """
    if not names:
        return ()
    left = set(names)
    steps: list[int] = []
    for event in events:
        reached = left & _passed(event) if event.event == "checkpoint" else set[str]()
        if reached:
            left -= reached
            steps.append(event.step)
    return tuple(steps)


def _passed(event: Event) -> set[str]:
    try:
        told: object = json.loads(event.detail or "")
    except (ValueError, RecursionError):
        return set()
    if not isinstance(told, dict):
        return set()
    fields = cast("dict[str, Any]", told)
    checks: object = fields.get("checks")
    passed = (
        {name for name, ok in cast("dict[str, Any]", checks).items() if ok is True}
        if isinstance(checks, dict)
        else set[str]()
    )
    if fields.get("passed") is True and isinstance(fields.get("stage"), str):
        passed.add(fields["stage"])
    return passed
