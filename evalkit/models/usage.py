"""How many tokens did one generation cost?"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one generation, in evalkit's convention. None means that the provider did not say, never 0."""

    input_tokens: int | None = None
    """Read in full: neither read from nor written to a cache."""
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    output_tokens: int | None = None
    """Includes the reasoning tokens, as providers bill them."""
    reasoning_tokens: int | None = None
    reported_cost_usd: float | None = None
    """What the provider itself says that the call cost."""
