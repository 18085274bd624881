"""Did the generations of a trial keep to the thinking budget that was asked for?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from evalkit.trajectory.step import Think


@dataclass(frozen=True, slots=True)
class BudgetKept:
    """How generations kept to a budget."""

    budget: int
    """Tokens a generation."""
    known: int
    """Generations whose thinking was counted."""
    beyond: tuple[int, ...]
    """Those that thought more, by step."""
    overshoot: int
    """Thinking tokens beyond the budget, of all of them together."""

    @property
    def adherence(self) -> float:
        """The share of generations within the budget."""
        return 1 - len(self.beyond) / self.known


def budget_of(asked: str | None) -> int | None:
    """The thinking tokens that a generation may have by a budget's notation: `off` none, `tokens:N` N; others: None."""
    if asked == "off":
        return 0
    kind, _, amount = (asked or "").partition(":")
    return (
        int(amount)
        if kind == "tokens" and amount.isascii() and amount.isdigit() and len(amount) < 16
        else None
    )


def budget_kept(thinks: Iterable[Think], asked: str | None) -> BudgetKept | None:
    """None without a budget in tokens, and where no generation's thinking was counted.

    A model that cannot stop thinking although it was asked to does not keep to its budget, which is 0.
    """
    budget = budget_of(asked)
    counted = [(think.step, think.reasoning_tokens) for think in thinks if think.reasoning_tokens is not None]
    if budget is None or not counted:
        return None
    return BudgetKept(
        budget,
        len(counted),
        tuple(step for step, tokens in counted if tokens > budget),
        sum(max(0, tokens - budget) for _, tokens in counted),
    )
