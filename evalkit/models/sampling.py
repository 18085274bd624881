"""How are a model's tokens drawn, and how many at most?"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """Settings of a model that are part of the agent. None: not sent, so that the endpoint's own default holds."""

    temperature: float | None = None
    seed: int | None = None
    max_tokens: int | None = None
    """Tokens of one generation, thinking included."""

    @property
    def parts(self) -> dict[str, float | int]:
        """Those that were asked for, by name."""
        named = (("temperature", self.temperature), ("seed", self.seed), ("max_tokens", self.max_tokens))
        return {name: value for name, value in named if value is not None}

    @property
    def suffix(self) -> str:
        """For an agent's id, such as `@temperature:0.2`; empty for the defaults."""
        return "".join(
            f"@{name}:{value:g}" if name == "temperature" else f"@{name}:{value}"
            for name, value in self.parts.items()
        )
