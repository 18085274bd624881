"""How do Inspect's messages and tools look to an endpoint?

In the shape of OpenAI's chat completions, which litellm translates for each provider. An answer that came from the
endpoint goes back as the endpoint gave it, with reasoning, signatures and all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageTool, messages_to_openai
from inspect_ai.tool import ToolChoice, ToolFunction, ToolInfo

WIRE = "evalkit_wire"
"""Under which key of its metadata an answer keeps the message to give back."""
SAID = "evalkit_said"
"""Under which key it keeps what it said, to tell whether somebody has changed it since."""


async def wire_messages(messages: Sequence[ChatMessage]) -> list[dict[str, object]]:
    """The conversation so far."""
    sent: list[dict[str, object]] = []
    for message in messages:
        known = _kept(message) or _plain(message)
        if known is not None:
            sent.append(dict(known))
            continue
        sent += [dict(cast("Mapping[str, object]", one)) for one in await messages_to_openai([message])]
    return sent


def wire_tools(tools: Sequence[ToolInfo]) -> list[dict[str, object]]:
    """The tools' names, descriptions and JSON schemas."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters.model_dump(exclude_none=True, by_alias=True),
            },
        }
        for tool in tools
    ]


def wire_tool_choice(choice: ToolChoice) -> str | dict[str, object] | None:
    """None for the default, which is to let the model choose."""
    if isinstance(choice, ToolFunction):
        return {"type": "function", "function": {"name": choice.name}}
    return {"auto": None, "any": "required", "none": "none"}[choice]


def said(message: ChatMessageAssistant) -> list[object]:
    """What an answer says and calls, by which a change of it is noticed."""
    return [message.text, [[call.id, call.function] for call in message.tool_calls or ()]]


def _plain(message: ChatMessage) -> Mapping[str, object] | None:
    """A message of nothing but text; None for others, which Inspect knows how to convert, and takes its time."""
    if isinstance(message, ChatMessageAssistant):
        return None
    if not isinstance(message.content, str) and not all(part.type == "text" for part in message.content):
        return None
    if not isinstance(message, ChatMessageTool):
        return {"role": message.role, "content": message.text}
    told = message.text if message.error is None else message.error.message
    return {"role": "tool", "content": told, "tool_call_id": message.tool_call_id or ""}


def _kept(message: ChatMessage) -> Mapping[str, object] | None:
    """The message as the endpoint gave it; None for one that came from elsewhere, or was changed since."""
    if not isinstance(message, ChatMessageAssistant):
        return None
    metadata: dict[str, Any] = message.metadata or {}
    wire = metadata.get(WIRE)
    if not isinstance(wire, dict) or metadata.get(SAID) != said(message):
        return None
    return cast("Mapping[str, object]", wire)
