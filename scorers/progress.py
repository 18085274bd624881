"""Does an agent get on, or go round in circles?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evalkit import Metric, Score, Scorer, Trial
from evalkit.measures.revisiting import state_revisits


@dataclass(frozen=True)
class Progress(Scorer):
    """What can be said of progress while acting without checkpoints."""

    metrics = (
        Metric(
            name="state_revisits",
            meaning="times that the workspace returned to an earlier state after leaving it",
            unit="times",
            better="lower",
            low=0,
            null_when="no call's workspace digest is known",
        ),
    )

    def score(self, trial: Trial) -> Iterator[Score]:
        digests = [action.workspace_digest for action in trial.actions]
        known = sum(digest is not None for digest in digests)
        states = len({digest for digest in digests if digest is not None})
        revisits = state_revisits(digests)
        value = None if revisits is None else float(revisits)
        yield Score(
            "state_revisits", value, f"{states} different states after {known} calls whose state is known"
        )
