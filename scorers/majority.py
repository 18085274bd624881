"""Is the answer that most attempts give right?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evalkit import Metric, Score, Scorer, Trial
from evalkit.measures.voting import comparable


@dataclass(frozen=True)
class Majority(Scorer):
    """Answers as votes, where the task declares that they can be compared."""

    longest_answer: int = 200
    """Characters of an answer beyond which it is a text, and no vote."""

    reads_steps = False
    metrics = (
        Metric(
            name="maj@k",
            meaning="probability that the majority of k attempts' answers is right, ties sharing the credit",
            unit="share",
            better="higher",
            low=0,
            high=1,
            null_when="the task declares no comparable answers, or there is none",
            aggregation="curve",
            curve="maj@k",
        ),
    )

    def score(self, trial: Trial) -> Iterator[Score]:
        answer = trial.row.answer
        if not trial.task.compares_answers or trial.row.variant == "twin":
            return
        if answer is None or not answer.strip() or len(answer) > self.longest_answer:
            return
        told = f"the trial {trial.row.status} with an answer of {len(answer)} characters"
        yield Score("maj@k", float(bool(trial.earned)), told, (), comparable(answer))
