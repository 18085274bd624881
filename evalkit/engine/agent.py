"""What is under test: agent loop, model, thinking budget and tool settings."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from evalkit.engine.own_code import OwnCode
from evalkit.engine.tool_settings import ToolSettings
from evalkit.models.name import ModelName, parse_model
from evalkit.models.scripted import find_persona
from evalkit.models.thinking import Thinking, parse_thinking
from evalkit.trajectory.canonical import canonical_json


@dataclass(frozen=True, slots=True)
class Agent:
    """One agent. Its id is readable and says everything that is not a default."""

    model: ModelName
    loop: str = "react"
    thinking: Thinking = field(default_factory=Thinking)
    tool_settings: ToolSettings = field(default_factory=ToolSettings)
    own: OwnCode = field(default_factory=OwnCode)
    """Code of the user's own that is part of it."""

    @property
    def id(self) -> str:
        """Such as `react/scripted/oracle` or `react/inspect/openai/gpt-5@effort:high+terse#1a2b3c`."""
        name = f"{self.loop}/{self.model}"
        if self.thinking.asked != "default":
            name += f"@{self.thinking}"
        if self.tool_settings.id != "default":
            name += f"+{self.tool_settings.id}"
        if self.own.id:
            name += f"+{self.own.id}"
        return name

    @property
    def digest(self) -> str:
        """sha256 of everything that makes the agent what it is."""
        return hashlib.sha256(canonical_json(self.parts).encode()).hexdigest()

    @property
    def parts(self) -> dict[str, Any]:
        """Everything that makes the agent what it is, as JSON values."""
        parts = {
            "loop": self.loop,
            "model": str(self.model),
            "thinking": self.thinking.asked,
            "tool_settings": self.tool_settings.model_dump(),
        }
        return parts | ({"own": self.own.parts} if self.own.parts else {})


def make_agents(
    models: Sequence[str], thinking: Sequence[str], tool_settings: ToolSettings, own: OwnCode | None = None
) -> tuple[Agent, ...]:
    """Every model with every thinking budget, in the order given, each once.

    Raises UsageError for a model or budget that does not exist, before anything is spent.
    """
    agents: dict[str, Agent] = {}
    for text in models:
        model = parse_model(text)
        if model.route == "scripted":
            find_persona(model.name)
        for asked in thinking or ("default",):
            agent = Agent(
                model=model,
                loop=own.loop.name if own and own.loop else "react",
                thinking=parse_thinking(asked),
                tool_settings=tool_settings,
                own=own or OwnCode(),
            )
            agents.setdefault(agent.id, agent)
    return tuple(agents.values())
