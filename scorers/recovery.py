"""Does an agent put right what went wrong?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evalkit import Metric, Score, Scorer, Trial
from evalkit.measures.repeating import STORM, futile_repeats, hasty_retries, is_retry_storm, retries


def _count(name: str, meaning: str, *, worse: bool = False) -> Metric:
    return Metric(name=name, meaning=meaning, unit="times", better="lower" if worse else "neither", low=0)


@dataclass(frozen=True)
class Recovery(Scorer):
    """Episodes from a failed action to the first later one of its intent that is ok, or to a milestone."""

    metrics = (
        _count("episodes", "failures that were to be put right, each counted until it was"),
        _count("recovered", "episodes that were put right"),
        _count(
            "abandoned", "episodes after whose first failure nothing of the kind was tried again", worse=True
        ),
        _count("retries", "repeats after a failure that passes by itself"),
        _count(
            "retry_storms",
            f"episodes with over {STORM} retries, or one that did not wait as asked",
            worse=True,
        ),
        _count("futile_repeats", "the same failing call again with nothing changed in between", worse=True),
        _count("failing_tests", "test commands that failed, which is no fault"),
        Metric(
            name="recovery_rate",
            meaning="episodes put right / episodes",
            unit="share",
            better="higher",
            low=0,
            high=1,
            null_when="nothing failed",
            aggregation="ratio_of_sums",
            of=("recovered", "episodes"),
        ),
        Metric(
            name="abandonment_rate",
            meaning="episodes abandoned / episodes",
            unit="share",
            better="lower",
            low=0,
            high=1,
            null_when="nothing failed",
            aggregation="ratio_of_sums",
            of=("abandoned", "episodes"),
        ),
        Metric(
            name="recovered_success",
            meaning="success among trials in which something failed",
            unit="share",
            better="higher",
            low=0,
            high=1,
            null_when="nothing failed",
        ),
    )

    def score(self, trial: Trial) -> Iterator[Score]:
        found = trial.episodes
        opened = tuple(episode.opened_at for episode in found)
        closed = tuple(episode.closed_at for episode in found if episode.closed_at is not None)
        abandoned = tuple(episode.opened_at for episode in found if episode.abandoned)
        yield _steps("episodes", opened, "first failures")
        yield _steps("recovered", closed, "episodes closed")
        yield _steps("abandoned", abandoned, "episodes without a further try")
        yield _steps(
            "retries", [step for e in found for step in retries(e)], "retries after a passing failure"
        )
        yield _steps("futile_repeats", [step for e in found for step in futile_repeats(e)], "futile repeats")
        storms = [episode for episode in found if is_retry_storm(episode)]
        hasty = sum(bool(hasty_retries(episode)) for episode in storms)
        yield Score(
            "retry_storms",
            len(storms),
            f"{len(storms)} of {len(found)} episodes, {hasty} of them with a retry before the time asked for",
            tuple(step for episode in storms for step in retries(episode)),
        )
        tests = [
            action.step for action in trial.actions if action.failure and action.intent.operation == "test"
        ]
        yield _steps("failing_tests", tests, "failed test commands")
        if found:
            told = f"{len(closed)} of {len(found)} episodes were put right"
            yield Score("recovery_rate", len(closed) / len(found), told, opened)
            told = f"{len(abandoned)} of {len(found)} episodes were abandoned"
            yield Score("abandonment_rate", len(abandoned) / len(found), told, abandoned)
            told = f"{len(found)} episodes, and the trial {trial.row.status}"
            yield Score("recovered_success", float(bool(trial.passed)), told, opened)


def _steps(metric: str, steps: Sequence[int], what: str) -> Score:
    return Score(metric, len(steps), f"{len(steps)} {what}", tuple(steps))
