"""What does a call cost, and what could it cost at most?"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# (litellm is loosely typed; what comes from it is narrowed where it comes in)

from __future__ import annotations

import importlib.metadata
import math
import sys
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import cast

from evalkit.models import litellm_setup
from evalkit.models.price_entry import Entry, read_entry
from evalkit.models.rates import Price
from evalkit.models.usage import Usage

PROVIDER_PROMPT_TOKENS = 1_000
"""What a provider may add to a request on its own, such as the system prompt that explains tools."""

_SAME_ENDPOINT = {"ollama_chat": "ollama", "vertex_ai_beta": "vertex_ai"}
_FAMILIES = ("bedrock", "fireworks_ai", "vertex_ai")
"""Providers whose entries name a part of them, such as vertex_ai-anthropic_models."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What one generation cost, and who says so."""

    usd: float | None
    """None where it cannot be known."""
    source: str | None
    """`provider`, or the price list and its version; None where the cost is unknown."""


def price_source() -> str:
    """The price list in use and its version, such as `litellm 1.110.2`."""
    return f"litellm {importlib.metadata.version('litellm')}"


def find_price(model: str, provider: str | None = None) -> Price | None:
    """What the price list says about a model, named with or without its provider's prefix.

    None where the price is unknown: the model is not listed for this provider (another seller's price, or a similar
    model's, says nothing), its entry lacks a price for input or output, or bills by request. Never uses the network.
    """
    found = _find_entry(model, provider)
    return None if found is None else read_entry(*_completed(*found), price_source())


def max_output_tokens(model: str, provider: str | None = None) -> int | None:
    """The longest answer that the model can give, by the price list; None where it does not say."""
    found = _find_entry(model, provider)
    limit = None if found is None else found[1].get("max_output_tokens")
    return limit if isinstance(limit, int) and limit > 0 else None


def cost_usd(price: Price, usage: Usage, *, at: datetime | None = None) -> float | None:
    """What the list price of this usage is. None where a count that matters is unknown.

    `at`, with a timezone, is when the call was answered; without it the price outside of off-peak hours holds.
    Unknown cache counts mean that everything was read in full; writes are taken for short-lived ones.
    """
    fresh, output = usage.input_tokens, usage.output_tokens
    read, written = usage.cache_read_tokens or 0, usage.cache_write_tokens or 0
    if fresh is None or output is None or min(fresh, output, read, written) < 0:
        return None
    rates = price.rates_for(fresh + read + written, at)
    if rates.reasoning == rates.output:
        reasoning = 0
    elif usage.reasoning_tokens is None or not 0 <= usage.reasoning_tokens <= output:
        return None
    else:
        reasoning = usage.reasoning_tokens
    return float(
        fresh * _exact(rates.input)
        + read * _exact(rates.cache_read)
        + written * _exact(rates.cache_write)
        + (output - reasoning) * _exact(rates.output)
        + reasoning * _exact(rates.reasoning)
    )


def cost_of(price: Price | None, usage: Usage | None, *, at: datetime | None = None) -> Cost:
    """What a generation cost: what the provider says it did, otherwise what the price list makes of its usage."""
    reported = None if usage is None else usage.reported_cost_usd
    if reported is not None and math.isfinite(reported) and reported >= 0:
        return Cost(usd=reported, source="provider")
    listed = None if price is None or usage is None else cost_usd(price, usage, at=at)
    return Cost(usd=listed, source=None if listed is None or price is None else price.source)


def worst_case_usd(price: Price, request_bytes: int, max_output_tokens: int) -> float:
    """What one call can cost at most, at any hour.

    No tokenizer makes more than one token of a byte. All of the input counts as the dearest kind (a long-lived cache
    write where the model has them), all of the output as the dearer of text and reasoning, each in the dearest tier
    that so much input can reach.
    """
    base, per_token = _bound(price, request_bytes)
    return float(base + max_output_tokens * per_token)


def affordable_output_tokens(price: Price, request_bytes: int, budget_usd: float) -> int:
    """The largest `max_output_tokens` whose worst case fits into the budget; 0 where not even the input does.

    `sys.maxsize` where output costs nothing, or the budget is infinite.
    """
    base, per_token = _bound(price, request_bytes)
    if float(base) > budget_usd:
        return 0
    if per_token == 0 or math.isinf(budget_usd):
        return sys.maxsize
    # Every sum below the middle of two neighbouring floats is written as the lower one.
    ceiling = (Fraction(budget_usd) + Fraction(math.nextafter(budget_usd, math.inf))) / 2
    tokens = math.floor((ceiling - base) / per_token)
    if float(base + tokens * per_token) > budget_usd:
        tokens -= 1
    return max(0, min(tokens, sys.maxsize))


def _bound(price: Price, request_bytes: int) -> tuple[Fraction, Fraction]:
    """The most that the input can cost, and the most that each token of output can."""
    tokens = request_bytes + PROVIDER_PROMPT_TOKENS
    rates = price.possible_rates(tokens)
    per_input = _exact(max(each.dearest_input for each in rates))
    return tokens * per_input, _exact(max(each.dearest_output for each in rates))


def _exact(rate: float) -> Fraction:
    """The decimal number that was meant: 1.25e-06 is no binary fraction."""
    return Fraction(repr(rate))


def _find_entry(model: str, provider: str | None) -> tuple[str, Entry] | None:
    """The entry that litellm would find, without the places where it asks the network or another seller."""
    litellm = litellm_setup.load()
    from litellm.types.utils import LlmProvidersSet  # pyright: ignore[reportMissingTypeStubs]
    from litellm.utils import (  # pyright: ignore[reportMissingTypeStubs]
        get_model_cost_key,
        potential_model_names_in_lookup_order,
    )

    prefix, slash, _ = model.partition("/")
    if provider is None and slash and prefix in LlmProvidersSet:
        provider = prefix
    candidates: tuple[str, ...] = (model,)
    if provider is not None:
        same = _SAME_ENDPOINT.get(provider, provider)
        model = f"{same}/{model.removeprefix(f'{provider}/')}" if same != provider else model
        provider = same
        candidates = potential_model_names_in_lookup_order(model, provider)
    for candidate in candidates:
        key = get_model_cost_key(candidate)
        entry = cast("Entry | None", None if key is None else litellm.model_cost[key])
        if key is not None and entry is not None and _sold_by(entry, provider):
            return key, entry
    return None


def _sold_by(entry: Entry, provider: str | None) -> bool:
    seller = entry.get("litellm_provider")
    if provider is None or seller == provider:
        return True
    family = next((name for name in _FAMILIES if provider.startswith(name)), None)
    return family is not None and isinstance(seller, str) and seller.startswith(family)


def _completed(name: str, entry: Entry) -> tuple[str, Entry]:
    """The entry with what litellm knows about its provider in general."""
    if entry.get("litellm_provider") != "fireworks_ai":
        return name, entry
    from litellm.llms.fireworks_ai.cache_pricing import (  # pyright: ignore[reportMissingTypeStubs]
        with_default_cache_read_rate,
    )
    from litellm.types.utils import ModelInfo  # pyright: ignore[reportMissingTypeStubs]

    return name, cast("Entry", with_default_cache_read_rate(cast("ModelInfo", entry)))
