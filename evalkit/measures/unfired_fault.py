"""Why did a planned fault not fire, or not end?"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence

from evalkit.trajectory.step import Event, Step


def why_endless(steps: Sequence[Step]) -> str | None:
    """Why a fault's `until` could not be asked, by a trial's record; None where it could, or there is none."""
    told = next(
        (step.detail for step in reversed(steps) if isinstance(step, Event) and step.event == "fault"), None
    )
    with contextlib.suppress(ValueError, TypeError, KeyError, RecursionError):
        return str(json.loads(told or "")["until_failed"])
    return None


def why_unfired(steps: Sequence[Step]) -> str:
    """The reason that a trial's record gives."""
    for step in reversed(steps):
        if isinstance(step, Event) and step.event == "fault":
            with contextlib.suppress(ValueError, TypeError, KeyError, RecursionError):
                return str(json.loads(step.detail or "")["reason"])
    return "the record does not say why"
