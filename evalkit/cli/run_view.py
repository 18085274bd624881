"""What of a run is to be shown?"""

from __future__ import annotations

from dataclasses import dataclass

from evalkit.cli.trial_filter import ALL, TrialFilter
from evalkit.scoring.grouping import By


@dataclass(frozen=True, slots=True)
class RunView:
    """The part of a run that was asked for; unless told otherwise what is worth a look, of all trials."""

    by: By | None = None
    """Numbers of each group, too."""
    metrics: tuple[str, ...] = ()
    """These alone, by name."""
    asked: TrialFilter = ALL
    """These trials alone, in tables and in numbers."""
    all_metrics: bool = False
    full: bool = False
    """Nothing is folded or left out."""


DEFAULT = RunView()
