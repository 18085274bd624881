"""What has one trial cost so far, as its endpoint reported it?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from evalkit.engine.agent_clock import AgentClock
from evalkit.engine.answer import Facts
from evalkit.models.rates import Price
from evalkit.trajectory.canonical import canonical_json


@dataclass(slots=True)
class Spending:
    """What the calls of one trial say about themselves, beyond what each of its steps holds."""

    price: Price | None = None
    """Of a model that Inspect itself asks; what others cost they say themselves."""
    raw_usages: list[Mapping[str, object] | None] = field(default_factory=list[Mapping[str, object] | None])
    price_sources: list[str] = field(default_factory=list[str])
    retry_s: float | None = None
    """Seconds of failed attempts and of waits; None where no endpoint was asked."""

    def add(self, facts: Facts) -> None:
        """Take one generation down."""
        self.raw_usages.append(facts.raw_usage)
        if facts.price_source is not None and facts.price_source not in self.price_sources:
            self.price_sources.append(facts.price_source)

    def excuse(self, clock: AgentClock) -> None:
        """Take down for how long a clock stood still."""
        self.retry_s = (self.retry_s or 0.0) + clock.excused_s

    @property
    def raw_usage(self) -> str | None:
        """A JSON array, one entry a generation, null where one reported nothing; None where none did."""
        if not any(usage is not None for usage in self.raw_usages):
            return None
        return canonical_json([None if usage is None else dict(usage) for usage in self.raw_usages])

    @property
    def price_source(self) -> str | None:
        """Where the prices come from; None where no call has one."""
        return ", ".join(self.price_sources) or None
