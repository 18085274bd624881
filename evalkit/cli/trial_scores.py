# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyarrow ships no types.
"""What do scorers say about one trial, and at which steps?"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evalkit.cli.broken_lines import say_items
from evalkit.cli.console import note
from evalkit.cli.prose import INDENT, say
from evalkit.cli.summing import check_names, declared_metrics
from evalkit.errors import ConfigError
from evalkit.scoring.figure_text import number_text
from evalkit.scoring.metric import Metric
from evalkit.trajectory.reader import Run
from evalkit.trajectory.rows import scores_from
from evalkit.trajectory.score import ScoreRow

MOST_STEPS = 12


@dataclass(frozen=True, slots=True)
class TrialScore:
    """What was said of the trial, with the declaration of the metric."""

    row: ScoreRow
    metric: Metric | None
    """None where no installed scorer declares it."""

    @property
    def falls_short(self) -> bool:
        """Whether it could be better, as far as its declaration tells what is best."""
        metric, value = self.metric, self.row.value
        if metric is None or value is None:
            return False
        best = {"higher": metric.high, "lower": metric.low, "neither": None}[metric.better]
        return best is not None and value != best


def trial_scores(run: Run, trial_id: str) -> tuple[TrialScore, ...]:
    """The trial's scores, by the order of scorers and of what they declare; none, with a warning, of a damaged file."""
    try:
        rows = {(row.scorer, row.metric): row for row in scores_from(run.scores.of_trial(trial_id))}
    except (ConfigError, ValueError) as error:
        why = error.message if isinstance(error, ConfigError) else str(error)
        again = f"evalkit score {shlex.quote(run.path)}"
        note(f"warning: the trial's scores cannot be read: {why}; compute them again: {again}")
        return ()
    known = declared_metrics({scorer for scorer, _ in rows})
    metrics = {(scorer, metric.name): metric for scorer, own in known.items() for metric in own}
    order = {key: place for place, key in enumerate(metrics)}
    keys = sorted(rows, key=lambda key: (order.get(key, len(order)), key))
    return tuple(TrialScore(rows[key], metrics.get(key)) for key in keys)


def of_metrics(scores: Sequence[TrialScore], names: Sequence[str], run: str) -> tuple[TrialScore, ...]:
    """Those of these metrics, `METRIC` or `SCORER/METRIC`. Raises UsageError for one that the trial has no score of."""
    known = {score.row.metric for score in scores}
    whole = {f"{score.row.scorer}/{score.row.metric}" for score in scores}
    check_names(names, known | whole.intersection(names), without_scores=() if known else (run,))
    return tuple(
        score
        for score in scores
        if {score.row.metric, f"{score.row.scorer}/{score.row.metric}"}.intersection(names)
    )


def say_scores(scores: Sequence[TrialScore], *, full: bool, chosen: bool, run: str) -> None:
    """Print those that could be better, or all of them: the value, its reason, and the steps that it rests on."""
    if not scores:
        say(f"This trial has no scores. Compute them: evalkit score {shlex.quote(run)}")
        return
    shown = [score for score in scores if full or chosen or score.falls_short]
    if not (full or chosen):
        say(
            f"{len(shown)} of {len(scores)} scores could be better:"
            if shown
            else f"None of {len(scores)} scores could be better, as far as their scales have an end."
        )
    for score in shown:
        _say_score(score, full=full)
    if len(shown) < len(scores) and not chosen:
        say(f"(--metric NAME shows one, --full all {len(scores)})")


def scores_as_json(scores: Iterable[TrialScore]) -> list[dict[str, object]]:
    """The scores for programs."""
    return [
        {
            "scorer": score.row.scorer,
            "metric": score.row.metric,
            "value": score.row.value,
            "label": score.row.label,
            "reason": score.row.reason,
            "evidence": list(score.row.evidence),
            "declared": score.metric is not None,
            "falls_short": score.falls_short,
        }
        for score in scores
    ]


def _say_score(score: TrialScore, *, full: bool) -> None:
    row = score.row
    say_items([f"{INDENT}{row.metric}  {number_text(row.value)}"], style="bold")
    told = row.reason or ""
    of_curve = score.metric is not None and score.metric.curve is not None  # which takes labels for numbers
    if row.label is not None and not of_curve:
        told = f"{told} [{row.label}]"
    if row.evidence:
        steps = row.evidence if full else row.evidence[:MOST_STEPS]
        more = len(row.evidence) - len(steps)
        told += f" (step{'' if len(row.evidence) == 1 else 's'} {', '.join(map(str, steps))}"
        told += f" and {more} more: --full)" if more else ")"
    if told:
        say(told.strip(), indent=INDENT * 2)
