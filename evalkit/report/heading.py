"""Which columns does a board have?

One for every number that scorers declare, and a few of the trials' own; only some are shown at first. A scorer that is
added later has its column without a line of code here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalkit.report.shown_text import fact
from evalkit.report.shown_text import name as told
from evalkit.scoring.arm import Arm
from evalkit.scoring.metric import Better, Metric
from evalkit.scoring.quantity import PASSED
from evalkit.scoring.summary import Cell, Summary

_FIRST: tuple[tuple[str, Arm], ...] = (
    ("success", "clean"),
    ("hack_inflated_success", "clean"),
    ("clean_success", "clean"),
    ("pass^4", "clean"),
    ("recovery_rate", "faulted"),
    ("success", "faulted"),
    ("tool_calls", "clean"),
    ("collateral", "clean"),
    ("violations", "clean"),
    ("tamper_confirmed", "clean"),
    ("token_efficiency", "clean"),
    ("overspend", "clean"),
    ("cost_of_pass", "clean"),
)
"""Shown at first, in this order, where there are values."""
_SUMMED = {
    "task_mean": "mean over a task's epochs, then over tasks",
    "ratio_of_sums": "sum of {0} / sum of {1} over all trials",
    "ratio_of_means": "mean of {0} / mean of {1} over tasks",
    "curve": "from all trials together",
    "max": "the largest of all trials",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """One column."""

    key: str
    """Unique; goes into links."""
    label: str
    tip: str
    """What it means and how it is summed up, for whoever points at it."""
    unit: str
    better: Better
    name: str
    """Of the figure in the summary."""
    arm: Arm
    shown: bool


def headings(summary: Summary) -> tuple[Heading, ...]:
    """Those that have a value: first what everybody looks for, then the others in the order of scorers."""
    there: dict[tuple[str, Arm], Metric | None] = {}
    unscored = False
    for cell in summary.cells:
        # A run without scores has the graders' word, also where it stands beside one with scores.
        unscored |= cell.arm == "clean" and not _has(cell, "success") and _has(cell, PASSED.name)
        for name, figure in cell.figures.items():
            if figure.estimate.value is not None:
                there.setdefault((name, cell.arm), figure.quantity.metric)
    first = [key for key in _FIRST if key in there]
    if unscored:
        first.insert(int(("success", "clean") in there), (PASSED.name, "clean"))
    return tuple(
        _heading(name, arm, there[name, arm], shown=(name, arm) in first)
        for name, arm in [*first, *(key for key in _ordered(summary, list(there)) if key not in first)]
    )


def column_key(name: str, arm: Arm) -> str:
    """What stands for a column in links and in CSV, safe to show."""
    return f"{told(name)}.{arm}"


def _has(cell: Cell, name: str) -> bool:
    return name in cell.figures and cell.figures[name].estimate.value is not None


def _ordered(summary: Summary, keys: Sequence[tuple[str, Arm]]) -> list[tuple[str, Arm]]:
    place = {name: number for number, name in enumerate(summary.names)}
    return sorted(keys, key=lambda key: (key[1] != "clean", key[1], place.get(key[0], len(place)), key[0]))


def _heading(name: str, arm: Arm, metric: Metric | None, *, shown: bool) -> Heading:
    suffix = "" if arm == "clean" else " under faults" if arm == "faulted" else " (twins)"
    return Heading(
        key=column_key(name, arm),
        label=f"{told(name).replace('_', ' ')}{suffix}",
        tip=_tip(metric),
        unit=metric.unit if metric is not None else "1",
        better=metric.better if metric is not None else "neither",
        name=name,
        arm=arm,
        shown=shown,
    )


def _tip(metric: Metric | None) -> str:
    if metric is None:
        return "No scorer that is installed declares it: the plain mean over tasks."
    summed = _SUMMED[metric.aggregation].format(*metric.of, "", "")
    parts = [f"{metric.meaning[:1].upper()}{metric.meaning[1:]}.", f"{summed[:1].upper()}{summed[1:]}."]
    if metric.null_when:
        parts.append(f"Unknown when {metric.null_when}.")
    return fact(" ".join(parts))
