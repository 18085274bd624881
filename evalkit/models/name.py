"""What does a model's name say about where it runs?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from evalkit.errors import UsageError

Route = Literal["scripted", "inspect"]


@dataclass(frozen=True, slots=True)
class ModelName:
    """A model as asked for: `scripted/oracle` or `inspect/provider/model`."""

    route: Route
    name: str
    """What follows the route: the persona, or Inspect's own `provider/model`."""

    def __str__(self) -> str:
        return f"{self.route}/{self.name}"


def parse_model(text: str) -> ModelName:
    """Read a model's name. Raises UsageError for a name without a route, or one without an endpoint."""
    route, slash, name = text.strip().partition("/")
    if not slash or not name:
        raise UsageError(
            f"'{text}' is no model name",
            hint="Write provider/model, for example scripted/oracle.",
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
    raise UsageError(
        f"evalkit has no endpoint for the provider '{route}' yet",
        hint=f"Use scripted/oracle or scripted/nop, or Inspect's own provider: inspect/{text}",
    )
