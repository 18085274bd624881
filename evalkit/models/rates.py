"""What does a model's endpoint ask for each token, and when?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, time
from zoneinfo import ZoneInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """USD for each token, of every kind. What a price list does not name has the rate that is billed in its place."""

    input: float
    cache_read: float
    cache_write: float
    """A write that lives for minutes, which is what providers do unless asked."""
    cache_write_dearest: float
    """The longest-lived write on offer."""
    output: float
    reasoning: float

    @property
    def dearest_input(self) -> float:
        return max(self.input, self.cache_read, self.cache_write, self.cache_write_dearest)

    @property
    def dearest_output(self) -> float:
        return max(self.output, self.reasoning)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tier:
    """The rates of every token of a call whose input is longer than `above_tokens`, cached input included."""

    above_tokens: int
    rates: Rates
    off_peak: Rates | None = None
    """The rates inside the price's off-peak windows; None where there are none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A time of day, in UTC. It may pass midnight; one that ends where it starts is the whole day."""

    start: time
    end: time
    """Not itself inside."""
    weekdays: frozenset[int] | None = None
    """1 is Monday; None is every day."""
    calendar: ZoneInfo | None = None
    """Where the weekdays are read; None is UTC."""

    def contains(self, at: datetime) -> bool:
        """Whether the moment lies inside. Raises ValueError for one without a timezone."""
        if at.tzinfo is None:
            raise ValueError("a moment without a timezone has no price")
        if (
            self.weekdays is not None
            and at.astimezone(self.calendar or UTC).isoweekday() not in self.weekdays
        ):
            return False
        clock = at.astimezone(UTC).time()
        if self.start < self.end:
            return self.start <= clock < self.end
        return clock >= self.start or clock < self.end


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a price list says about one model."""

    entry: str
    """The line of the list, which can differ from the model's name by a prefix or a date."""
    source: str
    """The list and its version."""
    tiers: tuple[Tier, ...]
    """Never empty, shortest input first. The first one holds for the shortest calls, whatever it says."""
    off_peak_windows: tuple[Window, ...] = ()

    def rates_for(self, input_tokens: int, at: datetime | None = None) -> Rates:
        """The rates of one call. Without a moment, those outside the off-peak windows."""
        tier = self.tiers[0]
        for longer in self.tiers[1:]:
            if input_tokens > longer.above_tokens:
                tier = longer
        if at is None or tier.off_peak is None:
            return tier.rates
        return tier.off_peak if any(window.contains(at) for window in self.off_peak_windows) else tier.rates

    def possible_rates(self, input_tokens: int) -> tuple[Rates, ...]:
        """Every set of rates that can apply, at any hour, to a call of at most so much input."""
        reached = [
            tier for index, tier in enumerate(self.tiers) if index == 0 or input_tokens > tier.above_tokens
        ]
        return tuple(rates for tier in reached for rates in (tier.rates, tier.off_peak) if rates is not None)
