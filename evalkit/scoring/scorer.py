"""What is a scorer?"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from evalkit.scoring.metric import Metric
from evalkit.scoring.score import Score
from evalkit.scoring.trial import Trial


class Scorer:
    """Reads trials and gives scores for the metrics that it declares.

    A scorer is a frozen dataclass of its parameters, all with defaults, with one method, in a file `scorers/NAME.py`
    of a project, or under the entry point `evalkit.scorers`. It reads the record only, and what it says of a trial
    depends on nothing else: scores can be computed again at any time. Its name is the file's.
    """

    version: ClassVar[str] = "1"
    """Raise it when the same trial can get another score."""
    metrics: ClassVar[tuple[Metric, ...]] = ()
    reads_steps: ClassVar[bool] = True
    """Whether it looks at what was done: then it has no scores of a trial whose steps nobody recorded."""

    def score(self, trial: Trial) -> Iterable[Score]:
        """Scores of one trial, at most one a metric; a metric that is left out has none (null).

        Whatever it raises is reported with the trial and the step that was looked at; the scores of others stand.
        """
        raise NotImplementedError
