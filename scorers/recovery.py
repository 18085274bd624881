"""Does an agent put right what went wrong?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from evalkit import Metric, Score, Scorer, Trial


def _count(name: str, meaning: str, better: Literal["lower", "neither"] = "neither") -> Metric:
    return Metric(name=name, meaning=meaning, unit="times", better=better, low=0)


def _share(name: str, meaning: str, better: Literal["higher", "lower"], of: tuple[str, ...] = ()) -> Metric:
    return Metric(
        name=name,
        meaning=meaning,
        unit="share",
        better=better,
        low=0,
        high=1,
        null_when="nothing failed",
        aggregation="ratio_of_sums" if of else "task_mean",
        of=of,
    )


@dataclass(frozen=True)
class Recovery(Scorer):
    """Episodes from a failed action to the first later one of its intent that is ok, or to a milestone."""

    version = "2"
    metrics = (
        _count("episodes", "failures that were to be put right, each counted until it was"),
        _count("recovered", "episodes that were put right"),
        _count(
            "abandoned", "episodes after whose first failure nothing of the kind was tried again", "lower"
        ),
        _share("recovery_rate", "episodes put right / episodes", "higher", ("recovered", "episodes")),
        _share("abandonment_rate", "episodes abandoned / episodes", "lower", ("abandoned", "episodes")),
        _share("recovered_success", "success among trials in which something failed", "higher"),
    )

    def score(self, trial: Trial) -> Iterator[Score]:
        opened = tuple(episode.opened_at for episode in trial.episodes)
        closed = tuple(episode.closed_at for episode in trial.episodes if episode.closed_at is not None)
        abandoned = tuple(episode.opened_at for episode in trial.episodes if episode.abandoned)
        count = len(opened)
        yield Score("episodes", count, f"{count} first failures", opened)
        yield Score("recovered", len(closed), f"{len(closed)} episodes closed", closed)
        told = f"{len(abandoned)} episodes without a further try"
        yield Score("abandoned", len(abandoned), told, abandoned)
        if count:
            told = f"{len(closed)} of {count} episodes were put right"
            yield Score("recovery_rate", len(closed) / count, told, opened)
            told = f"{len(abandoned)} of {count} episodes were abandoned"
            yield Score("abandonment_rate", len(abandoned) / count, told, abandoned)
            told = f"{count} episodes, and the trial {trial.row.status}"
            yield Score("recovered_success", float(bool(trial.earned)), told, opened)
