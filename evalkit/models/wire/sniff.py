"""Which dialect is a response written in?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from evalkit.models.reading import Reading
from evalkit.models.wire.anthropic import (
    is_anthropic,
    is_anthropic_event,
    read_anthropic,
    read_anthropic_stream,
)
from evalkit.models.wire.bedrock import is_bedrock, read_bedrock
from evalkit.models.wire.chat import is_chat, read_chat
from evalkit.models.wire.chat_stream import read_chat_stream
from evalkit.models.wire.cohere import is_cohere, read_cohere
from evalkit.models.wire.gemini import is_gemini, read_gemini, read_gemini_stream
from evalkit.models.wire.json_values import (
    decode,
    decode_many,
    error_in,
    is_list,
    is_object,
    objects_in,
    text_of,
)
from evalkit.models.wire.responses import (
    is_responses,
    is_responses_event,
    read_responses,
    read_responses_stream,
)
from evalkit.models.wire.sse import Stream, looks_like_events, split_events

_Object: TypeAlias = Mapping[str, object]

_WHOLE: tuple[tuple[Callable[[_Object], bool], Callable[[_Object], Reading]], ...] = (
    (is_chat, read_chat),
    (is_responses, read_responses),
    (is_anthropic, read_anthropic),
    (is_gemini, read_gemini),
    (is_bedrock, read_bedrock),
    (is_cohere, read_cohere),
)

_STREAMED: tuple[tuple[Callable[[_Object], bool], Callable[[Stream], Reading]], ...] = (
    (is_chat, read_chat_stream),
    (is_responses_event, read_responses_stream),
    (is_anthropic_event, read_anthropic_stream),
    (is_gemini, lambda stream: read_gemini_stream(stream.events)),
)


def read(body: bytes | str, content_type: str = "") -> Reading | None:
    """Read a response's body as it came over the wire, whole or streamed. None where its shape is none that we know.

    Never raises, whatever the body holds. An error body is a reading with `error`; a stream that was cut is a reading
    of what had arrived, with `complete` False.
    """
    text = text_of(body)
    begins = text.lstrip()[:1]
    if begins not in {"{", "["} and ("event-stream" in content_type.lower() or looks_like_events(text)):
        return _read_stream(split_events(text))
    value = decode(text)
    if is_object(value):
        return read_object(value)
    if begins == "[" or (begins == "{" and value is None):
        listed = value if is_list(value) else list(decode_many(text))
        return _read_listed(objects_in(listed))
    return None


def read_object(value: Mapping[str, object]) -> Reading | None:
    """Read a response that is one whole JSON object. None where its shape is none that we know."""
    for recognise, reader in _WHOLE:
        if recognise(value):
            return reader(value)
    error = error_in(value)
    return Reading(error=error) if error else None


def _read_stream(stream: Stream) -> Reading | None:
    """Read a stream by the first event that names its dialect. One that says nothing at all was cut."""
    for event in stream.events:
        for recognise, reader in _STREAMED:
            if recognise(event):
                return reader(stream)
    if not stream.events:
        return Reading(complete=False)
    errors = map(error_in, stream.events)
    error = next(filter(None, errors), None)
    whole = read_object(stream.events[0]) if len(stream.events) == 1 else None
    return Reading(error=error, complete=False) if error else whole


def _read_listed(events: list[Mapping[str, object]]) -> Reading | None:
    """Read a list of objects: Google streams so without server-sent events; its errors come in a list too."""
    if any(is_gemini(event) for event in events):
        return read_gemini_stream(events)
    if any(is_chat(event) for event in events):
        return read_chat_stream(Stream(tuple(events)))
    return read_object(events[0]) if len(events) == 1 else None
