"""What does one scorer say about one trial, and may it say that?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import cast

from evalkit.scoring.curve_score import curve_problem
from evalkit.scoring.failing import InvalidScore, waiting
from evalkit.scoring.foreign import value_text
from evalkit.scoring.metric import Curve, Metric
from evalkit.scoring.quantity import sources
from evalkit.scoring.registry import Named
from evalkit.scoring.score import Score
from evalkit.scoring.scorer import Scorer
from evalkit.scoring.trial import Trial

NOT_RECORDED = "its steps were not recorded"


@dataclass(frozen=True, slots=True)
class Standing:
    """What the frame itself knows of a trial, whatever a scorer does to what it is handed."""

    trial_id: str
    last_step: int
    """-1 for a trial without steps."""
    unscored: str | None
    """Why it is; None where it is scored."""
    recorded: bool = True
    """Whether its steps are in the record; of an imported trial that may hold a verdict only."""


@dataclass(frozen=True, slots=True)
class Judge:
    """A scorer with what it declared when scoring began."""

    name: str
    version: str
    scorer: Scorer
    metrics: Mapping[str, Metric]
    curves: Mapping[str, tuple[Curve, ...]]
    """By the metric whose scores they are made of."""

    @property
    def uses_reference(self) -> bool:
        """Whether any of its metrics rests on reference costs."""
        return any(metric.uses_reference for metric in self.metrics.values())

    def scores(self, trial: Trial, standing: Standing) -> list[Score]:
        """One score for each metric that is declared: null for those that the scorer leaves out, none for those that
        are computed of others only.

        Of an unscored trial every metric is null that does not count unscored trials; of one whose steps were not
        recorded, every metric of a scorer that reads steps. Raises InvalidScore for what is
        no score, a metric that is not declared or comes twice, a value out of its range, a label that its curve cannot
        be made of, and evidence that the trial does not have; and whatever the scorer raises.
        """
        if not standing.recorded and self.scorer.reads_steps:
            return [Score(name, None, NOT_RECORDED) for name, metric in self.metrics.items() if not metric.of]
        given: dict[str, Score] = {}
        told = cast("object", self.scorer.score(trial))
        if not isinstance(told, Iterable):
            raise InvalidScore(_no_scores(told))
        scores = cast("Iterable[object]", told)
        try:
            for score in scores:
                checked = self._checked(score, given, standing)
                given[checked.metric] = checked
        except InvalidScore as error:
            error.frame = waiting(scores)
            raise
        return [
            _completed(metric, given.get(metric.name), standing)
            for metric in self.metrics.values()
            if metric.name in given or not metric.of
        ]

    def _checked(self, score: object, given: Mapping[str, Score], standing: Standing) -> Score:
        if not isinstance(score, Score):
            raise InvalidScore(f"{value_text(score)} is no evalkit.Score")
        wrong = _wrong_field(score)
        if wrong is not None:
            raise InvalidScore(wrong)
        metric = self.metrics.get(score.metric)
        if metric is None:
            raise InvalidScore(f"the metric {score.metric!r} is not declared in `metrics`")
        if metric.name in given:
            raise InvalidScore(f"the metric {metric.name} has two scores for one trial")
        value = _number(score)
        problem = self._problem(metric, value, score, standing)
        if problem is not None:
            raise InvalidScore(f"{score.metric}: {problem}")
        if value is score.value:
            return score
        return Score(score.metric, value, score.reason, score.evidence, score.label)

    def _problem(self, metric: Metric, value: float | None, score: Score, standing: Standing) -> str | None:
        problem = None if value is None else metric.problem(value)
        if problem is not None:
            return problem
        missing = next((step for step in score.evidence if not 0 <= step <= standing.last_step), None)
        if missing is not None:
            return f"the evidence names step {missing}, which the trial does not have"
        if standing.unscored is not None and not metric.counts_unscored:
            return None  # it is not stored
        for kind in self.curves.get(metric.name, ()):
            if (problem := curve_problem(kind, value, score.label)) is not None:
                return problem
        return None


def judge_of(named: Named) -> Judge:
    """The scorer, with its declarations as they are now."""
    metrics = named.scorer.metrics
    return Judge(
        name=named.name,
        version=named.scorer.version,
        scorer=named.scorer,
        metrics={metric.name: metric for metric in metrics},
        curves=curves_of(metrics),
    )


def curves_of(metrics: Iterable[Metric]) -> dict[str, tuple[Curve, ...]]:
    """By metric, which curves are made of its scores."""
    found: defaultdict[str, list[Curve]] = defaultdict(list)
    for metric in metrics:
        if metric.curve is not None:
            found[sources(metric)[0]].append(metric.curve)
    return {name: tuple(kinds) for name, kinds in found.items()}


def _completed(metric: Metric, score: Score | None, standing: Standing) -> Score:
    if standing.unscored is not None and not metric.counts_unscored:
        return Score(metric.name, None, f"unscored: {standing.unscored}")
    return score or Score(metric.name, None, metric.null_when or "not given for this trial")


def _no_scores(told: object) -> str:
    what = "a single score" if isinstance(told, Score) else value_text(told)
    return f"score() gave {what}: it should yield each evalkit.Score, or return a list of them"


def _wrong_field(score: Score) -> str | None:
    """What of a score is of a type that cannot be stored."""
    names = ("metric", "reason", "label", "evidence")
    fields = cast("dict[str, object]", {name: getattr(score, name) for name in names})
    if not isinstance(fields["metric"], str):
        return f"the name of the metric is no text: {value_text(fields['metric'])}"
    if not isinstance(fields["reason"], str):
        return f"{score.metric}: the reason is no text: {value_text(fields['reason'])}"
    if not isinstance(fields["label"], str | None):
        return f"{score.metric}: the label is no text: {value_text(fields['label'])}"
    evidence = fields["evidence"]
    if not isinstance(evidence, tuple) or not all(
        type(step) is int for step in cast("tuple[object, ...]", evidence)
    ):
        return f"{score.metric}: the evidence is no tuple of step numbers"
    return None


def _number(score: Score) -> float | None:
    """The value as it is stored. Raises InvalidScore for what is no number."""
    value: object = score.value
    if value is None or type(value) is float:
        return value
    if not isinstance(value, Real):
        raise InvalidScore(f"{score.metric}: the value is no number: {value_text(value)}")
    try:
        return float(value)
    except OverflowError:
        raise InvalidScore(f"{score.metric}: the value is too large for a number of 64 bits") from None
