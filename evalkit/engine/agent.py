"""What is under test: agent loop, model, thinking budget and tool settings."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from evalkit.engine.approvals.policy import Approvals
from evalkit.engine.own_code import OwnCode
from evalkit.engine.tool_settings import ToolSettings
from evalkit.errors import UsageError
from evalkit.models.name import ModelName, parse_model
from evalkit.models.sampling import Sampling
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
    sampling: Sampling = field(default_factory=Sampling)
    base_url: str | None = None
    """Where the model is asked; None: where its provider is."""
    own: OwnCode = field(default_factory=OwnCode)
    """Code of the user's own that is part of it."""
    approvals: Approvals | None = None
    """Which of its calls may run; None: all."""

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
        if self.approvals is not None:
            name += f"+approvals:{self.approvals.id}"
        return name + self.sampling.suffix

    @property
    def digest(self) -> str:
        """sha256 of everything that makes the agent what it is."""
        return hashlib.sha256(canonical_json(self.parts).encode()).hexdigest()

    @property
    def parts(self) -> dict[str, Any]:
        """Everything that makes the agent what it is, as JSON values."""
        parts: dict[str, Any] = {
            "loop": self.loop,
            "model": str(self.model),
            "thinking": self.thinking.asked,
            "tool_settings": self.tool_settings.parts,
        }
        if self.thinking.taken is not None:
            parts["thinking_taken"] = self.thinking.taken
        if self.base_url is not None:
            parts["base_url"] = self.base_url
        if self.own.parts:
            parts["own"] = self.own.parts
        if self.approvals is not None:
            parts["approvals"] = self.approvals.parts
        return {**parts, **self.sampling.parts}


def make_agents(
    models: Sequence[str],
    thinking: Sequence[str],
    tool_settings: ToolSettings,
    own: OwnCode | None = None,
    *,
    sampling: Sampling | None = None,
    base_url: str | None = None,
    approvals: Approvals | None = None,
    thinking_from: str | None = None,
) -> tuple[Agent, ...]:
    """Every model with every thinking budget, in the order given, each once.

    Raises UsageError for a model or budget that does not exist, before anything is spent. `thinking_from` says where
    the budgets were given.
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
                thinking=parse_thinking(asked, thinking_from),
                tool_settings=tool_settings,
                sampling=sampling if sampling and model.route != "scripted" else Sampling(),
                base_url=None if model.route == "scripted" else base_url,
                own=own or OwnCode(),
                approvals=approvals,
            )
            agents.setdefault(agent.id, agent)
    return tuple(agents.values())


def settle_thinking(agents: Sequence[Agent], *, nearest: bool) -> tuple[Agent, ...]:
    """The agents with the budgets that they will be given: where `nearest`, those most like what was asked for.

    Raises UsageError for a budget that a model does not take, with the levels that it has. Asks no endpoint.
    """
    if all(agent.thinking.asked == "default" for agent in agents):
        return tuple(agents)
    from evalkit.models.thinking_choice import choose

    settled = (
        replace(agent, thinking=choose(agent.model, agent.thinking, agent.sampling, nearest=nearest))
        for agent in agents
    )
    unique = tuple({agent.id: agent for agent in settled}.values())
    if any(agent.model.route == "inspect" for agent in unique):
        from evalkit.engine.inspect_thinking import thinking_settings

        for agent in unique:
            thinking_settings(agent.model, agent.thinking.level)
    return unique


def check_models(agents: Sequence[Agent]) -> None:
    """Raise UsageError for a provider that does not exist, or an address that is none. Asks no endpoint."""
    if all(agent.model.route == "scripted" for agent in agents):
        return
    from evalkit.models.access import check_base_url, check_known

    for agent in agents:
        check_base_url(agent.base_url)
        if agent.model.route == "litellm":
            check_known(agent.model, agent.base_url)


def check_keys(agents: Sequence[Agent]) -> None:
    """Raise UsageError naming every API key that is missing in the environment, before anything is asked."""
    if all(agent.model.route == "scripted" for agent in agents):
        return
    from evalkit.models.access import check_keys as check

    check((agent.model, agent.base_url) for agent in agents)


def check_cost_limits(agents: Sequence[Agent]) -> None:
    """Raise UsageError for an agent whose calls may cost nobody knows what, so that no limit can be held."""
    for agent in agents:
        if agent.model.route == "inspect":
            raise UsageError(
                f"a cost limit cannot be held for {agent.model}, which is asked by Inspect itself",
                hint=f"Ask it through litellm: {agent.model.name}",
            )
        if agent.model.route == "litellm":
            from evalkit.models.tariff import check_limit, tariff_of

            tariff = tariff_of(str(agent.model), agent.base_url)
            check_limit(str(agent.model), tariff, agent.sampling.max_tokens)
