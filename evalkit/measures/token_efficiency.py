"""How much of what a trial cost was needed?

s: it passed. C: what it cost. C_tau: what it had cost when the grader would have passed for the first time. L: the
task's reference cost. All four formulas are about one basis, such as generated tokens.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from evalkit.measures.spending import Basis

FLOORS: Mapping[Basis, float] = {
    "output_tokens": 50.0,
    "reasoning_tokens": 0.0,
    "cost_usd": 0.0001,
    "agent_s": 1.0,
}
"""Costs below are all the same: nothing can be learned from a task that takes less."""
THINKING_PAD = 50.0
"""Added to numbers of thinking tokens, of which there can be none."""
LARGEST_LIMIT = 16.0
"""Times the reference cost at which the limits of `overthinking_auc` end."""


@dataclass(frozen=True, slots=True)
class Costs:
    """Costs of one trial and of its task's reference, ready to be divided: above the floor, or padded."""

    cost: float
    reference: float
    to_pass: float | None = None


@dataclass(frozen=True, slots=True)
class Waste:
    """What a success cost above the reference, in nats: `total` is -ln of its token efficiency."""

    total: float
    getting_there: float | None
    """Before it would have passed; None without checkpoints."""
    not_stopping: float | None
    """After."""


def comparable(basis: Basis, cost: float, reference: float, to_pass: float | None = None) -> Costs:
    """Costs that can be divided: at least the basis' floor, those of thinking tokens plus 50 instead."""
    floor, pad = FLOORS[basis], THINKING_PAD if basis == "reasoning_tokens" else 0.0
    return Costs(
        cost=max(cost, floor) + pad,
        reference=max(reference, floor) + pad,
        to_pass=None if to_pass is None else max(to_pass, floor) + pad,
    )


def token_efficiency(costs: Costs, *, passed: bool) -> float:
    """STE = s L / max(C, L), in [0, 1]: success weighted by cost, as SPL weighs it by path length.

    1 only for a success that cost no more than the reference; 0 for a failure.
    """
    return costs.reference / max(costs.cost, costs.reference) if passed else 0.0


def stopping_efficiency(to_pass: float | None, cost: float, *, passed: bool) -> float | None:
    """OE = s C_tau / C, in [0, 1]: outcome efficiency (arXiv 2412.21187) of a trajectory.

    0 for a failure; None for a success whose C_tau is unknown. Where nothing was spent at all, 1.
    """
    if not passed:
        return 0.0
    if to_pass is None:
        return None
    return min(1.0, to_pass / cost) if cost else 1.0


def path_efficiency(costs: Costs) -> float | None:
    """PE = min(1, L / C_tau) of a success, in (0, 1]; None where C_tau is unknown."""
    return None if costs.to_pass is None else min(1.0, costs.reference / costs.to_pass)


def overthinking_auc(costs: Costs, *, passed: bool) -> float:
    """s max(0, 1 - C / (16 L)), in [0, 1): the mean success over all cost limits from 0 to 16 times the reference.

    What OptimalThinkingBench integrates with one grid of limits for all tasks, with a limit per task.
    """
    return max(0.0, 1 - costs.cost / (LARGEST_LIMIT * costs.reference)) if passed else 0.0


def overspend(costs: Costs) -> float:
    """ln(C / L) of a success; below 0 where it was cheaper than the reference."""
    return math.log(costs.cost / costs.reference)


def waste(costs: Costs) -> Waste:
    """Of a success: ln(max(C, L) / L) in all, of which `getting_there` is ln(max(C_tau, L) / L) and the rest
    `not_stopping`. The two add up to the whole."""
    total = math.log(max(costs.cost, costs.reference) / costs.reference)
    if costs.to_pass is None:
        return Waste(total, None, None)
    until = max(costs.to_pass, costs.reference)
    return Waste(
        total,
        math.log(until / costs.reference),
        math.log(max(costs.cost, until) / until),
    )


def split(nats: float | None, thinking: float | None, tokens: float | None) -> tuple[float, float] | None:
    """Waste of one part of a trial by the shares that thinking and visible tokens have of that part's tokens.

    None where one of the counts is unknown. A part without tokens wastes nothing.
    """
    if nats is None or thinking is None or tokens is None:
        return None
    share = min(1.0, max(0.0, thinking / tokens)) if tokens > 0 else 0.0
    return nats * share, nats - nats * share


def hidden_bounds(
    reference: float, visible: tuple[float, float], hidden: float | None, *, passed: bool
) -> tuple[float, float]:
    """Between which bounds STE lies where thinking was not counted: [s L / max(O + H, L), s L / max(O, L)].

    `visible` are the least and the most visible tokens O, `hidden` is the most thinking H; None: nobody knows.
    """
    if not passed:
        return 0.0, 0.0
    least, most = visible
    low = 0.0 if hidden is None else reference / max(most + hidden, reference)
    return low, reference / max(least, reference)
