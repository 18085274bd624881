"""What did a trial cost, in all and up to one of its steps?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from evalkit.measures.checkpoints import State, first_passed
from evalkit.trajectory.step import Act, Step, Think
from evalkit.trajectory.trial import Trial

Basis = Literal["output_tokens", "reasoning_tokens", "cost_usd", "agent_s"]
"""What cost is counted in: all generated tokens, those of thinking only, US dollars, seconds of the agent."""


def cost_of(row: Trial, steps: Sequence[Step], basis: Basis) -> float | None:
    """What the whole trial cost: by its own column, else the sum over its steps. None where neither is known."""
    own: float | None = getattr(row, basis)
    return float(own) if own is not None else cost_until(steps, basis)


def cost_until(steps: Iterable[Step], basis: Basis, last: int | None = None) -> float | None:
    """What the steps cost up to and including the step `last`, or all of them.

    Seconds are those of generations and calls. None where a step's amount is unknown, and without generations.
    """
    total, known = 0.0, False
    for step in steps:
        if last is not None and step.step > last:
            continue
        if isinstance(step, Think):
            amount = step.duration_s if basis == "agent_s" else _amount(step, basis)
            known = True
        elif basis == "agent_s" and isinstance(step, Act):
            amount = step.duration_s
        else:
            continue
        if amount is None:
            return None
        total += amount
    return total if known else None


def cost_to_pass(
    row: Trial, steps: Sequence[Step], states: Sequence[State], basis: Basis, *, passed: bool
) -> float | None:
    """What it cost until the grader passed for the first time (C_tau), never more than in all.

    Of a success of which no graded state had passed before, the whole cost: its end is the first state that does. None
    for a failure, without checkpoints, and where the cost is unknown.
    """
    cost = cost_of(row, steps, basis)
    if not passed or not states or cost is None:
        return None
    step = first_passed(states)
    if step is None:
        return cost
    until = cost_until(steps, basis, step)
    return None if until is None else min(until, cost)


def _amount(think: Think, basis: Basis) -> float | None:
    if basis == "output_tokens":
        return think.output_tokens
    return think.reasoning_tokens if basis == "reasoning_tokens" else think.cost_usd
