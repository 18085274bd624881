"""What do the scores of a run say about each agent?"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evalkit.scoring.arm import ARMS, Arm, arm_of
from evalkit.scoring.estimate import Estimate, estimates
from evalkit.scoring.grouping import By, groups_of
from evalkit.scoring.metric import Metric
from evalkit.scoring.per_task import Places, brought
from evalkit.scoring.quantity import Quantity, quantities
from evalkit.scoring.scored_trials import ScoredTrials


@dataclass(frozen=True, slots=True)
class Figure:
    """One number about an agent."""

    name: str
    """`SCORER/METRIC` where two scorers have a metric of the same name."""
    quantity: Quantity
    """Where it comes from."""
    estimate: Estimate


@dataclass(frozen=True, slots=True)
class Cell:
    """The trials of one agent in one arm, and of one group where groups were asked for."""

    agent: str
    arm: Arm
    group: str | None
    trials: int
    unscored: int
    awaiting: Mapping[str, int]
    """Of scorers that have not seen all these trials, how many they have not."""
    figures: Mapping[str, Figure]
    """By name, in the order of the scorers and of what they declare."""


@dataclass(frozen=True, slots=True)
class Summary:
    """All agents of a run."""

    cells: tuple[Cell, ...]
    """By agent, arm and group, sorted."""
    by: By | None
    scorers: tuple[str, ...]
    """Those that have scores."""
    not_scored: Mapping[str, int]
    """Of those that have not seen every trial, as when a run was resumed since, how many they have not."""
    names: tuple[str, ...]
    """The numbers that at least one cell has a value of, in the order of scorers and of what they declare."""


def summarise(
    scored: ScoredTrials,
    declared: Mapping[str, Sequence[Metric]],
    *,
    by: By | None = None,
    wanted: Collection[str] = (),
) -> Summary:
    """Sum up the trials of each agent, arm and group, by what scorers declare: scorer's name to its metrics.

    Metrics of scorers that are not in `declared` are summed up as means over tasks. Unscored trials are counted and
    never averaged. With `wanted` names of metrics or numbers no others are computed, but all are where one of them is
    not known, so that it can be said what there is.
    """
    told = quantities(scored.stored, declared, wanted=wanted)
    cells = [_cell(scored, told, key, places) for key, places in cells_of(scored, by)]
    double = _names_of_several(cells)
    cells = [_renamed(cell, double) for cell in cells]
    if not _known(cells).issuperset(wanted):
        return summarise(scored, declared, by=by)
    return Summary(
        cells=tuple(cells),
        by=by,
        scorers=tuple(sorted(scored.stored)),
        not_scored={name: int((~seen).sum()) for name, seen in scored.scored_by.items() if not seen.all()},
        names=_names(cells, told),
    )


def _known(cells: Sequence[Cell]) -> frozenset[str]:
    """The names of numbers, and of the metrics that they come of."""
    figures = [(name, figure) for cell in cells for name, figure in cell.figures.items()]
    return frozenset(known for name, figure in figures for known in (name, figure.quantity.name))


def cells_of(scored: ScoredTrials, by: By | None) -> list[tuple[tuple[str, Arm, str | None], Places]]:
    """The places of the trials of each agent, arm and group, in order."""
    found: defaultdict[tuple[str, Arm, str | None], list[int]] = defaultdict(list)
    for place, trial in enumerate(scored.trials):
        arm = arm_of(trial.variant)
        for group in (None,) if by is None else groups_of(trial, by):
            found[trial.agent, arm, group].append(place)
    keys = sorted(found, key=lambda key: (key[0], ARMS.index(key[1]), key[2] or ""))
    return [(key, np.array(found[key], dtype=np.int64)) for key in keys]


def _cell(
    scored: ScoredTrials, told: Sequence[Quantity], key: tuple[str, Arm, str | None], places: Places
) -> Cell:
    agent, arm, group = key
    figures: dict[str, Figure] = {}
    for quantity in told:
        for name, own in brought(scored, quantity, places).items():
            for number, estimate in estimates(name, own, quantity.metric).items():
                figures[f"{quantity.scorer}/{number}"] = Figure(number, quantity, estimate)
    unseen = {name: int((~seen[places]).sum()) for name, seen in scored.scored_by.items()}
    awaiting = {name: trials for name, trials in unseen.items() if trials}
    return Cell(agent, arm, group, len(places), int(scored.unscored[places].sum()), awaiting, figures)


def _names(cells: Sequence[Cell], told: Sequence[Quantity]) -> tuple[str, ...]:
    place_of = {(quantity.scorer, quantity.name): place for place, quantity in enumerate(told)}
    places = {
        name: (place_of[figure.quantity.scorer, figure.quantity.name], natural(name))
        for cell in cells
        for name, figure in cell.figures.items()
        if figure.estimate.value is not None
    }
    return tuple(sorted(places, key=lambda name: places[name]))


def natural(name: str) -> list[tuple[int, str]]:
    """Orders pass^2 before pass^10."""
    return [(int(part) if part.isdigit() else -1, part) for part in re.split(r"([0-9]+)", name)]


def _names_of_several(cells: Sequence[Cell]) -> frozenset[str]:
    pairs = {(f.name, f.quantity.scorer) for cell in cells for f in cell.figures.values()}
    return frozenset(name for name, scorers in Counter(name for name, _ in pairs).items() if scorers > 1)


def _renamed(cell: Cell, double: frozenset[str]) -> Cell:
    figures = {
        name: Figure(name, figure.quantity, figure.estimate)
        for key, figure in cell.figures.items()
        for name in [key if figure.name in double else figure.name]
    }
    return dataclasses.replace(cell, figures=figures)
