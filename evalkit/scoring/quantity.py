"""Which numbers can be told about the agents of a run?"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from evalkit.scoring.metric import Better, Curve, Metric

PASSED = Metric(
    name="pass^1",
    meaning="passed in the final state, by the grader's word",
    unit="share",
    better="higher",
    low=0,
    high=1,
    null_when="the task is an impossible twin",
)
"""What is known of every run, also of one without scores."""
_NUMBERS: Mapping[Curve, str] = {
    "pass^k": r"pass\^[0-9]+",
    "pass@k": r"pass@[0-9]+",
    "maj@k": r"maj@[0-9]+",
    "calibration": "expected_calibration_error|auroc|risk_coverage_area",
}
"""How the numbers of curves are called, where it is not by the metric."""
_BESIDE: Mapping[Curve, tuple[str, ...]] = {"survival": ("_mean",), "quartiles": ("_q1", "_q3")}
"""How the names of further numbers of a curve end, which begin with the metric's."""
UNKNOWN_NOTE = "no scorer that is installed declares it"


@dataclass(frozen=True, slots=True)
class Quantity:
    """A metric as it is stored: with its declaration, or without one where no installed scorer has it any more."""

    scorer: str | None
    """None for what the graders said."""
    name: str
    metric: Metric | None
    """None: not declared. Such a metric is summed up as a mean over tasks."""

    @property
    def better(self) -> Better:
        return self.metric.better if self.metric is not None else "neither"

    @property
    def meaning(self) -> str:
        return self.metric.meaning if self.metric is not None else UNKNOWN_NOTE

    @property
    def unit(self) -> str:
        return self.metric.unit if self.metric is not None else "1"

    def may_give(self, name: str) -> bool:
        """Whether the metric, or a number that comes of it, can have this name."""
        curve = self.metric.curve if self.metric is not None else None
        beside = _BESIDE.get(curve, ()) if curve is not None else ()
        if name == self.name or name in {f"{self.name}{ending}" for ending in beside}:
            return True
        return curve is not None and re.fullmatch(_NUMBERS.get(curve, ""), name) is not None

    def shares_a_name_with(self, other: Metric) -> bool:
        """Whether a number that comes of it and one of the other metric, of another name, can be called the same."""
        curve = self.metric.curve if self.metric is not None else None
        if curve in _NUMBERS and other.curve in _NUMBERS:
            return curve == other.curve
        return other.curve not in _NUMBERS and self.may_give(other.name)


def quantities(
    stored: Mapping[str, Sequence[str]],
    declared: Mapping[str, Sequence[Metric]],
    *,
    wanted: Collection[str] = (),
) -> tuple[Quantity, ...]:
    """Of scorers with stored metrics: what they declare in that order, then what is stored and not declared.

    pass^1 comes first, by the graders' word, where no scorer tells it. A declared metric is left out that nothing is
    stored of, neither of itself nor of what it is computed from. With `wanted` names of metrics or of numbers
    (`SCORER/NAME` where several scorers have one), only what can give one of them.
    """
    found: list[Quantity] = []
    for scorer in [*(name for name in declared if name in stored), *sorted(set(stored) - set(declared))]:
        there = set(stored[scorer])
        known = [metric for metric in declared.get(scorer, ()) if there.issuperset(sources(metric))]
        found += [Quantity(scorer, metric.name, metric) for metric in known]
        names = {metric.name for metric in declared.get(scorer, ())}
        found += [Quantity(scorer, name, None) for name in sorted(there - names)]
    if not any(quantity.metric is not None and quantity.metric.curve == "pass^k" for quantity in found):
        found.insert(0, Quantity(None, PASSED.name, PASSED))
    names = {name.rpartition("/")[2] for name in wanted}
    return tuple(own for own in found if not names or any(map(own.may_give, names)))


def sources(metric: Metric) -> tuple[str, ...]:
    """The stored metrics that it is computed from: those it is `of`, or itself."""
    return metric.of or (metric.name,)


def labelled(declared: Mapping[str, Sequence[Metric]]) -> frozenset[tuple[str, str]]:
    """Scorer and metric of the scores whose labels are needed: curves are made of them."""
    return frozenset(
        (scorer, sources(metric)[0])
        for scorer, metrics in declared.items()
        for metric in metrics
        if metric.aggregation == "curve"
    )
