"""Which agents of a run are enough for tasks of which kind?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from evalkit.measures.routing import Advice, Candidate, advise
from evalkit.scoring.sweep import asked_order, judged
from evalkit.scoring.swept_trial import SweptTrial, by_task
from evalkit.stats.interval import Interval, bounded_interval

Kind = Literal["difficulty", "skill"]
CostBasis = Literal["output_tokens", "cost_usd"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Routed:
    """What is advised for one group of tasks."""

    by: Kind
    group: str
    basis: CostBasis
    """What is cheap: tokens among agents of one model, dollars among several, as their tokens do not mean the same."""
    among: tuple[str, ...]
    """The agents that it is a choice of."""
    advice: Advice
    interval: Interval | None = None
    """Where success of whom is advised may lie for further tasks of the kind (95 %)."""


def routed(trials: Sequence[SweptTrial]) -> tuple[Routed, ...]:
    """Advice for each difficulty and each skill, in order; of agents of several models only where all have a price.

    Else agents of each model are a choice of their own.
    """
    found: list[Routed] = []
    for basis, among in _choices(trials):
        for by in ("difficulty", "skill"):
            groups: defaultdict[str, list[SweptTrial]] = defaultdict(list)
            for trial in among:
                for group in _groups(trial, by):
                    groups[group].append(trial)
            found += [one for group, own in sorted(groups.items()) if (one := _routed(by, group, basis, own))]
    return tuple(found)


def _choices(trials: Sequence[SweptTrial]) -> list[tuple[CostBasis, list[SweptTrial]]]:
    models = sorted({trial.model or "" for trial in trials})
    priced = all(trial.usd is not None for trial in trials) and any(trial.usd for trial in trials)
    if len(models) > 1 and priced:
        return [("cost_usd", list(trials))]
    return [("output_tokens", [trial for trial in trials if (trial.model or "") == name]) for name in models]


def _least_first(trials: Sequence[SweptTrial]) -> Callable[[str], tuple[str, int, str]]:
    """Sorts the levels of an agent by what was asked, the least thinking first: where they cost the same, as at tasks
    that need less than either allows, the smaller one is enough."""
    about = {trial.agent: (trial.family, trial.asked or "default") for trial in trials}
    orders = {
        family: asked_order(asked for other, asked in about.values() if other == family)
        for family, _ in about.values()
    }

    def place(agent: str) -> tuple[str, int, str]:
        family, asked = about[agent]
        return family, (orders[family] or {}).get(asked, 0), agent

    return place


def _groups(trial: SweptTrial, by: Kind) -> tuple[str, ...]:
    if by == "skill":
        return tuple(dict.fromkeys(trial.skills))
    return () if trial.difficulty is None else (trial.difficulty,)


def _routed(by: Kind, group: str, basis: CostBasis, trials: Sequence[SweptTrial]) -> Routed | None:
    agents = sorted({trial.agent for trial in trials})
    if len(agents) < 2:
        return None
    candidates: list[Candidate] = []
    for agent in sorted(agents, key=_least_first(trials)):
        own = [trial for trial in trials if trial.agent == agent]
        candidates.append(
            Candidate(
                name=agent,
                success=by_task(own, lambda trial: trial.success),
                cost=by_task(own, lambda trial: trial.tokens if basis == "output_tokens" else trial.usd),
            )
        )
    advice = advise(candidates, judged)
    interval = next(
        (
            bounded_interval(np.array([own.success[task] for task in advice.tasks]), 0.0, 1.0)
            for own in candidates
            if own.name == advice.agent
        ),
        None,
    )
    return Routed(by=by, group=group, basis=basis, among=tuple(agents), advice=advice, interval=interval)
