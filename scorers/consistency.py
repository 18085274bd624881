"""Does an agent do the same thing every time?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evalkit import Metric, Score, Scorer, Trial
from evalkit.measures.similarity import LONGEST


@dataclass(frozen=True)
class Consistency(Scorer):
    """What the epochs of a task have in common: their outcomes and their ways."""

    metrics = (
        Metric(
            name="outcome_agreement",
            meaning="probability that two attempts at a task end alike",
            unit="share",
            better="higher",
            low=0,
            high=1,
            null_when="the task is an impossible twin",
            aggregation="curve",
            curve="agreement",
        ),
        Metric(
            name="path_similarity",
            meaning="how alike the tool calls of a task's passed trials are: 1 - edit distance / length, in pairs",
            unit="share",
            low=0,
            high=1,
            null_when="the trial did not pass",
            aggregation="curve",
            curve="similarity",
        ),
    )

    def score(self, trial: Trial) -> Iterator[Score]:
        if trial.row.variant == "twin":
            return
        told = f"the trial {trial.row.status}; epochs of its task are compared"
        yield Score("outcome_agreement", float(bool(trial.earned)), told)
        if trial.earned:
            words = [action.word for action in trial.actions]
            told = f"it passed by {len(words)} calls; passed epochs of its task are compared"
            yield Score("path_similarity", 1.0, told, (), " ".join(words[:LONGEST]))
