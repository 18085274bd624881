"""What of a run's scores belongs to some of its trials?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from evalkit.scoring.scored_trials import Column, LightTrial, ScoredTrials


def chosen(scored: ScoredTrials, keep: Callable[[LightTrial], bool]) -> ScoredTrials:
    """These trials alone, in the same order, with their scores. A metric that none of them has a score of stays."""
    kept = [place for place, trial in enumerate(scored.trials) if keep(trial)]
    places = np.array(kept, dtype=np.int64)
    return ScoredTrials(
        [scored.trials[place] for place in kept],
        {key: _column(column, places) for key, column in scored.columns.items()},
        {scorer: seen[places] for scorer, seen in scored.scored_by.items()},
    )


def _column(column: Column, places: NDArray[np.int64]) -> Column:
    return Column(
        column.values[places],
        None if column.labels is None else [column.labels[place] for place in places.tolist()],
        versions=set(column.versions),
        references=set(column.references),
        damaged={new for new, old in enumerate(places.tolist()) if old in column.damaged},
    )
