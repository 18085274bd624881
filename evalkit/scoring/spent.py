"""What did a trial cost, and what against its task's reference?"""

from __future__ import annotations

from dataclasses import dataclass

from evalkit.measures.budget_kept import budget_of
from evalkit.measures.checkpoints import first_passed
from evalkit.measures.spending import Basis, cost_of, cost_to_pass, cost_until
from evalkit.measures.token_efficiency import (
    Costs,
    comparable,
    hidden_bounds,
    split,
    token_efficiency,
    waste,
)
from evalkit.measures.visible_tokens import hidden_tokens, visible_tokens
from evalkit.scoring.trial import Trial


@dataclass(frozen=True, slots=True)
class Spent:
    """Costs of one scored trial. None stands for what nobody knows."""

    trial: Trial
    earned: bool
    basis: Basis

    @property
    def tokens(self) -> float | None:
        """All generated ones."""
        return self.cost("output_tokens")

    @property
    def thinking(self) -> float | None:
        """Tokens of thinking."""
        return self.cost("reasoning_tokens")

    def cost(self, basis: Basis) -> float | None:
        return cost_of(self.trial.row, self.trial.steps, basis)

    def to_pass(self, basis: Basis) -> float | None:
        """Up to where it would have passed for the first time."""
        return cost_to_pass(self.trial.row, self.trial.steps, self.trial.states, basis, passed=self.earned)

    @property
    def reference(self) -> float | None:
        """L. Of a task that nobody had solved, the cost of the trial that does."""
        told = self.trial.reference
        if told is None:
            return None
        return self.cost(self.basis) if told.is_unsolved and self.earned else told.cost

    @property
    def costs(self) -> Costs | None:
        """Of a trial whose cost and reference are known."""
        cost, reference = self.cost(self.basis), self.reference
        if cost is None or reference is None:
            return None
        return comparable(self.basis, cost, reference, self.to_pass(self.basis))

    def efficiency(self) -> tuple[float, float] | None:
        """Between which bounds its token efficiency lies: both the same where its cost is known, and for a failure.

        None without a reference, and for a success whose cost cannot even be bounded.
        """
        reference, costs, row = self.reference, self.costs, self.trial.row
        if reference is None:
            return None
        if not self.earned:
            return 0.0, 0.0
        if costs is not None:
            value = token_efficiency(costs, passed=True)
            return value, value
        if self.basis != "output_tokens" or not self.trial.thinks:
            return None
        hidden = hidden_tokens(
            self.trial.thinks,
            visibility=row.reasoning_visibility,
            budget=budget_of(row.thinking_taken or row.thinking),
            honoured=row.thinking_honoured,
        )
        floored = comparable(self.basis, 0.0, reference).reference
        return hidden_bounds(floored, visible_tokens(self.trial.steps), hidden, passed=True)

    def wasted(self) -> dict[str, float]:
        """Waste of a success in nats, by part, as far as it is known."""
        costs = self.costs
        if costs is None or not self.earned:
            return {}
        whole = waste(costs)
        found: dict[str, float | None] = {
            "waste": whole.total,
            "waste_path": whole.getting_there,
            "waste_stop": whole.not_stopping,
        }
        step = first_passed(self.trial.states)
        before = tuple(cost_until(self.trial.steps, basis, step) for basis in _TOKENS)
        after = tuple(
            _less(cost_until(self.trial.steps, basis), one)
            for basis, one in zip(_TOKENS, before, strict=True)
        )
        for name, nats, (thinking, tokens) in (
            ("waste_path", whole.getting_there, before),
            ("waste_stop", whole.not_stopping, after),
        ):
            parts = split(nats, thinking, tokens)
            if parts is not None:
                found[f"{name}_thinking"], found[f"{name}_visible"] = parts
        return {name: nats for name, nats in found.items() if nats is not None}


_TOKENS: tuple[Basis, Basis] = ("reasoning_tokens", "output_tokens")


def spent(trial: Trial) -> Spent | None:
    """Of a scored trial of a task that can be solved; None of others."""
    if trial.earned is None or trial.row.variant == "twin":
        return None
    basis: Basis = trial.reference.basis if trial.reference is not None else "output_tokens"
    return Spent(trial, trial.earned, basis)


def _less(whole: float | None, part: float | None) -> float | None:
    return None if whole is None or part is None else whole - part
