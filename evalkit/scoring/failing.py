"""What went wrong in a scorer, and where in which trial?"""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from types import TracebackType

from evalkit.measures.action import Action
from evalkit.trajectory.step import Act, Event, Prompt, Think


@dataclass(frozen=True, slots=True)
class ScorerFailure:
    """A scorer that gave no, or no valid, scores for a trial."""

    scorer: str
    trial_id: str
    step: int | None
    """The step that was looked at; None where it was none."""
    message: str
    place: str | None = None
    """File and line."""


def failure_of(scorer: str, trial_id: str, error: BaseException) -> ScorerFailure:
    """Attribute what a scorer raised."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else None
    said = str(error)
    message = f"{type(error).__name__}: {said}" if said else type(error).__name__
    return ScorerFailure(scorer, trial_id, _step(error.__traceback__), message, place)


def _step(trace: TracebackType | None) -> int | None:
    """The number of the step that the innermost function had in hand."""
    found: int | None = None
    while trace is not None:
        for value in trace.tb_frame.f_locals.values():
            if isinstance(value, Prompt | Think | Act | Event | Action):
                found = value.step
        trace = trace.tb_next
    return found
