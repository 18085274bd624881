"""What do a provider's token counts mean in evalkit's convention?

Providers disagree on three things: whether the input includes what was read from and written to a cache, whether the
output includes the thinking, and whether a 0 was measured. `reconcile` takes the provider's own convention as its
caller states it, and lets the provider's total overrule it where the sum says otherwise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from evalkit.models.usage import Usage

MOST_TOKENS = 10**12
"""More than any generation can hold; a count beyond it is an error. Sums of counts below it fit in 64 bits."""


def count(value: object) -> int | None:
    """A token count, or None for what is none: negative, absurdly large, a fraction, a string, a truth value."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value <= MOST_TOKENS else None


def cost(value: object) -> float | None:
    """An amount of money, or None for what is none: negative, not finite, not a number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if not 0 <= value <= MOST_TOKENS or not math.isfinite(value):
        return None
    return float(value)


def reconcile(
    *,
    input_tokens: int | None,
    output_tokens: int | None,
    reasoning_tokens: int | None = None,
    cache_read_tokens: int | None = None,
    cache_write_tokens: int | None = None,
    total_tokens: int | None = None,
    cache_in_input: bool = True,
    reasoning_in_output: bool = True,
    thinking_shown: bool = False,
    reported_cost_usd: float | None = None,
) -> Usage:
    """Counts as a provider names them, in evalkit's convention. Never raises; a count that makes no sense is None.

    `cache_in_input` and `reasoning_in_output` say what the provider documents. The total overrules both, where the
    sum of the parts is the total only in another reading of them.

    Where no reading of the parts gives the total, `reasoning_tokens` is None: it is not known what that count counts.
    `output_tokens` is then None too if the total is larger than the parts, for the tokens that nobody names may be
    thinking, or if the thinking belongs outside a count that cannot be trusted; if the total is merely too small,
    the reported output stays, since it is the total that left something out.

    More thinking than output, with thinking inside, is a contradiction: `reasoning_tokens` is None, and
    `output_tokens` stays only where the total confirms it.

    A reported 0 is None where thinking came back (`thinking_shown`). Input is what was reported where no cache is
    mentioned at all; it is None where the cache is said to be inside it and is larger. A missing output is the
    thinking alone where the total proves it, and None otherwise.
    """
    parts = _Parts(
        input=count(input_tokens),
        output=count(output_tokens),
        reasoning=count(reasoning_tokens),
        cache_read=count(cache_read_tokens),
        cache_write=count(cache_write_tokens),
    )
    stated = _Convention(cache_in_input, reasoning_in_output)
    total = count(total_tokens)
    checked = (
        total is not None
        and parts.input is not None
        and not (parts.output is None and parts.reasoning is None)
    )
    fitting = _fitting(parts, stated, total) if checked else stated
    output, reasoning = _output(parts, stated, fitting, total if checked else None)
    if thinking_shown and reasoning == 0:
        reasoning = None
    if thinking_shown and parts.reasoning is None and not checked and not stated.reasoning_in_output:
        output = None
    return Usage(
        input_tokens=_uncached(parts, fitting or stated),
        cache_read_tokens=parts.cache_read,
        cache_write_tokens=parts.cache_write,
        output_tokens=output,
        reasoning_tokens=reasoning,
        reported_cost_usd=cost(reported_cost_usd),
    )


@dataclass(frozen=True, slots=True)
class _Convention:
    cache_in_input: bool
    reasoning_in_output: bool


@dataclass(frozen=True, slots=True)
class _Parts:
    input: int | None
    output: int | None
    reasoning: int | None
    cache_read: int | None
    cache_write: int | None

    @property
    def cached(self) -> int:
        return (self.cache_read or 0) + (self.cache_write or 0)

    def total(self, convention: _Convention) -> int:
        """The sum of what is known."""
        cached = 0 if convention.cache_in_input else self.cached
        thought = 0 if convention.reasoning_in_output else (self.reasoning or 0)
        return (self.input or 0) + cached + (self.output or 0) + thought

    def contradicts(self, convention: _Convention) -> bool:
        """Whether a part is larger than the whole it is said to be in."""
        thought_too_much = convention.reasoning_in_output and (self.reasoning or 0) > (self.output or 0)
        return thought_too_much or (convention.cache_in_input and self.cached > (self.input or 0))


def _fitting(parts: _Parts, stated: _Convention, total: int | None) -> _Convention | None:
    """The reading of the parts whose sum is the total: the one nearest to what is stated, sound ones first."""
    cache, thought = stated.cache_in_input, stated.reasoning_in_output
    readings = (
        stated,
        _Convention(cache, not thought),
        _Convention(not cache, thought),
        _Convention(not cache, not thought),
    )
    fitting = [reading for reading in readings if parts.total(reading) == total]
    sound = [reading for reading in fitting if not parts.contradicts(reading)]
    return next(iter(sound or fitting), None)


def _output(
    parts: _Parts, stated: _Convention, fitting: _Convention | None, total: int | None
) -> tuple[int | None, int | None]:
    """Output with the thinking in it, and the thinking."""
    output, reasoning = parts.output, parts.reasoning
    if fitting is None:
        too_small = total is not None and total < parts.total(stated)
        return (output if too_small and (stated.reasoning_in_output or not reasoning) else None), None
    if not fitting.reasoning_in_output:
        if output is None:
            return (reasoning if total is not None else None), reasoning
        return output + (reasoning or 0), reasoning
    if reasoning is not None and output is not None and reasoning > output:
        return (output if total is not None else None), None
    return output, reasoning


def _uncached(parts: _Parts, convention: _Convention) -> int | None:
    if parts.input is None or not convention.cache_in_input:
        return parts.input
    return parts.input - parts.cached if parts.cached <= parts.input else None
