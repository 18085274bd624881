"""evalkit: run agents on executable tasks, keep every step, and judge how they worked.

import evalkit
run = evalkit.load("latest")
run.trials.to_pandas()
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalkit.scoring.metric import Metric
    from evalkit.scoring.score import Score
    from evalkit.scoring.scorer import Scorer
    from evalkit.scoring.trial import Trial
    from evalkit.trajectory.reader import Run, load

__version__ = "0.1.0"
__all__ = ["Metric", "Run", "Score", "Scorer", "Trial", "__version__", "load"]

_HOMES = {
    "Metric": "evalkit.scoring.metric",
    "Run": "evalkit.trajectory.reader",
    "Score": "evalkit.scoring.score",
    "Scorer": "evalkit.scoring.scorer",
    "Trial": "evalkit.scoring.trial",
    "load": "evalkit.trajectory.reader",
}


def __getattr__(name: str) -> object:
    """Load the public names when they are first used, so that `import evalkit` stays light."""
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'evalkit' has no attribute {name!r}")
