"""Why does a number of a run have no value?"""

from __future__ import annotations

from evalkit.scoring.per_task import OVER_TASKS
from evalkit.scoring.quantity import Quantity
from evalkit.scoring.summary import Cell

NOT_YET = "trials wait to be scored: evalkit score"
UNSCORED = "all its trials are unscored"
TOO_FEW = "no task has enough scored attempts"


def why_no_value(own: Cell, quantity: Quantity, name: str) -> str | None:
    """The reason, in words; None where there is a value."""
    figure = own.figures.get(name)
    if figure is not None and figure.estimate.value is not None:
        return None
    if own.unscored == own.trials:
        return UNSCORED
    if own.awaiting.get(quantity.scorer or "") and (figure is None or not figure.estimate.trials):
        return NOT_YET
    if figure is None and quantity.metric is not None and quantity.metric.curve in OVER_TASKS:
        # Such as pass^3: a curve has no points beyond what some task has attempts for.
        return f"{quantity.metric.null_when}, or {TOO_FEW}" if quantity.metric.null_when else TOO_FEW
    return why_undefined(quantity, tasks=0 if figure is None else figure.estimate.n)


def why_undefined(quantity: Quantity, *, tasks: int) -> str:
    """Why trials that were scored, of which so many tasks count, give no value."""
    metric = quantity.metric
    if metric is None:
        return "no value is stored"
    if metric.curve == "survival" and tasks:
        return "fewer than half came to an end, so that there is no median"
    return metric.null_when or "no trial has a value"
