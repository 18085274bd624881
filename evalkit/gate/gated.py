"""Which number does a line of the gate policy name, and how does it become a difference on [-1, 1]?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from evalkit.errors import ConfigError
from evalkit.gate.policy import MetricRule
from evalkit.gate.side import Side
from evalkit.gate.trial_number import TRIAL_NUMBERS, least_amount
from evalkit.scoring.metric import Metric
from evalkit.scoring.per_task import OVER_TASKS, Means, Places, Ratios, brought, means
from evalkit.scoring.quantity import Quantity, sources
from evalkit.scoring.scored_trials import Column
from evalkit.stats.interval import Numbers
from evalkit.tomlfile import nearest

Declared = Mapping[str, Sequence[Metric]]
CUT = math.log(4)
"""Where logarithms of ratios are cut: a task that takes four times as much counts as one that takes forty times."""
LARGEST_RATIO = 4.0


@dataclass(frozen=True, slots=True)
class Gated:
    """A rule, and the metric that it is about."""

    rule: MetricRule
    metric: Metric
    scorer: str | None
    """None for a trial's own number."""

    @property
    def sources(self) -> tuple[str, ...]:
        """The stored metrics that it rests on."""
        return sources(self.metric)

    @property
    def is_log(self) -> bool:
        return self.rule.kind == "ratio"

    @property
    def margin(self) -> float:
        """On [-1, 1], as the differences are."""
        return math.log(self.rule.margin) / CUT if self.is_log else self.rule.margin / self.width

    @property
    def width(self) -> float:
        """From the worst value to the best."""
        low, high = self._bounds()
        return high - low

    @property
    def can_be_imputed(self) -> bool:
        """Whether what is unscored can be given the best or the worst value that there is."""
        return not self.is_log and self.metric.aggregation == "task_mean" and self.scorer is not None

    def by_unit(
        self, side: Side, places: Places, *, unscored: Literal["best", "worst"] | None = None
    ) -> Means | Ratios | None:
        """What the units of a side bring; None where it has no such number.

        `unscored` gives unscored trials the best or the worst value, where `can_be_imputed`.
        """
        if self.scorer is None:
            return means(side.scored, self._logarithms(side.numbers[self.metric.name]), places)
        if any((self.scorer, name) not in side.scored.columns for name in self.sources):
            return None
        if self.metric.aggregation == "task_mean":
            column = side.scored.columns[self.scorer, self.metric.name]
            if unscored is not None:
                low, high = self._bounds()
                value = high if (unscored == "best") == (self.metric.better == "higher") else low
                missing = side.scored.unscored & np.isnan(column.values)
                column = Column(np.where(missing, value, column.values))
            return means(side.scored, self._logarithms(column), places)
        found = brought(side.scored, Quantity(self.scorer, self.metric.name, self.metric), places)
        own = found.get(self.rule.name)
        return own if isinstance(own, Means | Ratios) else None

    def scaled(self, moved: Numbers) -> Numbers:
        """Candidate - baseline of each task, on [-1, 1], where below 0 is worse."""
        if self.is_log:
            return -np.clip(moved / CUT, -1, 1)
        return moved / self.width * (1 if self.metric.better == "higher" else -1)

    def told(self, scaled: float) -> float:
        """A difference on [-1, 1] in the metric's unit; of logarithms, as a share: 0.15 for 15 % more."""
        if self.is_log:
            return math.expm1(-scaled * CUT)
        return scaled * self.width * (1 if self.metric.better == "higher" else -1)

    def amount(self, logarithm: float) -> float:
        """What a mean of logarithms is in the metric's unit."""
        if self.metric.shown != "value":
            return math.expm1(logarithm) if self.metric.shown == "expm1" else math.exp(logarithm)
        return max(0.0, math.exp(logarithm) - least_amount(self.metric))

    def _logarithms(self, column: Column) -> Column:
        if not self.is_log or self.metric.shown != "value":  # those are logarithms already
            return column
        return Column(np.log(np.maximum(column.values, 0) + least_amount(self.metric)))

    def _bounds(self) -> tuple[float, float]:
        if self.metric.curve in OVER_TASKS:
            return 0.0, 1.0
        if self.metric.low is None or self.metric.high is None:
            raise ValueError(f"{self.metric.name} has no bounds")
        return self.metric.low, self.metric.high


def gated(rule: MetricRule, declared: Declared, sides: Sequence[Side]) -> Gated:
    """The metric that a rule names. Raises ConfigError, placed at the rule, where no scorer has it, two have, or this
    limit is none for it."""
    found: list[Gated] = [
        Gated(rule, metric, scorer)
        for scorer, metrics in sorted(declared.items())
        for metric in metrics
        if rule.name == metric.name or rule.name in _curve_names(metric, scorer, sides)
    ]
    if not found and rule.name in TRIAL_NUMBERS:
        found = [Gated(rule, TRIAL_NUMBERS[rule.name], None)]
    if not found:
        names = {*TRIAL_NUMBERS, *(metric.name for metrics in declared.values() for metric in metrics)}
        raise ConfigError(
            f"no scorer that is found here gives {rule.name!r}, and trials have no such number",
            where=rule.where,
            hint=f"{nearest(rule.name, names)} `evalkit score --list` names the metrics.",
        )
    if len(found) > 1:
        scorers = " and ".join(str(one.scorer) for one in found)
        raise ConfigError(
            f"{rule.name} is a metric of {scorers}", where=rule.where, hint="Rename one of them."
        )
    _check_limit(found[0])
    return found[0]


def _curve_names(metric: Metric, scorer: str, sides: Sequence[Side]) -> set[str]:
    """`pass^1`, `pass^2`, ... of a curve that is a mean over tasks and needs no labels."""
    if metric.curve not in ("pass^k", "pass@k", "agreement"):
        return set()
    names: set[str] = set()
    for side in sides:
        if all((scorer, name) in side.scored.columns for name in sources(metric)):
            places = np.arange(len(side.scored.trials))
            names |= set(brought(side.scored, Quantity(scorer, metric.name, metric), places))
    return names


def _check_limit(own: Gated) -> None:
    rule, metric = own.rule, own.metric
    is_curve = metric.curve is not None and metric.curve not in ("pass^k", "pass@k", "agreement")
    if metric.aggregation == "max" or is_curve:
        raise _unfit(rule, "is no mean over tasks, so that tasks cannot be paired", "Gate another metric.")
    if metric.better == "neither":
        raise _unfit(rule, "is neither better when it is higher nor when it is lower", "Gate another metric.")
    if rule.kind == "ratio":
        if metric.better == "higher" or ((metric.low is None or metric.low < 0) and metric.shown == "value"):
            raise _unfit(rule, "is no cost, which may grow by a factor", f"Write max_{_fitting(metric)}.")
        if metric.aggregation != "task_mean":
            raise _unfit(rule, "is a ratio itself", f"Write max_{_fitting(metric)}.")
        if rule.margin >= LARGEST_RATIO:
            raise _unfit(
                rule,
                f"may not grow to {rule.margin:g} times",
                "A task counts at most 4 times: write less than 4.",
            )
        return
    if metric.curve is None and (metric.low is None or metric.high is None):
        raise _unfit(
            rule,
            "has no range that a drop could be a part of",
            "Write max_ratio, such as { max_ratio = 1.15 }."
            if metric.better == "lower"
            else "Gate another metric.",
        )
    if rule.kind != _fitting(metric):
        raise _unfit(rule, f"is better when it is {metric.better}", f"Write max_{_fitting(metric)}.")
    if own.margin >= 1:
        raise _unfit(
            rule,
            f"cannot get worse by more than {own.width:g}",
            "Write a smaller margin: this one lets everything pass.",
        )


def _fitting(metric: Metric) -> str:
    return "drop" if metric.better == "higher" else "rise"


def _unfit(rule: MetricRule, problem: str, hint: str) -> ConfigError:
    return ConfigError(f"{rule.name} {problem}", where=rule.where, hint=hint)
