"""What does a task cost those who can solve it?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from evalkit.measures.spending import Basis
from evalkit.measures.token_efficiency import FLOORS

FIRM = 5
"""Successes of the agent that sets it below which a reference is provisional."""


@dataclass(frozen=True, slots=True)
class Success:
    """One trial of a task that an agent solved."""

    agent: str
    cost: float
    """Up to where it would have passed for the first time, where that is known; else in all."""
    calls: int | None = None


@dataclass(frozen=True, slots=True)
class ReferenceCost:
    """The reference cost of one task."""

    cost: float
    calls: float | None
    """The median calls of the agent that sets it."""
    successes: int
    """Of that agent."""
    agents: int
    """How many have solved the task."""
    provisional: bool
    agent: str


def reference_cost(successes: Iterable[Success], basis: Basis) -> ReferenceCost | None:
    """The least of all agents' median costs; None where nobody succeeded.

    Not the cheapest success of all, which is luck and sinks with every trial. It is provisional where the agent that
    sets it has fewer than five successes. It never rises when an agent is added. Of agents with the same median the one
    with the most successes sets it.
    """
    by_agent: defaultdict[str, list[Success]] = defaultdict(list)
    for success in successes:
        by_agent[success.agent].append(success)
    if not by_agent:
        return None
    cost, _, agent = min(
        (median(own.cost for own in trials), -len(trials), agent) for agent, trials in by_agent.items()
    )
    trials = by_agent[agent]
    calls = [own.calls for own in trials if own.calls is not None]
    return ReferenceCost(
        cost=max(cost, FLOORS[basis]),
        calls=median(calls) if calls else None,
        successes=len(trials),
        agents=len(by_agent),
        provisional=len(trials) < FIRM,
        agent=agent,
    )
