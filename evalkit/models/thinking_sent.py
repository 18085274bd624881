"""Which level of thinking does a request's body ask for?

Providers have a dozen ways to say it. What of a body is about the amount of thinking is taken out, whatever its place,
and put into evalkit's words.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
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
    """The part of a request that is about how much is to be thought, its names in one spelling; empty for nothing.

    What is said twice in different places and differs is kept twice, the second one within its place.
    """
    found: dict[str, Any] = {}
    for place, name, value in _knobs(body):
        if name not in found:
            found[name] = value
        elif found[name] != value or type(found[name]) is not type(value):
            _put(found, place, name, value)
    return found


def level_of(found: Knobs) -> str:
    """Settings of thinking as a level: `default` for none, compact JSON for what cannot be read as one."""
    if not found:
        return "default"
    told = _levels(found)
    return told.pop() if len(told) == 1 else json.dumps(found, sort_keys=True, separators=(",", ":"))


def contradicts(found: Knobs) -> bool:
    """Whether settings of thinking name several levels."""
    return len(_levels(found)) > 1


def _levels(found: Knobs) -> set[str]:
    """Every level that settings name; empty where none can be read."""
    leaves = list(_leaves(found))
    numbers = {value for name, value in leaves if name in _BUDGETS and type(value) is int}
    words = {str(value).lower() for name, value in leaves if name in _EFFORTS and isinstance(value, str)}
    switches = {value for name, value in leaves if name in _SWITCHES and isinstance(value, bool)}
    kinds = {_KINDS.get(value) for name, value in leaves if name == "type" and isinstance(value, str)}
    if "off" in kinds or False in switches or "none" in words or numbers == {0}:
        more = bool(words - {"none"} or any(numbers) or True in switches or kinds - {"off"})
        return {"off", "more"} if more else {"off"}
    if numbers:
        told = {"dynamic" if number == -1 else f"tokens:{number}" for number in numbers}
        return told | {f"effort:{word}" for word in words} | {kind for kind in kinds if kind == "dynamic"}
    if words:
        return {"on" if word == "default" else f"effort:{word}" for word in words}
    told = {kind for kind in kinds if kind}
    return told or ({"on"} if switches else set[str]())


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


def _knobs(
    body: Mapping[str, Any], place: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], str, Any]]:
    """Where each setting stands, its name, and its value."""
    for name, value in body.items():
        known = _OTHER_NAMES.get(name, name)
        if known in _WHOLE and isinstance(value, Mapping):
            if inner := _amounts(cast("Mapping[str, Any]", value)):
                yield place, known, inner
        elif (known in _SINGLE or known in _WHOLE) and value is not None:
            yield place, known, value
        elif name == "effort" and value is not None:
            yield place, name, value
        elif name in _AROUND and isinstance(value, Mapping):
            yield from _knobs(cast("Mapping[str, Any]", value), (*place, name))


def _put(found: dict[str, Any], place: Sequence[str], name: str, value: object) -> None:
    """Add a setting within its place, whose own name no setting has."""
    for outer in (*place, *(() if place else ("body",))):
        found = found.setdefault(outer, {})
    found[name] = value


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
