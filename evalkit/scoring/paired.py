"""What differs between two agents, metric by metric, at the tasks that both tried?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evalkit.errors import NotComparable
from evalkit.scoring.arm import Arm
from evalkit.scoring.difference import Difference, differences
from evalkit.scoring.grouping import By
from evalkit.scoring.metric import Metric
from evalkit.scoring.per_task import Places, brought
from evalkit.scoring.quantity import PASSED, Quantity, quantities, sources
from evalkit.scoring.scored_trials import ScoredTrials
from evalkit.scoring.summary import cells_of
from evalkit.scoring.task_match import TaskMatch, match_tasks


@dataclass(frozen=True, slots=True)
class Side:
    """An agent of a run."""

    scored: ScoredTrials
    agent: str


@dataclass(frozen=True, slots=True)
class _Trials:
    """Some trials of a run."""

    scored: ScoredTrials
    places: Places

    @property
    def tasks(self) -> set[tuple[str, str]]:
        """By suite and id, whatever their variants."""
        return {self.scored.units[int(unit)][:2] for unit in np.unique(self.scored.unit_of[self.places])}


@dataclass(frozen=True, slots=True)
class PairedFigure:
    """One number about both agents."""

    name: str
    quantity: Quantity
    difference: Difference


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedCell:
    """Both agents in one arm, and in one group where groups were asked for."""

    arm: Arm
    group: str | None
    tasks: int
    trials_a: int
    trials_b: int
    unscored_a: int
    unscored_b: int
    figures: Mapping[str, PairedFigure]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Agent A and agent B."""

    agent_a: str
    agent_b: str
    tasks: TaskMatch
    cells: tuple[PairedCell, ...]
    only_a: tuple[str, ...]
    """Metrics that only A has scores of."""
    only_b: tuple[str, ...]
    other_version: tuple[str, ...]
    """Metrics that the same scorer gave in different versions, so that they may mean different things."""
    other_reference: tuple[str, ...]
    """Metrics that rest on different reference costs: they are not compared."""


def compare(
    a: Side, b: Side, declared: Mapping[str, Sequence[Metric]], *, by: By | None = None
) -> Comparison:
    """Compare two agents, paired by suite, task and variant; tasks whose digests differ are left out.

    Means over tasks have an interval over the tasks' differences and a sign-flip test; ratios and curves an interval by
    drawing pairs of tasks again. A task with several faults is one task. Swapping the two flips every sign and
    interval. Raises NotComparable where they have no task in common.
    """
    tasks = match_tasks(a.scored, a.agent, b.scored, b.agent)
    if not tasks.both:
        raise _nothing_shared(a, b, tasks)
    ours, theirs = _told(a.scored, declared), _told(b.scored, declared)
    shared = [key for key in ours if key in theirs]
    refused = {key for key in shared if _differ(a.scored, b.scored, ours[key], "references")}
    told = [ours[key] for key in shared if key not in refused]
    if not any(quantity.metric is not None and quantity.metric.curve == "pass^k" for quantity in told):
        told.insert(0, Quantity(None, PASSED.name, PASSED))
    cells_a, cells_b = _cells(a, tasks, by), _cells(b, tasks, by)
    return Comparison(
        agent_a=a.agent,
        agent_b=b.agent,
        tasks=tasks,
        cells=tuple(
            _cell(key, told, _Trials(a.scored, places), _Trials(b.scored, cells_b[key]))
            for key, places in cells_a.items()
            if key in cells_b
        ),
        only_a=tuple(quantity.name for key, quantity in ours.items() if key not in theirs),
        only_b=tuple(quantity.name for key, quantity in theirs.items() if key not in ours),
        other_version=tuple(q.name for q in told if _differ(a.scored, b.scored, q, "versions")),
        other_reference=tuple(ours[key].name for key in shared if key in refused),
    )


def _told(scored: ScoredTrials, declared: Mapping[str, Sequence[Metric]]) -> dict[tuple[str, str], Quantity]:
    return {
        (quantity.scorer, quantity.name): quantity
        for quantity in quantities(scored.stored, declared)
        if quantity.scorer is not None
    }


def _cells(side: Side, tasks: TaskMatch, by: By | None) -> dict[tuple[Arm, str | None], Places]:
    """The places of the agent's trials at the tasks that both tried."""
    wanted = np.array(
        [trial.agent == side.agent and trial.unit in tasks.both for trial in side.scored.trials],
        dtype=np.bool_,
    )
    return {
        (arm, group): kept
        for (agent, arm, group), places in cells_of(side.scored, by)
        if agent == side.agent and len(kept := places[wanted[places]])
    }


def _cell(key: tuple[Arm, str | None], told: Sequence[Quantity], a: _Trials, b: _Trials) -> PairedCell:
    figures = {figure.name: figure for figure in _figures(told, a, b)}
    arm, group = key
    return PairedCell(
        arm=arm,
        group=group,
        tasks=len(a.tasks & b.tasks),
        trials_a=len(a.places),
        trials_b=len(b.places),
        unscored_a=int(a.scored.unscored[a.places].sum()),
        unscored_b=int(b.scored.unscored[b.places].sum()),
        figures=figures,
    )


def _figures(told: Sequence[Quantity], a: _Trials, b: _Trials) -> Iterator[PairedFigure]:
    found: list[tuple[str, Quantity, Difference]] = []
    for quantity in told:
        ours, theirs = brought(a.scored, quantity, a.places), brought(b.scored, quantity, b.places)
        for name in (name for name in ours if name in theirs):
            sides = (ours[name], a.scored.units), (theirs[name], b.scored.units)
            found += [
                (number, quantity, difference)
                for number, difference in differences(name, *sides, quantity.metric).items()
            ]
    scorers_of: defaultdict[str, set[str | None]] = defaultdict(set)
    for number, quantity, _ in found:
        scorers_of[number].add(quantity.scorer)
    for number, quantity, difference in found:
        prefix = f"{quantity.scorer}/" if len(scorers_of[number]) > 1 else ""
        yield PairedFigure(f"{prefix}{number}", quantity, difference)


def _differ(a: ScoredTrials, b: ScoredTrials, quantity: Quantity, what: str) -> bool:
    if quantity.scorer is None:
        return False
    names = sources(quantity.metric) if quantity.metric is not None else (quantity.name,)
    return any(
        getattr(a.columns[quantity.scorer, name], what) != getattr(b.columns[quantity.scorer, name], what)
        for name in names
    )


def _nothing_shared(a: Side, b: Side, tasks: TaskMatch) -> NotComparable:
    if tasks.changed:
        problem = (
            f"all {len(tasks.changed)} tasks that both tried have changed in between: their digests differ"
        )
        hint = "Run both on the same version of the suite."
    else:
        problem = f"{a.agent} of A and {b.agent} of B have no task in common"
        hint = f"A has {_some(tasks.only_a)}; B has {_some(tasks.only_b)}."
    return NotComparable(problem, hint=hint)


def _some(units: Sequence[tuple[str, str, str]]) -> str:
    names = ["/".join(unit[: 2 if unit[2] == "clean" else 3]) for unit in units]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"{', '.join(names[:3]) or 'none'}{more}"
