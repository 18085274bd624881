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
    """Generations of which it is known whether they kept to it."""
    counted: int
    """Those whose thinking was counted."""
    beyond: tuple[int, ...]
    """Those that thought more, by step."""
    overshoot: int
    """Thinking tokens beyond the budget, of all that were counted together."""

    @property
    def adherence(self) -> float:
        """The share of generations within the budget."""
        return 1 - len(self.beyond) / self.known

    @property
    def mean_overshoot(self) -> float | None:
        """Thinking tokens beyond the budget, per generation whose thinking was counted; None without any."""
        return self.overshoot / self.counted if self.counted else None


@dataclass(frozen=True, slots=True)
class Spent:
    """What one generation thought, held against a budget."""

    tokens: int | None
    """None: nobody knows; also where 0 was reported and thinking can be read."""
    is_beyond: bool

    @property
    def is_known(self) -> bool:
        """Whether it is known that the budget was kept to, or that it was not."""
        return self.is_beyond or self.tokens is not None


def spent_of(think: Think, budget: int) -> Spent:
    """Thinking that can be read is more than none, whatever was counted."""
    shown = bool((think.reasoning or "").strip())
    tokens = None if shown and think.reasoning_tokens == 0 else think.reasoning_tokens
    return Spent(tokens, is_beyond=(shown and budget == 0) or (tokens is not None and tokens > budget))


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


def held_to(asked: str | None, taken: str | None) -> int | None:
    """The thinking tokens that a generation is held to: those of the nearest budget that was taken, if one was, and
    none where none were asked for, whatever was taken instead. None where nothing is bounded.
    """
    return 0 if asked == "off" else budget_of(taken or asked)


def budget_kept(thinks: Iterable[Think], asked: str | None, *, taken: str | None = None) -> BudgetKept | None:
    """None without a budget in tokens, and where it is known of no generation whether it kept to it.

    A model that cannot stop thinking although it was asked to does not keep to its budget, which is 0; so does one
    whose thinking can be read, counted or not.
    """
    budget = held_to(asked, taken)
    if budget is None:
        return None
    known = [(think.step, spent) for think in thinks if (spent := spent_of(think, budget)).is_known]
    if not known:
        return None
    counted = [spent.tokens for _, spent in known if spent.tokens is not None]
    return BudgetKept(
        budget=budget,
        known=len(known),
        counted=len(counted),
        beyond=tuple(step for step, spent in known if spent.is_beyond),
        overshoot=sum(max(0, tokens - budget) for tokens in counted),
    )
