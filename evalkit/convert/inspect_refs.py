"""What stands where an Inspect log only refers to it?

Long texts are kept once in a sample's `attachments` and referred to as `attachment://HASH` (`tc://` in old logs), and
what was sent to a model is a list of ranges into a pool of messages (`input_refs`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evalkit.convert.notes import Notes
from evalkit.models.wire.json_values import as_list, as_object, is_list, is_object

_PREFIXES = ("attachment://", "tc://")
_MOST_CHARACTERS = 1 << 29
"""That references of one sample may add up to; a small file could otherwise refer to a large text without end."""
_DEPTH = 100


class Attachments:
    """The long texts of one sample."""

    def __init__(self, sample: Mapping[str, object], notes: Notes) -> None:
        self._texts = as_object(sample.get("attachments"))
        if not self._texts:
            self._texts = as_object(as_object(sample.get("transcript")).get("content"))
        self._left = _MOST_CHARACTERS
        self._notes = notes

    def text(self, value: object) -> str | None:
        """The text that a value is or refers to; None where it is no text."""
        if not isinstance(value, str):
            return None
        return self._resolved(value) if value.startswith(_PREFIXES) else value

    def inside(self, value: Any, depth: int = _DEPTH) -> Any:
        """A JSON value with every reference in it replaced."""
        if isinstance(value, str):
            return self._resolved(value) if value.startswith(_PREFIXES) else value
        if depth:
            if is_object(value):
                return {key: self.inside(item, depth - 1) for key, item in value.items()}
            if is_list(value):
                return [self.inside(item, depth - 1) for item in value]
        return value

    def _resolved(self, reference: str) -> str:
        text = self._texts.get(reference.partition("://")[2])
        if not isinstance(text, str):
            self._notes.warn("references to texts that the log does not hold are kept as they are")
            return reference
        if len(text) > self._left:
            self._notes.lose("texts beyond half a billion characters of one sample are left as references")
            return reference
        self._left -= len(text)
        return text


class Pool:
    """Messages that events refer to by their place."""

    def __init__(self, sample: Mapping[str, object]) -> None:
        data = as_object(sample.get("events_data"))
        self._messages = as_list(data.get("messages")) or as_list(sample.get("message_pool"))
        self._next = list(range(len(self._messages) + 1))
        """From each place, the next one that was not given out; shortened as one goes along it."""

    def new(self, refs: object) -> Iterator[object]:
        """The messages in these ranges that were not given out before, in order."""
        for pair in as_list(refs):
            start, end = pair if is_list(pair) and len(pair) == 2 else (0, 0)
            if not (type(start) is int and type(end) is int) or start < 0:
                continue
            end = min(end, len(self._messages))
            place = self._untold(min(start, end))
            while place < end:
                self._next[place] = place + 1
                yield self._messages[place]
                place = self._untold(place + 1)

    def _untold(self, place: int) -> int:
        following = self._next
        while following[place] != place:
            following[place] = following[following[place]]
            place = following[place]
        return place
