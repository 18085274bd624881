"""Whose fault is a failure? The one place that attributes an error to an origin."""

from __future__ import annotations

from dataclasses import dataclass

from evalkit.errors import Origin, TrialError


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a trial is unscored."""

    origin: Origin
    kind: str
    message: str


INTERRUPTED = Failure("harness", "interrupted", "the run was interrupted before this trial ended")


def attribute(error: Exception) -> Failure:
    """Say whose fault an error is.

    Errors that name their origin keep it; anything else is a defect of evalkit itself: `harness`.
    """
    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    if isinstance(error, TrialError):
        return Failure(error.origin, type(error).__name__, str(error))
    return Failure("harness", type(error).__name__, f"{type(error).__name__}: {error}")
