"""What does a model's name say about where it runs?"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from evalkit.errors import UsageError

Route = Literal["scripted", "inspect", "litellm"]
COMPATIBLE = "openai-compatible"
"""The provider of servers that speak OpenAI's chat completions and are none that litellm knows by name."""


@dataclass(frozen=True, slots=True)
class ModelName:
    """A model as asked for: `scripted/oracle`, `inspect/provider/model`, or `provider/model` through litellm."""

    route: Route
    name: str
    """The persona, Inspect's own `provider/model`, or litellm's."""

    def __str__(self) -> str:
        return self.name if self.route == "litellm" else f"{self.route}/{self.name}"

    @property
    def provider(self) -> str:
        """Such as `openai`; of a scripted agent, `scripted`."""
        return "scripted" if self.route == "scripted" else self.name.partition("/")[0]


def parse_model(text: str) -> ModelName:
    """Read a model's name. Raises UsageError for what is none; whether its provider exists is not known here."""
    route, slash, name = text.strip().partition("/")
    if not slash or not route or not name:
        raise UsageError(
            f"'{text}' is no model name",
            hint="Write provider/model, for example openai/gpt-5-mini or scripted/oracle.",
        )
    if route == "scripted":
        return ModelName("scripted", name)
    if route == "inspect":
        if "/" not in name:
            raise UsageError(
                f"'{text}' names no model of Inspect's",
                hint="Write inspect/provider/model, for example inspect/openai/gpt-5-mini.",
            )
        return ModelName("inspect", name)
    return ModelName("litellm", text.strip())


def is_served_by(asked: str, served: str) -> bool:
    """Whether the name in a response can be the model asked for: it says at least all that the asked name says.

    Dates, versions and paths are added freely, and words change places: `anthropic/claude-4.5-sonnet-20250929` is
    `claude-sonnet-4.5`; `deepseek-v4-flash` is not `deepseek-reasoner`.
    """
    name = asked.rpartition("/")[2]
    return set(_WORDS.findall(name.lower())) <= set(_WORDS.findall(served.lower()))


_WORDS = re.compile(r"[a-z]+|[0-9]+")
