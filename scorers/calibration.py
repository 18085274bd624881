"""Does an agent know how sure it may be?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evalkit import Metric, Score, Scorer, Trial
from evalkit.measures.calibration import brier


@dataclass(frozen=True)
class Calibration(Scorer):
    """The confidence that a task asks for with the answer, against the outcome."""

    reads_steps = False
    metrics = (
        Metric(
            name="brier",
            meaning="squared distance of confidence and outcome",
            better="lower",
            low=0,
            high=1,
            null_when="there is no confidence from 0 to 1",
        ),
        Metric(
            name="calibration",
            meaning="confidence against outcome: expected calibration error, AUROC, risk-coverage area",
            low=0,
            high=1,
            null_when="there is no confidence from 0 to 1",
            aggregation="curve",
            curve="calibration",
        ),
    )

    def score(self, trial: Trial) -> Iterator[Score]:
        confidence, passed = trial.row.confidence, trial.earned
        if passed is None or trial.row.variant == "twin" or confidence is None or not 0 <= confidence <= 1:
            return
        told = f"it was {confidence:g} sure, and the trial {trial.row.status}"
        yield Score("brier", brier([(confidence, passed)]), f"({confidence:g} - {float(passed):g})^2: {told}")
        yield Score("calibration", confidence, told, (), "passed" if passed else "failed")
