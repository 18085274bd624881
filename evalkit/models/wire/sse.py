"""Which JSON events does a stream hold?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from evalkit.models.wire.json_values import decode, is_object, text_in

DONE = "[DONE]"

_LINE = re.compile(r"\r\n|\n|\r")
_FIELD = re.compile(r"\s*(?::|(?:data|event|id|retry)\s*:)")


@dataclass(frozen=True, slots=True)
class Stream:
    """The events of a stream as far as they arrived whole."""

    events: tuple[Mapping[str, object], ...] = ()
    done: bool = False
    """Whether the stream said `[DONE]`."""


def looks_like_events(text: str) -> bool:
    """Whether a text begins as server-sent events do."""
    return _FIELD.match(text) is not None


def split_events(text: str) -> Stream:
    """The objects in a stream. What is no JSON object is left out, as is a last event that was cut short."""
    events: list[Mapping[str, object]] = []
    done = False
    for name, data in _messages(text):
        if data.strip() == DONE:
            done = True
            continue
        value = decode(data)
        if is_object(value):
            events.append(value)
        elif name == "error" and text_in(data):
            events.append({"error": value if isinstance(value, str) else data})
    return Stream(tuple(events), done)


def _messages(text: str) -> Iterator[tuple[str, str]]:
    """Each message's event name and data. A last one without its blank line counts: bodies are often stored so."""
    name, data = "", list[str]()
    for line in _LINE.split(text):
        if not line:
            if data:
                yield name, "\n".join(data)
            name, data = "", []
            continue
        field, _, value = line.partition(":")
        if field.strip() == "data":
            data.append(value.removeprefix(" "))
        elif field.strip() == "event":
            name = value.strip()
    if data:
        yield name, "\n".join(data)
