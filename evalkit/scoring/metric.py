"""What is one number that is told about agents, and how do those of many trials become one?"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal

Better = Literal["higher", "lower", "neither"]
Aggregation = Literal["task_mean", "ratio_of_sums", "ratio_of_means", "curve", "max"]
Curve = Literal["pass^k", "pass@k", "maj@k", "agreement", "similarity", "survival", "calibration"]
Shown = Literal["value", "exp", "expm1"]

_NAME = re.compile(r"[a-z][a-z0-9_@^]*")


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

    def __post_init__(self) -> None:
        if _NAME.fullmatch(self.name) is None:
            raise ValueError(f"{self.name!r} is no name of a metric: lower-case letters, digits, _, @ and ^")
        if self.aggregation in ("ratio_of_sums", "ratio_of_means") and len(self.of) != 2:
            raise ValueError(f"{self.name}: a ratio is `of` two metrics")
        if (self.aggregation == "curve") != (self.curve is not None):
            raise ValueError(f"{self.name}: aggregation `curve` and a curve belong together")
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError(f"{self.name}: low is above high")

    def problem(self, value: float) -> str | None:
        """Why this cannot be a value of the metric; None where it can."""
        if not math.isfinite(value):
            return f"{value} is no finite number"
        if (self.low is not None and value < self.low) or (self.high is not None and value > self.high):
            return f"{value:g} is outside of [{_bound(self.low)}, {_bound(self.high)}]"
        return None


def _bound(value: float | None) -> str:
    return "..." if value is None else f"{value:g}"
