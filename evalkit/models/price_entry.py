"""What does one entry of litellm's price table mean?

It is read here, and not by litellm's own functions, because those take a missing price for 0, look some models up on
the network, and cannot be asked for the dearest case. A test holds the two against each other for the whole table.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import time
from typing import cast
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from evalkit.models.rates import Price, Rates, Tier, Window

Entry = Mapping[str, object]

_TEXT_MODES = (None, "chat", "completion", "responses")
_LOCAL = ("ollama", "lemonade")
"""They run on the user's own machine: nobody sends a bill."""
_INPUT, _OUTPUT, _REASONING = (
    "input_cost_per_token",
    "output_cost_per_token",
    "output_cost_per_reasoning_token",
)
_READ, _WRITE = "cache_read_input_token_cost", "cache_creation_input_token_cost"
_LONG_WRITES = (f"{_WRITE}_above_1hr", f"{_WRITE}_above_12hr")
_KINDS = (_INPUT, _OUTPUT, _REASONING, _READ, _WRITE, *_LONG_WRITES)
_STEP = re.compile(rf"({'|'.join(_KINDS)})_above_(\d+)(k?)_tokens")
_OTHER_UNITS = (
    "input_cost_per_request",
    "input_cost_per_second",
    "output_cost_per_second",
    "citation_cost_per_token",
)


def read_entry(name: str, entry: Entry, source: str) -> Price | None:
    """The price that an entry states. None where it states none, or bills what a usage report does not count."""
    if entry.get("mode") not in _TEXT_MODES or _bills_other_units(entry):
        return None
    tiers = _ranges(entry) if entry.get("tiered_pricing") else _steps(entry)
    if not tiers or (all(_is_free(tier.rates) for tier in tiers) and not _says_free(name, entry)):
        return None
    return Price(entry=name, source=source, tiers=tiers, off_peak_windows=tuple(_windows(entry)))


def _bills_other_units(entry: Entry) -> bool:
    if any(_rate(entry, unit) for unit in _OTHER_UNITS):
        return True
    # Everyone else bills searches only when a request asks for them; here every answer is one.
    return entry.get("litellm_provider") == "perplexity" and "search_context_cost_per_query" in entry


def _is_free(rates: Rates) -> bool:
    return rates.dearest_input == 0 and rates.dearest_output == 0


def _says_free(name: str, entry: Entry) -> bool:
    """Many zeros in the table only fill a gap, so a hosted model is free only where the entry cites who says so."""
    if entry.get("litellm_provider") in _LOCAL:
        return not name.endswith("-cloud")
    return isinstance(entry.get("source"), str)


def _rate(entry: Entry, key: str) -> float | None:
    value = entry.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        return None
    return float(value)


@dataclass(frozen=True, slots=True)
class _Listed:
    """The rates that a list names, by kind; what it does not name is absent."""

    rates: Mapping[str, float]
    split_reasoning: bool = True
    """Whether its rate for reasoning is a price of its own, not a copy of that for output."""

    def complete(self) -> Rates | None:
        """Fill the gaps with what is billed instead. None without a rate for input and one for output."""
        input_rate, output_rate = self.rates.get(_INPUT), self.rates.get(_OUTPUT)
        if input_rate is None or output_rate is None:
            return None
        # Written tokens are read too, so a lower rate (the table has zeros for providers that do not bill writes
        # apart, and some rates of reads in the wrong line) is none.
        write = max(self.rates.get(_WRITE, input_rate), input_rate)
        return Rates(
            input=input_rate,
            cache_read=self.rates.get(_READ, input_rate),
            cache_write=write,
            cache_write_dearest=max(write, *(self.rates.get(kind, write) for kind in _LONG_WRITES)),
            output=output_rate,
            reasoning=self.rates.get(_REASONING, output_rate) if self.split_reasoning else output_rate,
        )


def _named(entry: Entry) -> dict[str, float]:
    return {kind: rate for kind in _KINDS if (rate := _rate(entry, kind)) is not None}


def _steps(entry: Entry) -> tuple[Tier, ...]:
    """Tiers of an entry whose keys name thresholds, such as input_cost_per_token_above_200k_tokens."""
    steps: dict[int, dict[str, float]] = {0: _named(entry)}
    for key in entry:
        match = _STEP.fullmatch(key)
        if match and (rate := _rate(entry, key)) is not None:
            steps.setdefault(int(match[2]) * (1000 if match[3] else 1), {})[match[1]] = rate
    split = steps[0].get(_REASONING) != steps[0].get(_OUTPUT)
    inclusive = entry.get("litellm_provider") == "xai"  # its longer tier begins at the threshold itself
    listed: dict[str, float] = {}
    tiers: list[Tier] = []
    for threshold in sorted(steps):
        listed |= steps[threshold]
        tier = _tier(max(threshold - inclusive, 0), listed, entry, split_reasoning=split)
        if tier is None:
            return ()
        tiers.append(tier)
    return tuple(tiers)


def _ranges(entry: Entry) -> tuple[Tier, ...]:
    """Tiers of an entry with `tiered_pricing`, each of which stands alone. Empty where one of them cannot be read."""
    output = {kind: rate for kind in (_OUTPUT, _REASONING) if (rate := _rate(entry, kind)) is not None}
    tiers: list[Tier] = []
    for item in _list(entry.get("tiered_pricing")):
        own = _block(item)
        span = _list(own.get("range"))
        if len(span) != 2 or not isinstance(span[0], int | float):
            return ()
        named = _named(own)
        tier = _tier(int(span[0]), named if _OUTPUT in named else named | output, entry, split_reasoning=True)
        if tier is None:
            return ()
        tiers.append(tier)
    return tuple(sorted(tiers, key=lambda tier: tier.above_tokens))


def _tier(above: int, listed: Mapping[str, float], entry: Entry, *, split_reasoning: bool) -> Tier | None:
    rates = _Listed(dict(listed), split_reasoning).complete()
    if rates is None:
        return None
    block = _block(entry.get("off_peak_pricing"))
    off_peak = _Listed({**listed, **_named(block)}, split_reasoning).complete() if block else None
    return Tier(above_tokens=above, rates=rates, off_peak=off_peak)


def _block(value: object) -> Entry:
    return cast("Entry", value) if isinstance(value, Mapping) else {}


def _list(value: object) -> Sequence[object]:
    return cast("Sequence[object]", value) if isinstance(value, list | tuple) else ()


def _windows(entry: Entry) -> Iterable[Window]:
    """The off-peak windows that can be read. Outside of them the full price holds, so the others cost nobody."""
    block = _block(entry.get("off_peak_pricing"))
    zone = block.get("weekday_timezone")
    everyday = {"hours_utc": block.get("hours_utc")}
    for rule in (everyday, *map(_block, _list(block.get("windows")))):
        hours = rule.get("hours_utc")
        days = rule.get("weekdays")
        weekdays = None if days is None else frozenset(day for day in _list(days) if isinstance(day, int))
        for text in (hours,) if isinstance(hours, str) else _list(hours):
            window = _window(str(text), weekdays, zone)
            if window is not None:
                yield window


def _window(text: str, weekdays: frozenset[int] | None, zone: object) -> Window | None:
    start, _, end = text.partition("-")
    try:
        calendar = ZoneInfo(zone) if isinstance(zone, str) and weekdays is not None else None
        return Window(
            start=time.fromisoformat(start.strip()),
            end=time.fromisoformat(end.strip()),
            weekdays=weekdays,
            calendar=calendar,
        )
    except (ValueError, ZoneInfoNotFoundError):
        return None
