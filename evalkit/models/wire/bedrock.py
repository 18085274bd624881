"""What does a response of Bedrock's Converse API say?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evalkit.models.reading import Block, Call, Finish, Other, Reading, Reasoning, Text
from evalkit.models.wire.blocks import thinking_in
from evalkit.models.wire.json_values import as_object, objects_in, storable, text_in, written
from evalkit.models.wire.usage_fields import bedrock_usage

_FINISH: Mapping[str, Finish] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "context_length",
    "guardrail_intervened": "content_filter",
    "content_filtered": "content_filter",
}


def is_bedrock(value: Mapping[str, object]) -> bool:
    """Whether an object is a response of this API."""
    return isinstance(as_object(value.get("output")).get("message"), Mapping)


def read_bedrock(value: Mapping[str, object]) -> Reading:
    """Read one whole response. It does not name the model that answered."""
    message = as_object(as_object(value.get("output")).get("message"))
    blocks = tuple(block for part in objects_in(message.get("content")) for block in _block(part))
    usage = as_object(value.get("usage"))
    word = text_in(value.get("stopReason"))
    return Reading(
        blocks=blocks,
        usage=bedrock_usage(usage, thinking_shown=thinking_in(blocks)) if usage else None,
        raw_usage=storable(usage) if usage else None,
        finish=_FINISH.get(word or "", "unknown"),
        finish_raw=word,
    )


def _block(part: Mapping[str, object]) -> Iterator[Block]:
    if "reasoningContent" in part:
        thinking = as_object(part.get("reasoningContent"))
        shown = as_object(thinking.get("reasoningText"))
        block = Reasoning(
            text=text_in(shown.get("text")),
            signature=text_in(shown.get("signature")),
            opaque=text_in(thinking.get("redactedContent")),
        )
        if block != Reasoning():
            yield block
    elif "toolUse" in part:
        use = as_object(part.get("toolUse"))
        called, name = text_in(use.get("toolUseId")), text_in(use.get("name"))
        yield Call(id=called or "", tool=name or "", arguments=written(use.get("input")))
    elif "text" in part:
        if text := text_in(part.get("text")):
            yield Text(text=text)
    elif part:
        yield Other(type=str(next(iter(part))))
