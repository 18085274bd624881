"""How does a conversation in OpenAI's chat format become steps?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from evalkit.convert.content import content_of, text_of
from evalkit.convert.generation import chat_blocks, think_columns
from evalkit.convert.steps import Steps
from evalkit.models.reading import Other
from evalkit.models.usage import Usage
from evalkit.models.wire.json_values import as_list, as_object, decode, is_object, text_in

_ARGUMENTS = ("arguments", "input")


def add_messages(steps: Steps, messages: Iterable[object]) -> None:
    """Add every message: `system`, `developer` and `user` as prompts, `assistant` as generations with their calls,
    `tool` and `function` as results.
    """
    for message in messages:
        if is_object(message):
            add_message(steps, message)


def add_message(steps: Steps, message: Mapping[str, object]) -> None:
    """Add one message. Nothing is known about usage."""
    role = text_in(message.get("role")) or ""
    if role == "assistant":
        add_assistant(steps, message, None)
    elif role in {"tool", "function"}:
        steps.result(
            text_in(message.get("tool_call_id")),
            text_of(content_of(message)),
            tool=text_in(message.get("name")),
        )
    else:
        steps.prompt("system" if role in {"system", "developer"} else "user", text_of(content_of(message)))


def add_assistant(steps: Steps, message: Mapping[str, object], usage: Usage | None, **fields: Any) -> int:
    """Add a generation and its calls; returns its number. `fields` are further columns of `Think`."""
    calls = [_call(call) for call in as_list(message.get("tool_calls"))]
    if not calls and is_object(message.get("function_call")):
        calls = [{"function": message["function_call"]}]
    blocks = chat_blocks({**message, "tool_calls": calls})
    think = steps.think(**{**think_columns(blocks, usage), **fields})
    for kind in {block.type for block in blocks if isinstance(block, Other)}:
        steps.remark(f"parts of an answer that are no text are left out: {kind[:60]}")
    for call in calls:
        tool, arguments = _asked(call)
        if tool is None:
            steps.remark("a call that names no tool is kept without one")
        steps.call(think, tool, arguments, id=text_in(call.get("id")))
    return think


def _asked(call: Mapping[str, object]) -> tuple[str | None, object]:
    """The tool of a call and its arguments, which for a custom tool are any text."""
    places = (as_object(call.get("function")), as_object(call.get("custom")), call)
    told = next((place for place in places if text_in(place.get("name"))), None)
    written = (
        place[key] for place in (places if told is None else (told,)) for key in _ARGUMENTS if key in place
    )
    return text_in((told or call).get("name")), next(written, None)


def _call(call: object) -> Mapping[str, object]:
    """A call as an object, also where it is one written down as text."""
    return as_object(decode(call) if isinstance(call, str) else call)
