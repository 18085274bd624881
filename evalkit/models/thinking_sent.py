"""Which level of thinking does a request's body ask for?

Providers have a dozen ways to say it. What of a body is about the amount of thinking is taken out, whatever its place,
and put into evalkit's words.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, cast

from evalkit.models.wire.json_values import as_object

Knobs = Mapping[str, Any]
_WHOLE = ("thinking", "reasoning", "thinkingConfig")
"""Objects that hold nothing but thinking."""
_SINGLE = (
    "reasoning_effort",
    "enable_thinking",
    "thinking_budget",
    "thinking_token_budget",
    "reasoning_budget",
    "max_thinking_tokens",
    "think",
    "prompt_mode",
)
_AROUND = (
    "generationConfig",
    "generation_config",
    "chat_template_kwargs",
    "output_config",
    "custom_params",
    "nvext",
    "additionalModelRequestFields",
    "extra_body",
    "config",
    "options",
)
"""Objects that hold other settings, too."""
_NO_AMOUNT = frozenset(
    {
        "display",
        "includeThoughts",
        "include_thoughts",
        "summary",
        "generate_summary",
        "context",
        "clear_thinking",
        "exclude",
    }
)
"""Settings of what is shown and kept of thinking."""
_OTHER_NAMES = {
    "thinking_config": "thinkingConfig",
    "thinking_level": "thinkingLevel",
    "reasoning_config": "thinking",
}
_BUDGETS = (
    "budget_tokens",
    "thinkingBudget",
    "max_tokens",
    "thinking_budget",
    "thinking_token_budget",
    "reasoning_budget",
    "max_thinking_tokens",
    "token_budget",
)
_EFFORTS = ("effort", "reasoning_effort", "thinkingLevel", "think")
_SWITCHES = ("enable_thinking", "think", "enabled", "thinking")
_KINDS = {"disabled": "off", "enabled": "on", "adaptive": "dynamic", "auto": "dynamic"}


def knobs(body: Mapping[str, Any]) -> Knobs:
    """The part of a request that is about how much is to be thought, its names in one spelling; empty for nothing."""
    return dict(_knobs(body))


def level_of(found: Knobs) -> str:
    """Settings of thinking as a level: `default` for none, compact JSON for what cannot be read as one."""
    if not found:
        return "default"
    leaves = list(_leaves(found))
    numbers = {value for name, value in leaves if name in _BUDGETS and type(value) is int}
    words = {str(value).lower() for name, value in leaves if name in _EFFORTS and isinstance(value, str)}
    switches = {value for name, value in leaves if name in _SWITCHES and isinstance(value, bool)}
    kinds = {_KINDS.get(value) for name, value in leaves if name == "type" and isinstance(value, str)}
    if "off" in kinds or False in switches or words & {"none"} or numbers == {0}:
        told = {"off"}
        if words - {"none"} or any(numbers) or True in switches:
            told.add("more")
    elif numbers:
        told = {"dynamic" if number == -1 else f"tokens:{number}" for number in numbers}
        told |= {f"effort:{word}" for word in words}
    elif words:
        told = {"on" if word == "default" else f"effort:{word}" for word in words}
    else:
        told = {kind for kind in kinds if kind}
        if not told and switches:
            told = {"on"}
    return told.pop() if len(told) == 1 else json.dumps(found, sort_keys=True, separators=(",", ":"))


def sent_level(body: Mapping[str, Any]) -> str:
    """The level that a request asks for."""
    return level_of(knobs(body))


def body_in(text: str | bytes) -> Mapping[str, Any]:
    """A request's body as an object; empty where it is none."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return cast("Mapping[str, Any]", as_object(value))


def _knobs(body: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in body.items():
        known = _OTHER_NAMES.get(name, name)
        if known in _WHOLE and isinstance(value, Mapping):
            if inner := _amounts(cast("Mapping[str, Any]", value)):
                yield known, inner
        elif (known in _SINGLE or known == "thinking") and value is not None:
            yield known, value
        elif name == "effort":
            yield name, value
        elif name in _AROUND and isinstance(value, Mapping):
            yield from _knobs(cast("Mapping[str, Any]", value))


def _amounts(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of thinking without what is about showing it."""
    named = {_spelled(name): value for name, value in settings.items()}
    return {name: value for name, value in named.items() if name not in _NO_AMOUNT and value is not None}


def _spelled(name: str) -> str:
    return {"thinking_budget": "thinkingBudget"}.get(name, _OTHER_NAMES.get(name, name))


def _leaves(value: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, inner in value.items():
        if isinstance(inner, Mapping):
            yield from _leaves(cast("Mapping[str, Any]", inner))
        else:
            yield name, inner
