"""Can a curve be made of this score?"""

from __future__ import annotations

from collections.abc import Iterator

from evalkit.measures.waited import parse
from evalkit.scoring.metric import Curve
from evalkit.trajectory.printable import cut

OUTCOMES = ("passed", "failed")
_MOST = 200
"""Characters of what a score says that are repeated: a label may be megabytes long."""


def curve_problem(kind: Curve, value: float | None, label: str | None) -> str | None:
    """Why no curve of this kind can be made of a score with this value and label; None where one can."""
    problems = _of_times(value, label) if kind == "survival" else _of_value(kind, value, label)
    return next(problems, None)


def _of_times(value: float | None, label: str | None) -> Iterator[str]:
    try:
        times = parse(label or "")
    except ValueError as error:
        yield f"the label {_told(label)} says no times, as survival needs: {cut(str(error), _MOST)}"
    else:
        if value is not None and not times:
            yield "the label says no times, as survival needs"


def _of_value(kind: Curve, value: float | None, label: str | None) -> Iterator[str]:
    if value is None or kind == "quartiles":
        return
    if kind == "calibration":
        if not 0 <= value <= 1:
            yield f"{value:g} is no confidence from 0 to 1, as calibration needs"
        if label not in OUTCOMES:
            yield f"the label {_told(label)} is neither passed nor failed, as calibration needs"
    elif kind == "similarity":
        if label is None:
            yield "the label is no sequence of words, as similarity needs"
    else:
        if value not in {0.0, 1.0}:
            yield f"{value:g} is neither 0 nor 1, as {kind} needs"
        if kind == "maj@k" and label is None:
            yield "the label is no answer, as maj@k needs"


def _told(label: str | None) -> str:
    if label is None or len(label) <= _MOST:
        return repr(label)
    return f"{label[:_MOST]!r}... ({len(label) - _MOST:,} more characters)"
