"""How does an answer go back to its endpoint with the next call?

As it came: thoughts with their signatures, encrypted ones untouched, in the order in which they were made.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from evalkit.models.reading import Block, Call, Reading, Reasoning, Text

_CHAT_FIELDS = ("content", "tool_calls", "reasoning_content", "reasoning", "reasoning_details", "refusal")
_ANTHROPIC_STREAM = b"event: message_start"


def given_back(body: bytes, reading: Reading) -> dict[str, object] | None:
    """The message for the next call, from the response as it came; None where litellm has to translate its own form.

    A provider of chat completions gets its own message back, with an empty text where it had none: servers stumble over
    a message without any. Anthropic gets its blocks back in their order.
    """
    raw = _object(body)
    if raw.get("type") == "message" or body.lstrip().startswith(_ANTHROPIC_STREAM):
        return _anthropics(reading)
    message = _chat_message(raw)
    if message is None or not isinstance(message.get("content"), str | None):
        return None
    kept = {name: message[name] for name in _CHAT_FIELDS if message.get(name) is not None}
    return {"role": "assistant", "content": "", **kept}


def litellms_own(normalised: Mapping[str, Any]) -> dict[str, object]:
    """The message as litellm has it, which knows how to turn it, with the signatures in it, into a provider's form."""
    choices = cast("list[dict[str, Any]]", normalised.get("choices") or [{}])
    message = cast("dict[str, object]", choices[0].get("message") or {})
    return {**message, "role": "assistant"}


def _anthropics(reading: Reading) -> dict[str, object]:
    content = [part for block in reading.blocks if (part := _anthropic_part(block)) is not None]
    calls = [block for block in reading.blocks if isinstance(block, Call)]
    message: dict[str, object] = {"role": "assistant", "content": content}
    if calls:
        message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.tool, "arguments": call.arguments}}
            for call in calls
        ]
    thoughts = [part for part in content if part["type"] != "text"]
    return {**message, "thinking_blocks": thoughts} if thoughts else message


def _anthropic_part(block: Block) -> dict[str, object] | None:
    if isinstance(block, Text):
        return {"type": "text", "text": block.text}
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
