"""What does a response of Cohere's chat API, version 2, say?"""

from __future__ import annotations

from collections.abc import Mapping

from evalkit.models.reading import Finish, Reading
from evalkit.models.wire.blocks import thinking_in
from evalkit.models.wire.chat import compose, read_content
from evalkit.models.wire.json_values import as_object, storable, text_in
from evalkit.models.wire.usage_fields import cohere_usage

_FINISH: Mapping[str, Finish] = {
    "COMPLETE": "stop",
    "STOP_SEQUENCE": "stop",
    "TOOL_CALL": "tool_calls",
    "MAX_TOKENS": "length",
    "ERROR_LIMIT": "context_length",
    "ERROR_TOXIC": "content_filter",
}


def is_cohere(value: Mapping[str, object]) -> bool:
    """Whether an object is a response of this API."""
    return isinstance(value.get("message"), Mapping) and "finish_reason" in value


def read_cohere(value: Mapping[str, object]) -> Reading:
    """Read one whole response. It does not name the model that answered."""
    message = as_object(value.get("message"))
    plan = message.get("tool_plan")
    blocks = (*read_content(plan), *compose(message, tuple(read_content(message.get("content")))))
    usage = as_object(value.get("usage"))
    word = text_in(value.get("finish_reason"))
    return Reading(
        blocks=blocks,
        usage=cohere_usage(usage, thinking_shown=thinking_in(blocks)) if usage else None,
        raw_usage=storable(usage) if usage else None,
        finish=_FINISH.get(word or "", "unknown"),
        finish_raw=word,
    )
