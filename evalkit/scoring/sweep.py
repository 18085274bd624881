"""Which agents of a run differ only in how much they are to think, and what does that show?"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evalkit.measures.budget_kept import budget_of
from evalkit.measures.standing import Judged
from evalkit.measures.sweep import Level, LevelResult, Sweep, common_tasks, sweep
from evalkit.models.thinking import EFFORTS, Thinking
from evalkit.scoring.estimate import Estimate
from evalkit.scoring.swept_trial import SweptTrial, by_task
from evalkit.stats.interval import bounded_interval
from evalkit.stats.lower_bound import lower_bound
from evalkit.stats.permutation import sign_flip_p


@dataclass(frozen=True, slots=True, kw_only=True)
class SweptLevel:
    """An agent at one level of thinking, among its others."""

    agent: str
    asked: str
    taken: str | None
    """The nearest level that was taken instead; None: the one asked for."""
    sent: tuple[str, ...]
    """Each level that was read back from what went out, sorted; empty where none is known."""
    trials: int
    broken: int
    """Trials that did not keep to their budget."""
    judged: int
    """Trials of which that is known."""
    adherence: float | None
    """The mean share of generations within the budget; None without one, where thinking was not counted, and where
    the scorer `pondering` has not scored the run."""
    overshoot: float | None
    """Thinking tokens beyond the budget, per generation."""
    estimate: Estimate
    """Success with its interval."""
    result: LevelResult

    @property
    def name(self) -> str:
        """What was asked for, and what was taken instead: `effort:low`, `effort:minimal~low`."""
        return str(Thinking(self.asked, self.taken))

    @property
    def given(self) -> str:
        """The level that the model was given."""
        return self.taken or self.asked


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingSweep:
    """One agent at several levels of thinking."""

    family: str
    """The agent's id without a level."""
    in_order_asked: bool
    """Whether levels are ordered by what was asked; else by the tokens that they took."""
    levels: tuple[SweptLevel, ...]
    curve: Sweep
    left_out: tuple[str, ...]
    """Agents of the family without any known success or tokens."""
    tasks_left_out: int
    """Tasks that are not known at all levels."""

    @property
    def alike(self) -> Mapping[str, tuple[SweptLevel, ...]]:
        """Levels that were asked for differently and given alike, by what was given: only chance is between them."""
        found: defaultdict[str, list[SweptLevel]] = defaultdict(list)
        for level in self.levels:
            found[level.given].append(level)
        return {given: tuple(levels) for given, levels in found.items() if len(levels) > 1}

    @property
    def enough(self) -> SweptLevel | None:
        """The sufficient budget b*; None where nothing is solved at any level."""
        return None if self.curve.sufficient is None else self.levels[self.curve.sufficient]


def sweeps(trials: Sequence[SweptTrial]) -> tuple[ThinkingSweep, ...]:
    """One for each agent with two levels of thinking or more, in order of its id; none where no agent has.

    Levels may come from several runs; where two runs have the same one, each run is swept alone.
    """
    families: defaultdict[str, list[SweptTrial]] = defaultdict(list)
    for trial in trials:
        families[trial.family].append(trial)
    found = [
        _sweep(name, own) for name, family in sorted(families.items()) for own in _without_doubles(family)
    ]
    return tuple(one for one in found if one is not None)


def judged(differences: Sequence[float]) -> Judged:
    """By the tests that `compare` and the gate use: sign flips, and Gaffke's lower bound."""
    moved = np.array(differences, dtype=np.float64)
    lowest, both = lower_bound(moved, -1.0), bounded_interval(moved, -1.0, 1.0)
    return Judged(
        p_below=sign_flip_p(moved, side="less"),
        lowest=-1.0 if lowest is None else lowest,
        low=None if both is None else both.low,
        high=None if both is None else both.high,
    )


def _without_doubles(family: Sequence[SweptTrial]) -> Iterable[list[SweptTrial]]:
    agents = {(trial.agent, trial.asked) for trial in family}
    if len(agents) == len({asked for _, asked in agents}):
        return [list(family)]
    runs = sorted({trial.run for trial in family})
    return [[trial for trial in family if trial.run == run] for run in runs]


def _sweep(family: str, trials: Sequence[SweptTrial]) -> ThinkingSweep | None:
    agents = {trial.agent: trial.asked or "default" for trial in trials}
    if len(agents) < 2:
        return None
    by_agent = {agent: [trial for trial in trials if trial.agent == agent] for agent in agents}
    known = [agent for agent, own in by_agent.items() if any(trial.tokens is not None for trial in own)]
    levels = [_level(agent, by_agent[agent]) for agent in known]
    tasks = common_tasks(levels)
    order = asked_order([agents[agent] for agent in known])
    if order is None:
        levels.sort(key=lambda level: (_mean(level.tokens[task] for task in tasks), level.name))
    else:
        levels.sort(key=lambda level: (order[agents[level.name]], level.name))
    curve = sweep(levels, judged)
    if curve is None:
        return None
    return ThinkingSweep(
        family=family,
        in_order_asked=order is not None,
        levels=tuple(
            _swept(level, result, by_agent[level.name], tasks)
            for level, result in zip(levels, curve.levels, strict=True)
        ),
        curve=curve,
        left_out=tuple(sorted(set(agents) - set(known))),
        tasks_left_out=len({trial.task for trial in trials}) - len(tasks),
    )


def asked_order(asked: Iterable[str]) -> dict[str, int] | None:
    """Where each level stands among those of its kind, efforts or numbers of tokens; None where they have no order."""
    levels = set(asked)
    if all(level == "off" or level.removeprefix("effort:") in EFFORTS for level in levels):
        return {level: 0 if level == "off" else 1 + EFFORTS.index(level[7:]) for level in levels}
    numbers = {level: budget_of(level) for level in levels}
    told = {level: number for level, number in numbers.items() if number is not None}
    return told if len(told) == len(levels) else None


def _level(agent: str, trials: Sequence[SweptTrial]) -> Level:
    return Level(
        name=agent,
        success=by_task(trials, lambda trial: trial.success),
        tokens=by_task(trials, lambda trial: trial.tokens),
    )


def _swept(
    level: Level, result: LevelResult, trials: Sequence[SweptTrial], tasks: Sequence[str]
) -> SweptLevel:
    kept = [trial for trial in trials if trial.task in set(tasks)]
    values = np.array([level.success[task] for task in tasks])
    interval = bounded_interval(values, 0.0, 1.0)
    ends = (None, None) if interval is None else (interval.low, interval.high)
    told = [trial.honoured for trial in kept if trial.honoured is not None]
    return SweptLevel(
        agent=level.name,
        asked=trials[0].asked or "default",
        taken=trials[0].taken,
        sent=tuple(sorted({trial.sent for trial in kept if trial.sent is not None})),
        trials=len(kept),
        broken=told.count(False),
        judged=len(told),
        adherence=_mean(by_task(kept, lambda trial: trial.adherence).values()),
        overshoot=_mean(by_task(kept, lambda trial: trial.overshoot).values()),
        estimate=Estimate(result.success, *ends, len(tasks), len(kept), len(trials) - len(kept)),
        result=result,
    )


def _mean(values: Iterable[float]) -> float | None:
    known = list(values)
    return math.fsum(known) / len(known) if known else None
