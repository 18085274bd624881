"""Did an agent say that its task cannot be done?"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, cast

from evalkit.trajectory.step import Event


def reported_impossible(events: Iterable[Event], stop_reason: str | None) -> tuple[int, ...] | None:
    """Steps at which it said so, of all submissions; None where it did not.

    A submission says it (`report_impossible`), or the trial's stop reason, `gave_up`, which leaves no step to show.
    """
    said = tuple(event.step for event in events if event.event == "submit" and _is_impossible(event.detail))
    return said if said or stop_reason == "gave_up" else None


def _is_impossible(detail: str | None) -> bool:
    try:
        told: object = json.loads(detail or "")
    except (ValueError, RecursionError):
        return False
    return isinstance(told, dict) and cast("dict[str, Any]", told).get("impossible") is True
