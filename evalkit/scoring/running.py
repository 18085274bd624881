"""How are a run's scores computed from its record?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from evalkit.scoring.cohort import Cohort
from evalkit.scoring.facts import Facts
from evalkit.scoring.failing import ScorerFailure, failure_of
from evalkit.scoring.metric import Metric
from evalkit.scoring.registry import Named
from evalkit.scoring.score import Score
from evalkit.scoring.trial import Trial
from evalkit.trajectory.reader import Run, load
from evalkit.trajectory.score import ScoreRow
from evalkit.trajectory.score_files import write_scores

MOST_FAILURES = 20
"""How many are kept with their trial and step; the others are counted."""


class InvalidScore(Exception):
    """A scorer gave what it may not give."""


@dataclass(slots=True)
class Scored:
    """What came of scoring a run."""

    trials: int = 0
    scores: int = 0
    failures: list[ScorerFailure] = field(default_factory=list[ScorerFailure])
    """The first ones."""
    failed: Counter[str] = field(default_factory=Counter[str])
    """By scorer, for how many trials it gave nothing."""

    def note(self, failure: ScorerFailure) -> None:
        self.failed[failure.scorer] += 1
        if len(self.failures) < MOST_FAILURES:
            self.failures.append(failure)


def score_run(path: Path, scorers: Sequence[Named], *, heard: Callable[[int], None] | None = None) -> Scored:
    """Compute the scores of these scorers and put them in place of their old ones; those of others stay.

    The record is streamed: memory holds a row group, one trial, and a summary of the run's tasks. A scorer that raises
    for a trial has no scores of it, which is told; everything else stands. `heard` is told the trials done so far.
    Interrupted at any moment, the old scores are still there. Raises UsageError where the run cannot be written.
    """
    run, scored = load(path), Scored()
    rows = _rows(run, scorers, scored, heard)
    write_scores(path, rows, scorers=[named.name for named in scorers])
    return scored


def _rows(
    run: Run, scorers: Sequence[Named], scored: Scored, heard: Callable[[int], None] | None
) -> Iterator[ScoreRow]:
    facts, cohort, now = Facts(run.manifest), Cohort(run.iter_rows()), datetime.now(UTC)
    for row, steps, effects in run.iter_whole():
        trial = Trial(
            row=row,
            steps=steps,
            effects=effects,
            task=facts.of(row.suite, row.task_id),
            cohort=cohort,
            horizon=facts.horizon(row.suite),
        )
        for named in scorers:
            try:
                scores = trial_scores(named, trial)
            except (Exception, SystemExit) as error:  # noqa: BLE001  the boundary: it is told with scorer, trial and step
                scored.note(failure_of(named.name, row.trial_id, error))
                continue
            for score in scores:
                scored.scores += 1
                yield _row(named, trial, score, now)
        scored.trials += 1
        if heard is not None:
            heard(scored.trials)


def trial_scores(named: Named, trial: Trial) -> list[Score]:
    """One score for each metric that the scorer declares: null for those that it leaves out, none for those that are
    computed of others only.

    Of an unscored trial every metric is null that does not count unscored trials. Raises InvalidScore for a metric that
    is not declared or comes twice, a value out of its range, and evidence that the trial does not have.
    """
    given: dict[str, Score] = {}
    declared = {metric.name: metric for metric in named.scorer.metrics}
    last = trial.steps[-1].step if trial.steps else -1
    for score in named.scorer.score(trial):
        _check(score, declared, given, last)
        given[score.metric] = score
    return [
        _completed(metric, given.get(metric.name), trial)
        for metric in named.scorer.metrics
        if metric.name in given or not metric.of
    ]


def _completed(metric: Metric, score: Score | None, trial: Trial) -> Score:
    if trial.passed is None and not metric.counts_unscored:
        return Score(metric.name, None, "unscored: " + (trial.row.error_origin or "of unknown origin"))
    return score or Score(metric.name, None, metric.null_when or "not given for this trial")


def _check(score: Score, declared: dict[str, Metric], given: dict[str, Score], last: int) -> None:
    if not isinstance(score, Score):  # pyright: ignore[reportUnnecessaryIsInstance]  it is the user's code
        raise InvalidScore(f"{score!r} is no evalkit.Score")
    wrong = _wrong_field(score)
    if wrong is not None:
        raise InvalidScore(wrong)
    metric = declared.get(score.metric)
    if metric is None:
        raise InvalidScore(f"the metric {score.metric!r} is not declared in `metrics`")
    if score.metric in given:
        raise InvalidScore(f"the metric {score.metric} has two scores for one trial")
    problem = None if score.value is None else metric.problem(score.value)
    if problem is not None:
        raise InvalidScore(f"{score.metric}: {problem}")
    missing = next((step for step in score.evidence if not 0 <= step <= last), None)
    if missing is not None:
        raise InvalidScore(
            f"{score.metric}: the evidence names step {missing}, which the trial does not have"
        )


def _wrong_field(score: Score) -> str | None:
    """What of a score is of a type that cannot be stored."""
    fields = cast(
        "dict[str, object]", {name: getattr(score, name) for name in ("reason", "label", "evidence")}
    )
    if not isinstance(fields["reason"], str):
        return f"{score.metric}: the reason is no text: {fields['reason']!r}"
    if not isinstance(fields["label"], str | None):
        return f"{score.metric}: the label is no text: {fields['label']!r}"
    evidence = fields["evidence"]
    if not isinstance(evidence, tuple) or not all(
        type(step) is int for step in cast("tuple[object, ...]", evidence)
    ):
        return f"{score.metric}: the evidence is no tuple of step numbers"
    return None


def _row(named: Named, trial: Trial, score: Score, now: datetime) -> ScoreRow:
    return ScoreRow(
        trial_id=trial.row.trial_id,
        scorer=named.name,
        scorer_version=named.scorer.version,
        metric=score.metric,
        value=None if score.value is None else float(score.value),
        label=score.label,
        reason=score.reason,
        evidence=score.evidence,
        scored_at=now,
    )
