"""What has one trial cost so far, as its endpoint reported it?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from evalkit.engine.agent_clock import AgentClock
from evalkit.engine.answer import Facts
from evalkit.models.rates import Price
from evalkit.models.thinking_wire import ThinkingWire
from evalkit.trajectory.canonical import canonical_json


@dataclass(slots=True)
class Spending:
    """What the calls of one trial say about themselves, beyond what each of its steps holds."""

    price: Price | None = None
    """Of a model that Inspect itself asks; what others cost they say themselves."""
    wire: ThinkingWire | None = None
    """What the calls of such a model must say about thinking."""
    raw_usages: list[Mapping[str, object] | None] = field(default_factory=list[Mapping[str, object] | None])
    price_sources: list[str] = field(default_factory=list[str])
    levels: list[str | None] = field(default_factory=list[str | None])
    """Of thinking, as the requests asked for them, each once."""
    lost_usd: float = 0.0
    """What answers cost that came to nothing."""
    is_cost_known: bool = True
    """False where a call may have been billed, and nobody says how much."""
    retry_s: float | None = None
    """Seconds of failed attempts and of waits; None where no endpoint was asked."""

    def add(self, facts: Facts) -> None:
        """Take one generation down."""
        self.raw_usages.append(facts.raw_usage)
        if facts.price_source is not None and facts.price_source not in self.price_sources:
            self.price_sources.append(facts.price_source)
        self.note_level(facts.thinking_sent)

    def note_level(self, sent: str | None) -> None:
        """Take down which level of thinking a request asked for; None where nobody saw it."""
        if sent not in self.levels:
            self.levels.append(sent)

    def lose(self, cost_usd: float | None) -> None:
        """Take a failed call down that may have been billed."""
        if cost_usd is None:
            self.is_cost_known = False
        else:
            self.lost_usd += cost_usd

    def whole_cost(self, answers_usd: float | None) -> float | None:
        """What the trial has cost, given its answers' cost: None where a part is not known."""
        if answers_usd is None or not self.is_cost_known:
            return None
        return answers_usd + self.lost_usd

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
    def thinking_sent(self) -> str | None:
        """The level of thinking in the requests, several joined by ` | `; None where a request was not seen."""
        return None if None in self.levels else " | ".join(map(str, self.levels)) or None

    @property
    def price_source(self) -> str | None:
        """Where the prices come from; None where no call has one."""
        return ", ".join(self.price_sources) or None
