"""How is a model that Inspect itself asks told how much to think, and was it told so?

Inspect's providers take what they know and leave out the rest without a word. So only what arrives is tried, and every
call is read back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from inspect_ai.event import ModelEvent
from inspect_ai.log import transcript

from evalkit.engine.answer import Facts
from evalkit.errors import UsageError
from evalkit.models.failure import SentDiffers
from evalkit.models.name import ModelName
from evalkit.models.thinking import effort_in, tokens_in
from evalkit.models.thinking_sent import knobs, level_of
from evalkit.models.thinking_table import row_for
from evalkit.models.thinking_wire import ThinkingWire, merged, wire_of
from evalkit.models.wire.json_values import as_object

Settings = dict[str, Any]
_BODY = frozenset(
    {
        "openai-api",
        "openrouter",
        "together",
        "fireworks",
        "vllm",
        "sglang",
        "deepseek",
        "moonshot",
        "llama-cpp-python",
        "hf-inference-providers",
        "sambanova",
    }
)
"""Inspect's providers that put `extra_body` into the request's body."""


def thinking_settings(model: ModelName, level: str) -> Settings:
    """The settings of Inspect's that say a level. Raises UsageError where none does for this provider."""
    if level == "default" or model.route != "inspect":
        return {}
    settings = _settings(model, level)
    if settings is None:
        raise UsageError(
            f"{model} cannot be given the thinking budget '{level}': Inspect's own provider does not pass it on",
            hint=f"Ask it through litellm: {model.name.removeprefix('openai-api/')}",
        )
    return settings


def wire_through_inspect(model: ModelName, level: str) -> ThinkingWire | None:
    """What the calls of such a model must say; None for a model that Inspect does not ask."""
    return wire_of(model, level) if model.route == "inspect" else None


def seen(facts: Facts, event: ModelEvent | None, wire: ThinkingWire | None) -> Facts:
    """The facts of a generation with the level of thinking that its call asked for.

    Raises SentDiffers where that is another one than was asked for. A call that nobody saw says nothing.
    """
    if wire is None or event is None or event.call is None:
        return facts
    request = _flat(event.call.request)
    sent = wire.read_back(request)
    expected = level_of(knobs(wire.body))
    if wire.level != "default" and not wire.is_sent(request) and (sent != expected or expected == "default"):
        raise SentDiffers(
            event.model,
            sent=sent,
            asked=wire.level,
            status=200,
            hint="Inspect's provider made it otherwise. Ask the model through litellm, or use --thinking default.",
        )
    return replace(facts, thinking_sent=sent)


def levels_of_failed(begin: int, wire: ThinkingWire | None) -> list[str]:
    """The levels that failed attempts asked for since an event of the trial in this context, as far as they were seen.

    Raises SentDiffers as `seen`.
    """
    if wire is None:
        return []
    events = [event for event in transcript().events[begin:] if isinstance(event, ModelEvent)]
    failed = [event for event in events if event.error is not None and event.role is None]
    sent = [seen(Facts(usage=None), event, wire).thinking_sent for event in failed]
    return [level for level in sent if level is not None]


def latest_call() -> ModelEvent | None:
    """The newest generation of the trial in this context."""
    return next((event for event in reversed(transcript().events) if isinstance(event, ModelEvent)), None)


def _settings(model: ModelName, level: str) -> Settings | None:
    wire = wire_of(model, level)
    if wire.is_silent:
        return {}
    known = _NATIVE.get(model.provider)
    if known is not None:
        return known(_budget(model, level), level)
    if wire.system is not None or wire.prefix is not None or model.provider not in _BODY:
        return None
    return {"extra_body": dict(wire.body)}


def _budget(model: ModelName, level: str) -> int | None:
    """The number of tokens that stands for a level."""
    row = row_for(model)
    return (row.tokens_for(level) if row else None) or tokens_in(level)


def _anthropic(budget: int | None, level: str) -> Settings | None:
    if budget is not None:
        return {"reasoning_tokens": budget}
    return _effort(level)


def _google(budget: int | None, level: str) -> Settings | None:
    if level == "dynamic":
        return {"reasoning_tokens": -1}
    return {"reasoning_tokens": budget} if budget is not None else _effort(level)


def _openai(budget: int | None, level: str) -> Settings | None:
    return _effort(level) if budget is None else None


def _effort(level: str) -> Settings | None:
    effort = effort_in(level)
    if effort is not None:
        return {"reasoning_effort": effort}
    return {"reasoning_effort": "none"} if level == "off" else None


_NATIVE: Mapping[str, Callable[[int | None, str], Settings | None]] = {
    "anthropic": _anthropic,
    "google": _google,
    "openai": _openai,
}


def _flat(request: Mapping[str, Any]) -> Mapping[str, Any]:
    """A call's parameters as the body that its client makes of them."""
    own = {name: value for name, value in request.items() if name != "extra_body"}
    return merged(own, as_object(request.get("extra_body")))
