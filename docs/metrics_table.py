"""What does each bundled metric say? The tables of metrics.md, from the scorers' own declarations."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from evalkit import Metric
from evalkit.scoring.scorer_file import load_scorer

SCORERS = Path(__file__).parents[1] / "scorers"
HEAD = ("metric", "meaning", "unit", "better", "range", "null when", "summed up")


def bundled() -> set[str]:
    """The names of the scorers that come with evalkit."""
    return {path.stem for path in SCORERS.glob("*.py")}


def metrics(scorer: str) -> str:
    """The Markdown table of a scorer's metrics, and its version."""
    judge = load_scorer(SCORERS / f"{scorer}.py")
    rows = [HEAD, ("---",) * len(HEAD), *(tuple(_cells(metric)) for metric in judge.metrics)]
    lines = [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]
    return f"Scorer `{scorer}`, version {judge.version}.\n\n" + "\n".join(lines)


def _cells(metric: Metric) -> Iterator[str]:
    yield f"`{metric.name}`"
    yield metric.meaning
    yield "" if metric.unit == "1" else metric.unit
    yield "" if metric.better == "neither" else metric.better
    yield _range(metric)
    yield metric.null_when or "never"
    yield _summed_up(metric)


def _range(metric: Metric) -> str:
    if metric.low is None and metric.high is None:
        return "any"
    if metric.high is None:
        return f"from {metric.low:g}"
    return f"up to {metric.high:g}" if metric.low is None else f"{metric.low:g} to {metric.high:g}"


def _summed_up(metric: Metric) -> str:
    match metric.aggregation:
        case "task_mean":
            shown = {"value": "", "exp": ", shown as exp", "expm1": ", shown as exp - 1"}[metric.shown]
            return f"mean over epochs, then tasks{shown}"
        case "ratio_of_sums":
            return f"sum of `{metric.of[0]}` / sum of `{metric.of[1]}`"
        case "ratio_of_means":
            return f"mean of `{metric.of[0]}` / mean of `{metric.of[1]}`, over tasks"
        case "max":
            return "largest of all trials"
        case "curve":
            return f"curve {metric.curve}" + (f" of `{metric.of[0]}`" if metric.of else "")
