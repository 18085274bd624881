"""How does an answer go back to its endpoint with the next call?

As it came: thoughts with their signatures, encrypted ones untouched, in the order in which they were made. But calls
have the form that endpoints take, whatever the model made of them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from evalkit.models.reading import Block, Call, Reading, Reasoning, Text
from evalkit.models.responses_input import ITEMS
from evalkit.models.wiretap import Exchange

NO_CONTENT = "(no content)"
_CHAT_FIELDS = ("content", "reasoning_content", "reasoning", "reasoning_details", "refusal")
_NOTHING: Mapping[str, object] = {}
_ANTHROPIC_STREAM = b"event: message_start"


def given_back(body: bytes, reading: Reading) -> dict[str, object] | None:
    """The message for the next call, from the response as it came; None where litellm has to translate its own form.

    A provider of chat completions gets its own message back, with an empty text where it had none: servers stumble over
    a message without any. Anthropic and OpenAI's Responses get their blocks back in their order.
    """
    raw = _object(body)
    if raw.get("type") == "message" or body.lstrip().startswith(_ANTHROPIC_STREAM):
        return _anthropics(reading)
    if raw.get("object") == "response" and isinstance(raw.get("output"), list):
        return {**_with_calls({"role": "assistant", "content": ""}, reading, ()), ITEMS: raw["output"]}
    message = _chat_message(raw)
    if message is None or not isinstance(message.get("content"), str | None):
        return None
    kept = {name: message[name] for name in _CHAT_FIELDS if message.get(name) is not None}
    return _with_calls({"role": "assistant", "content": "", **kept}, reading, _raw_calls(message))


def litellms_own(normalised: Mapping[str, Any], exchange: Exchange) -> dict[str, object]:
    """The message as litellm has it, which knows how to turn it, with the signatures in it, into a provider's form."""
    choices = cast("list[dict[str, Any]]", normalised.get("choices") or [{}])
    message = {**cast("dict[str, object]", choices[0].get("message") or {}), "role": "assistant"}
    text = json.dumps(message, default=str)
    plain = exchange.told(text)
    return message if plain == text else cast("dict[str, object]", json.loads(plain))


def rebuilt(reading: Reading) -> dict[str, object]:
    """The message made anew from what was read, for an answer that litellm stumbles over."""
    text = "".join(block.text for block in reading.blocks if isinstance(block, Text))
    thoughts = [block.text for block in reading.blocks if isinstance(block, Reasoning) and block.text]
    message: dict[str, object] = {"role": "assistant", "content": text}
    if thoughts:
        message["reasoning_content"] = "\n\n".join(thoughts)
    return _with_calls(message, reading, ())


def _with_calls(
    message: dict[str, object], reading: Reading, raw: Sequence[Mapping[str, object]]
) -> dict[str, object]:
    """With the calls in the one form that every endpoint takes; what a provider adds to a call of that form stays."""
    calls = [block for block in reading.blocks if isinstance(block, Call)]
    if not calls:
        return message
    kept: Sequence[Mapping[str, object]] = raw if len(raw) == len(calls) else [_NOTHING for _ in calls]
    return {**message, "tool_calls": [_call(call, old) for call, old in zip(calls, kept, strict=True)]}


def _call(call: Call, raw: Mapping[str, object]) -> dict[str, object]:
    plain = raw.get("type", "function") == "function" and isinstance(raw.get("function"), dict)
    own = raw if plain else _NOTHING
    signed = {"provider_specific_fields": {"thought_signature": call.signature}} if call.signature else {}
    function = {"name": call.tool, "arguments": call.arguments}
    return {**signed, **own, "id": call.id, "type": "function", "function": function}


def _raw_calls(message: Mapping[str, object]) -> list[Mapping[str, object]]:
    calls = message.get("tool_calls")
    found = cast("list[object]", calls) if isinstance(calls, list) else []
    return [cast("Mapping[str, object]", call) for call in found if isinstance(call, dict)]


def _anthropics(reading: Reading) -> dict[str, object]:
    content = [part for block in reading.blocks if (part := _anthropic_part(block)) is not None]
    calls = [block for block in reading.blocks if isinstance(block, Call)]
    if content and content[-1]["type"] not in {"text", "tool_use"} and not calls:
        content.append({"type": "text", "text": NO_CONTENT})  # a turn must not end in a thought
    message = _with_calls({"role": "assistant", "content": content}, reading, ())
    thoughts = [part for part in content if part["type"] not in {"text", "tool_use"}]
    return {**message, "thinking_blocks": thoughts} if thoughts else message


def _anthropic_part(block: Block) -> dict[str, object] | None:
    if isinstance(block, Text):
        return {"type": "text", "text": block.text} if block.text else None
    if not isinstance(block, Reasoning):
        return None
    if block.opaque is not None:
        return {"type": "redacted_thinking", "data": block.opaque}
    return {"type": "thinking", "thinking": block.text or "", "signature": block.signature or ""}


def _object(body: bytes) -> dict[str, object]:
    try:
        value: object = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def _chat_message(raw: Mapping[str, object]) -> dict[str, object] | None:
    try:
        message: object = cast("Any", raw)["choices"][0]["message"]
    except (LookupError, TypeError):
        return None
    return cast("dict[str, object]", message) if isinstance(message, dict) else None
