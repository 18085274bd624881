"""Does an agent do the same thing every time?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evalkit import Metric, Score, Scorer, Trial
from evalkit.measures.similarity import LONGEST
from evalkit.measures.voting import comparable


@dataclass(frozen=True)
class Consistency(Scorer):
    """What the epochs of a task have in common: their outcomes, their ways, their answers."""

    longest_answer: int = 200
    """Characters of an answer beyond which it is a text, and no vote."""

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
        Metric(
            name="maj@k",
            meaning="probability that the majority of k attempts' answers is right, ties sharing the credit",
            unit="share",
            better="higher",
            low=0,
            high=1,
            null_when="there is no answer that can be compared",
            aggregation="curve",
            curve="maj@k",
        ),
    )

    def score(self, trial: Trial) -> Iterator[Score]:
        if trial.row.variant == "twin":
            return
        passed = float(bool(trial.passed))
        outcome = f"the trial {trial.row.status}"
        yield Score("outcome_agreement", passed, f"{outcome}; epochs of its task are compared")
        if trial.passed:
            words = [action.word for action in trial.actions]
            told = f"it passed by {len(words)} calls; passed epochs of its task are compared"
            yield Score("path_similarity", 1.0, told, (), " ".join(words[:LONGEST]))
        answer = trial.row.answer
        if answer and answer.strip() and len(answer) <= self.longest_answer:
            yield Score(
                "maj@k",
                passed,
                f"{outcome} with an answer of {len(answer)} characters",
                (),
                comparable(answer),
            )
