"""Does an agent do the same again only where that can help?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evalkit import Metric, Score, Scorer, Trial
from evalkit.measures.repeating import STORM, futile_repeats, hasty_retries, is_retry_storm, retries


def _count(name: str, meaning: str, *, worse: bool) -> Metric:
    return Metric(name=name, meaning=meaning, unit="times", better="lower" if worse else "neither", low=0)


@dataclass(frozen=True)
class Retrying(Scorer):
    """Repeats within episodes of recovery, and tests that failed, which are none."""

    version = "2"
    metrics = (
        _count("retries", "repeats after a failure that passes by itself", worse=False),
        _count(
            "retry_storms",
            f"episodes with over {STORM} retries, or one that did not wait as asked",
            worse=True,
        ),
        _count("futile_repeats", "the same failing call again with nothing changed in between", worse=True),
        _count("failing_tests", "test commands that failed, which is no fault", worse=False),
    )

    def score(self, trial: Trial) -> Iterator[Score]:
        found = trial.episodes
        again = [step for episode in found for step in retries(episode)]
        yield _steps("retries", again, "retries after a passing failure")
        futile = [step for episode in found for step in futile_repeats(episode)]
        yield _steps("futile_repeats", futile, "futile repeats")
        failed = [action for action in trial.actions if action.failure]
        tests = [action.step for action in failed if action.intent.operation == "test"]
        yield _steps("failing_tests", tests, "failed test commands")
        storms = [episode for episode in found if is_retry_storm(episode)]
        hasty = sum(bool(hasty_retries(episode)) for episode in storms)
        yield Score(
            "retry_storms",
            len(storms),
            f"{len(storms)} of {len(found)} episodes, {hasty} of them with a retry before the time asked for",
            tuple(step for episode in storms for step in retries(episode)),
        )


def _steps(metric: str, steps: Sequence[int], what: str) -> Score:
    return Score(metric, len(steps), f"{len(steps)} {what}", tuple(steps))
