"""Whose fault is a failure? The one place that attributes an error to an origin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

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
    error = innermost(error)
    if isinstance(error, TrialError):
        return Failure(error.origin, type(error).__name__, str(error))
    return Failure("harness", type(error).__name__, f"{type(error).__name__}: {error}")


def innermost(error: Exception) -> Exception:
    """What a group of one stands for: task groups wrap what their only task raised."""
    inner = cast("tuple[Exception, ...]", getattr(error, "exceptions", ()))
    return innermost(inner[0]) if len(inner) == 1 else error
