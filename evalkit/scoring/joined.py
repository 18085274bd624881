"""How do the trials of several runs become those of one?"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from evalkit.scoring.scored_trials import Column, ScoredTrials
from evalkit.stats.interval import Numbers


def joined(parts: Sequence[ScoredTrials]) -> ScoredTrials:
    """All trials one after the other, with the scores of each; what a part has no scores of is unknown there."""
    if len(parts) == 1:
        return parts[0]
    keys = sorted({key for part in parts for key in part.columns})
    scorers = sorted({scorer for part in parts for scorer in part.scored_by})
    return ScoredTrials(
        list(itertools.chain.from_iterable(part.trials for part in parts)),
        {key: _column([part.columns.get(key) for part in parts], parts) for key in keys},
        {
            scorer: np.concatenate(
                [part.scored_by.get(scorer, np.zeros(len(part.trials), dtype=np.bool_)) for part in parts]
            )
            for scorer in scorers
        },
    )


def _column(columns: Sequence[Column | None], parts: Sequence[ScoredTrials]) -> Column:
    known = [column for column in columns if column is not None]
    labels: list[str | None] | None = None
    if any(column.labels is not None for column in known):
        labels = [
            label
            for column, part in zip(columns, parts, strict=True)
            for label in ((column.labels if column is not None else None) or [None] * len(part.trials))
        ]
    return Column(
        np.concatenate(
            [_values(column, len(part.trials)) for column, part in zip(columns, parts, strict=True)]
        ),
        labels,
        versions={version for column in known for version in column.versions},
        references={digest for column in known for digest in column.references},
        damaged=_damaged(columns, parts),
    )


def _values(column: Column | None, trials: int) -> Numbers:
    return np.full(trials, np.nan) if column is None else column.values


def _damaged(columns: Sequence[Column | None], parts: Sequence[ScoredTrials]) -> set[int]:
    starts = itertools.accumulate((len(part.trials) for part in parts), initial=0)
    return {
        start + place
        for column, start in zip(columns, starts, strict=False)
        if column is not None
        for place in column.damaged
    }
