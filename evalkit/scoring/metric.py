"""What is one number that is told about agents, and how do those of many trials become one?"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Literal, cast, get_args

Better = Literal["higher", "lower", "neither"]
Aggregation = Literal["task_mean", "ratio_of_sums", "ratio_of_means", "curve", "max"]
Curve = Literal[
    "pass^k", "pass@k", "maj@k", "agreement", "similarity", "survival", "calibration", "quartiles"
]
Shown = Literal["value", "exp", "expm1"]

_NAME = re.compile(r"[a-z][a-z0-9_@^]*")
_WORDS = {"better": get_args(Better), "aggregation": get_args(Aggregation), "shown": get_args(Shown)}
_OF = {"task_mean": (0,), "ratio_of_sums": (2,), "ratio_of_means": (2,), "curve": (0, 1), "max": (0, 1)}
"""How many metrics each aggregation is `of`; of none, it is made of the metric's own scores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """The declaration of one metric. A scorer declares every metric that it gives scores for, once.

    Raises ValueError for a declaration that contradicts itself.
    """

    name: str
    meaning: str
    """In one line, for tables and docs."""
    unit: str = "1"
    """Such as `share`, `calls`, `steps`, `tokens`, `s`; `1` for a number without any."""
    better: Better = "neither"
    low: float | None = None
    """The least value that there can be; None: no bound."""
    high: float | None = None
    null_when: str | None = None
    """When a trial has no value, apart from being unscored; None: never."""
    aggregation: Aggregation = "task_mean"
    """`task_mean`: over a task's epochs, then over tasks; where a task has several faults, over these in between.
    `ratio_of_sums`: sum of `of[0]` / sum of `of[1]`, over trials that have both; `ratio_of_means`: of their task means.
    `curve`: as `curve` says, from the scores of `of[0]`, or of the metric itself. `max`: the largest of all trials."""
    of: tuple[str, ...] = ()
    """Metrics of the same scorer that this one is computed from."""
    curve: Curve | None = None
    shown: Shown = "value"
    """What becomes of the aggregated number: scores that are logarithms of ratios are shown as `exp` of their mean
    (a geometric mean), or as that less one."""
    counts_unscored: bool = False
    """Whether unscored trials have a value, too, as what they did until then still tells something."""
    uses_reference: bool = False
    """Whether its scores rest on the task's reference cost: those of different references are not compared."""
    is_part: bool = False
    """Whether it is there only for others to be `of`: tables leave it out unless it is asked for by name."""

    def __post_init__(self) -> None:
        if type(self.name) is not str or _NAME.fullmatch(self.name) is None:
            raise ValueError(f"{self.name!r} is no name of a metric: lower-case letters, digits, _, @ and ^")
        for problem in chain(_wrong_words(self), _wrong_range(self), _wrong_parts(self)):
            raise ValueError(f"{self.name}: {problem}")

    def problem(self, value: float) -> str | None:
        """Why this cannot be a value of the metric; None where it can."""
        if not math.isfinite(value):
            return f"{value} is no finite number"
        if (self.low is not None and value < self.low) or (self.high is not None and value > self.high):
            return f"{value:g} is outside of [{_bound(self.low)}, {_bound(self.high)}]"
        return None


def _wrong_words(metric: Metric) -> Iterator[str]:
    for name in ("meaning", "unit", "null_when"):
        text: object = getattr(metric, name)
        if text is None and name == "null_when":
            continue
        if not isinstance(text, str) or not text.strip() or "\n" in text:
            yield f"{name} is one line of text, not {text!r}"
    for name, allowed in _WORDS.items():
        if getattr(metric, name) not in allowed:
            yield f"{name} is one of {', '.join(allowed)}, not {getattr(metric, name)!r}"
    if metric.curve is not None and metric.curve not in get_args(Curve):
        yield f"curve is one of {', '.join(get_args(Curve))}, not {metric.curve!r}"
    for name in ("counts_unscored", "uses_reference", "is_part"):
        if type(getattr(metric, name)) is not bool:
            yield f"{name} is True or False, not {getattr(metric, name)!r}"


def _wrong_range(metric: Metric) -> Iterator[str]:
    for name in ("low", "high"):
        bound: object = getattr(metric, name)
        if bound is None:
            continue
        if type(bound) not in {int, float} or not abs(cast("float", bound)) <= sys.float_info.max:
            yield f"{name} is a finite number, or None for no bound, not {bound!r}"
    if metric.low is not None and metric.high is not None and not metric.low <= metric.high:
        yield f"low, {metric.low:g}, is above high, {metric.high:g}"


def _wrong_parts(metric: Metric) -> Iterator[str]:
    parts = cast("object", metric.of)
    if not isinstance(parts, tuple) or {type(part) for part in cast("tuple[object, ...]", parts)} - {str}:
        yield f"of is a tuple of names of metrics, such as ('part', 'whole'), not {parts!r}"
        return
    if len(metric.of) not in _OF[metric.aggregation]:
        allowed = {
            "task_mean": "no other metric",
            "ratio_of_sums": "two metrics",
            "ratio_of_means": "two metrics",
        }
        yield f"{metric.aggregation} is `of` {allowed.get(metric.aggregation, 'one metric at most')}, not {metric.of!r}"
    if metric.name in metric.of:
        yield "it is computed of itself: leave `of` out"
    if (metric.aggregation == "curve") != (metric.curve is not None):
        yield "aggregation `curve` and a curve belong together"
    if metric.aggregation == "curve" and metric.shown != "value":
        yield "the numbers of a curve are shown as they are: leave `shown` out"


def _bound(value: float | None) -> str:
    return "..." if value is None else f"{value:g}"
