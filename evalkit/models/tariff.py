"""What do a model's calls cost, and how much can one answer have?"""

from __future__ import annotations

from dataclasses import dataclass

from evalkit.errors import UsageError
from evalkit.models.prices import find_price, max_output_tokens
from evalkit.models.rates import Price


@dataclass(frozen=True, slots=True)
class Tariff:
    """What a model's calls cost."""

    price: Price | None
    """None: unknown."""
    most_output: int | None
    """Tokens of one answer, where nothing else bounds it; None: unknown."""


def tariff_of(model: str, base_url: str | None) -> Tariff:
    """What litellm's table says. At somebody else's address nobody knows the price."""
    if base_url is not None:
        return Tariff(None, None)
    provider, _, name = model.partition("/")
    listed = f"{provider}/{name.removeprefix('responses/').removeprefix('chat/')}"
    return Tariff(find_price(listed), max_output_tokens(listed))


def check_limit(model: str, tariff: Tariff, max_tokens: int | None) -> None:
    """Raise UsageError where no cost limit can be held, because nobody knows what a call may cost."""
    if tariff.price is None:
        raise UsageError(
            f"a cost limit cannot be held for {model}, whose price is not known",
            hint="Leave the cost limit out, and bound the run with --token-limit and --step-limit.",
        )
    if tariff.most_output is None and max_tokens is None:
        raise UsageError(
            f"a cost limit cannot be held for {model}: it is not known how much one answer may have",
            hint="Bound it with --max-tokens.",
        )
