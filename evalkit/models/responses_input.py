"""How is a conversation told to OpenAI's Responses interface?

As its own items in their own order: reasoning items must be followed by what they led to, so nothing is rearranged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

RESPONSES = "openai/responses/"
"""How the names of models begin that are asked through it."""
ITEMS = "output_items"
"""Under which key of a message the items of an answer are, as they came."""
_ROLES = {"system": "developer", "user": "user"}
_RENAMED = {"max_tokens": "max_output_tokens"}
_TAKEN = frozenset(
    {
        "max_tokens",
        "temperature",
        "top_p",
        "reasoning_effort",
        "parallel_tool_calls",
        "include",
        "store",
        "extra_body",
        "extra_headers",
    }
)
_ANSWERED_ONCE = frozenset({"status", "created_by"})
"""Fields of an item that only an answer has."""


def responses_request(
    messages: Sequence[Mapping[str, object]],
    tools: Sequence[Mapping[str, object]],
    tool_choice: object,
    parameters: Mapping[str, object],
) -> dict[str, object]:
    """The request for a conversation in the shape of chat completions, whose answers carry their own items.

    Raises ValueError for what the interface does not take, which litellm would leave out without a word.
    """
    alien = sorted(set(parameters) - _TAKEN)
    if alien:
        raise ValueError(
            f"OpenAI's Responses interface takes no {', '.join(alien)}; ask the model as openai/chat/NAME"
        )
    request: dict[str, object] = {_RENAMED.get(name, name): value for name, value in parameters.items()}
    effort = request.pop("reasoning_effort", None)
    if effort is not None:
        request["reasoning"] = {"effort": effort}
    request["input"] = [item for message in messages for item in _items(message)]
    if tools:
        request["tools"] = [_tool(tool) for tool in tools]
        if isinstance(tool_choice, Mapping):
            function = cast("Mapping[str, Mapping[str, object]]", tool_choice).get("function", {})
            request["tool_choice"] = {"type": "function", "name": function.get("name")}
        elif tool_choice is not None:
            request["tool_choice"] = tool_choice
    return request


def _tool(tool: Mapping[str, object]) -> dict[str, object]:
    function = cast("Mapping[str, object]", tool["function"])
    return {"type": "function", "strict": None, **function}


def _items(message: Mapping[str, object]) -> list[dict[str, object]]:
    own = message.get(ITEMS)
    if isinstance(own, list):
        return [_sendable(cast("Mapping[str, object]", item)) for item in cast("list[object]", own)]
    role = str(message.get("role"))
    if role == "tool":
        told = {"call_id": message.get("tool_call_id"), "output": message.get("content") or ""}
        return [{"type": "function_call_output", **told}]
    if role in _ROLES:
        return [{"type": "message", "role": _ROLES[role], "content": _content(message.get("content"))}]
    return _foreign_answer(message)


def _sendable(item: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in item.items() if name not in _ANSWERED_ONCE}


def _foreign_answer(message: Mapping[str, object]) -> list[dict[str, object]]:
    """An answer that did not come from here, such as an example in a prompt."""
    items: list[dict[str, object]] = []
    if message.get("content"):
        items.append({"type": "message", "role": "assistant", "content": message["content"]})
    for call in cast("list[Mapping[str, object]]", message.get("tool_calls") or []):
        function = cast("Mapping[str, object]", call.get("function") or {})
        items.append(
            {
                "type": "function_call",
                "call_id": call.get("id"),
                "name": function.get("name"),
                "arguments": function.get("arguments") or "{}",
            }
        )
    return items


def _content(content: object) -> object:
    if not isinstance(content, list):
        return content or ""
    return [_part(part) for part in cast("list[Mapping[str, object]]", content)]


def _part(part: Mapping[str, object]) -> dict[str, object]:
    if part.get("type") == "text":
        return {"type": "input_text", "text": part.get("text", "")}
    if part.get("type") == "image_url":
        image = cast("Mapping[str, object]", part.get("image_url") or {})
        return {"type": "input_image", "image_url": image.get("url"), "detail": image.get("detail", "auto")}
    return dict(part)
