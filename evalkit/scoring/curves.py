"""Which numbers do several trials make, where a mean says too little?

Each curve takes the trials of one agent (and arm) as points, and gives numbers by name. None stands for what these
trials do not tell.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from statistics import fmean, quantiles
from typing import TypeVar

from evalkit.measures.calibration import auroc, expected_calibration_error, risk_coverage_area
from evalkit.measures.similarity import path_similarity
from evalkit.measures.success import outcome_agreement, pass_at_k, pass_hat_k
from evalkit.measures.voting import majority_at_k
from evalkit.measures.waited import Waited, parse
from evalkit.scoring.metric import Curve, Metric
from evalkit.scoring.point import Point

Numbers = dict[str, float | None]
LARGEST_K = 16
"""How far pass^k and its like go, however many epochs there are."""

Attempt = TypeVar("Attempt", bound=Hashable)


def curve(metric: Metric, points: Sequence[Point]) -> Numbers:
    """The numbers of a metric whose aggregation is `curve`, by name.

    `pass^k`, `pass@k` and `maj@k` give `pass^1`, `pass^2`, ... up to the most scored epochs that a task has (at most
    16). `agreement` and `similarity` give one number under the metric's name, `survival` two: the median, and with
    `_mean` the restricted mean; `quartiles` three, of means of tasks: the median, and with `_q1` and
    `_q3` the quartiles. `calibration` gives `expected_calibration_error`, `auroc` and `risk_coverage_area`.
    Raises ValueError for a metric without a curve, and for a label that is no notation of times.
    """
    if metric.curve is None:
        raise ValueError(f"{metric.name} has no curve")
    return _CURVES[metric.curve](metric.name, points)


def _pass_hat(_: str, points: Sequence[Point]) -> Numbers:
    outcomes = _outcomes(points)
    return {f"pass^{k}": pass_hat_k(outcomes, k) for k in _ks(outcomes)}


def _pass_at(_: str, points: Sequence[Point]) -> Numbers:
    outcomes = _outcomes(points)
    return {f"pass@{k}": pass_at_k(outcomes, k) for k in _ks(outcomes)}


def _majority(_: str, points: Sequence[Point]) -> Numbers:
    votes = _by_task(
        (p.task, (p.label, p.value == 1)) for p in points if p.value is not None and p.label is not None
    )
    return {f"maj@{k}": majority_at_k(votes, k) for k in _ks(votes)}


def _agreement(name: str, points: Sequence[Point]) -> Numbers:
    return {name: outcome_agreement(_outcomes(points))}


def _similarity(name: str, points: Sequence[Point]) -> Numbers:
    paths = _by_task((p.task, p.label or "") for p in points if p.value is not None)
    return {name: path_similarity(paths)}


def _survival(name: str, points: Sequence[Point]) -> Numbers:
    from evalkit.stats.survival import survival

    times = [time for point in points for time in parse(point.label or "")]
    horizon = max((time.amount for time in times), default=0.0)
    if not horizon:
        return {name: _at_once(times), f"{name}_mean": 0.0 if times else None}
    found = survival(
        [time.amount for time in times if time.happened],
        [time.amount for time in times if not time.happened],
        horizon=horizon,
    )
    return {
        name: found.median if found else None,
        f"{name}_mean": found.restricted_mean if found else None,
    }


def _at_once(times: Sequence[Waited]) -> float | None:
    """The median where every time is 0."""
    return 0.0 if times and 2 * sum(time.happened for time in times) >= len(times) else None


def _calibration(_: str, points: Sequence[Point]) -> Numbers:
    answers = [(p.value, p.label == "passed") for p in points if p.value is not None]
    return {
        "expected_calibration_error": expected_calibration_error(answers),
        "auroc": auroc(answers),
        "risk_coverage_area": risk_coverage_area(answers),
    }


def _quartiles(name: str, points: Sequence[Point]) -> Numbers:
    tasks = _by_task((point.task, point.value) for point in points if point.value is not None)
    means = sorted(map(fmean, tasks.values()))
    if len(means) < 2:
        return {name: means[0] if means else None}
    low, middle, high = quantiles(means, n=4, method="inclusive")
    return {name: middle, f"{name}_q1": low, f"{name}_q3": high}


_CURVES: Mapping[Curve, Callable[[str, Sequence[Point]], Numbers]] = {
    "pass^k": _pass_hat,
    "pass@k": _pass_at,
    "maj@k": _majority,
    "agreement": _agreement,
    "similarity": _similarity,
    "survival": _survival,
    "calibration": _calibration,
    "quartiles": _quartiles,
}


def _outcomes(points: Iterable[Point]) -> dict[str, list[bool]]:
    return _by_task((p.task, p.value == 1) for p in points if p.value is not None)


def _by_task(attempts: Iterable[tuple[str, Attempt]]) -> dict[str, list[Attempt]]:
    tasks: defaultdict[str, list[Attempt]] = defaultdict(list)
    for task, attempt in attempts:
        tasks[task].append(attempt)
    return dict(tasks)


def _ks(tasks: Mapping[str, Sequence[object]]) -> range:
    return range(1, min(LARGEST_K, max(map(len, tasks.values()), default=0)) + 1)
