"""How are a run's scores computed from its record?"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from evalkit.scoring.cohort import Cohort
from evalkit.scoring.earning import tampered_trials
from evalkit.scoring.facts import Facts
from evalkit.scoring.failing import ScorerFailure, failure_of
from evalkit.scoring.foreign import quiet
from evalkit.scoring.frozen import Frozen
from evalkit.scoring.judge import Judge, Standing, judge_of
from evalkit.scoring.reference import Reference
from evalkit.scoring.reference_of_run import reference_of_run
from evalkit.scoring.registry import Named
from evalkit.scoring.score import Score
from evalkit.scoring.trial import Trial
from evalkit.scoring.trial_reference import TrialReference
from evalkit.trajectory.checkpoint_events import checkpointed_tasks
from evalkit.trajectory.reader import Run, load
from evalkit.trajectory.score import ScoreRow
from evalkit.trajectory.score_files import write_scores
from evalkit.trajectory.step import Step
from evalkit.trajectory.trial import Trial as TrialRow

MOST_FAILURES = 20
"""How many different ones are kept; the others are counted."""


@dataclass(slots=True)
class Scored:
    """What came of scoring a run."""

    trials: int = 0
    scores: int = 0
    failed: Counter[str] = field(default_factory=Counter[str])
    """By scorer, for how many trials it gave nothing."""
    _ways: dict[tuple[str, str | None, str], ScorerFailure] = field(
        default_factory=dict[tuple[str, str | None, str], ScorerFailure]
    )

    @property
    def failures(self) -> list[ScorerFailure]:
        """One of each way to fail, in the order in which they came about; at most `MOST_FAILURES`."""
        return list(self._ways.values())

    @property
    def further(self) -> int:
        """Failures that are of none of the kept ways."""
        return self.failed.total() - sum(failure.trials for failure in self._ways.values())

    def note(self, failure: ScorerFailure) -> None:
        """Count it among those that are like it."""
        self.failed[failure.scorer] += 1
        first = self._ways.get(failure.way)
        if first is not None:
            self._ways[failure.way] = dataclasses.replace(first, trials=first.trials + 1)
        elif len(self._ways) < MOST_FAILURES:
            self._ways[failure.way] = failure


def score_run(
    path: Path,
    scorers: Sequence[Named],
    *,
    heard: Callable[[int], None] | None = None,
    reference: Reference | None = None,
) -> Scored:
    """Compute the scores of these scorers and put them in place of their old ones; those of others stay.

    The record is streamed: memory holds a row group, one trial, and a summary of the run's tasks. A scorer that raises
    for a trial has no scores of it, which is told; everything else stands. `heard` is told the trials done so far.
    Costs are measured against `reference`, else against the one that the run keeps, else against its own trials.
    Interrupted at any moment, the old scores are still there. What scorers print goes to standard error. Raises
    UsageError where the run cannot be written.
    """
    path = path.absolute()  # a scorer may change the folder that it works in
    run, scored = load(path), Scored()
    judges = [judge_of(named) for named in scorers]
    if reference is None and any(judge.uses_reference for judge in judges):
        reference = reference_of_run(run, path)
    rows = _rows(run, judges, reference, scored, heard)
    write_scores(path, rows, scorers=[judge.name for judge in judges])
    return scored


def _rows(
    run: Run,
    judges: Sequence[Judge],
    reference: Reference | None,
    scored: Scored,
    heard: Callable[[int], None] | None,
) -> Iterator[ScoreRow]:
    facts, cohort, now = Facts(run.manifest), Cohort(run.iter_rows(), tampered_trials(run)), datetime.now(UTC)
    checkpoints = checkpointed_tasks(run)
    for row, steps, effects in run.iter_whole():
        standing = _standing(row, steps)
        trial = Trial(
            row=_closed(row),
            steps=steps,
            effects=effects,
            task=facts.of(row.suite, row.task_id),
            cohort=cohort,
            horizon=facts.horizon(row.suite),
            had_checkpoints=(row.suite, row.task_id) in checkpoints,
            reference=reference.of(row) if reference else None,
            reference_calls=reference.calls_of(row) if reference else None,
        )
        with quiet():
            said = [(judge, _scores(judge, trial, standing, scored)) for judge in judges]
        for judge, scores in said:
            scored.scores += len(scores)
            yield from (_row(judge, standing, score, now, trial.reference) for score in scores)
        scored.trials += 1
        if heard is not None:
            heard(scored.trials)


def _scores(judge: Judge, trial: Trial, standing: Standing, scored: Scored) -> Sequence[Score]:
    try:
        return judge.scores(trial, standing)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  the boundary: it is told with scorer, trial and step
        scored.note(failure_of(judge.name, judge.scorer, standing.trial_id, error))
        return ()


def _standing(row: TrialRow, steps: Sequence[Step]) -> Standing:
    return Standing(
        trial_id=row.trial_id,
        last_step=steps[-1].step if steps else -1,
        unscored=(row.error_origin or "of unknown origin") if row.status == "unscored" else None,
        recorded=bool(steps) or row.model_calls is not None,
    )


def _closed(row: TrialRow) -> TrialRow:
    """The row with mappings that no scorer can change for the next one."""
    if row.checks is None and row.rewards is None:
        return row
    return dataclasses.replace(
        row,
        checks=None if row.checks is None else Frozen(row.checks),
        rewards=None if row.rewards is None else Frozen(row.rewards),
    )


def _row(
    judge: Judge, standing: Standing, score: Score, now: datetime, reference: TrialReference | None
) -> ScoreRow:
    rests_on = reference if judge.metrics[score.metric].uses_reference else None
    return ScoreRow(
        trial_id=standing.trial_id,
        scorer=judge.name,
        scorer_version=judge.version,
        metric=score.metric,
        value=score.value,
        label=score.label,
        reason=score.reason,
        evidence=score.evidence,
        scored_at=now,
        reference_digest=rests_on.digest if rests_on else None,
    )
