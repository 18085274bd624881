"""What does an Anthropic message say, whole or streamed?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from evalkit.models.reading import Block, Call, Finish, Other, Reading, Reasoning, Text
from evalkit.models.reconcile import count
from evalkit.models.wire.blocks import thinking_in
from evalkit.models.wire.json_values import (
    as_object,
    error_in,
    error_text,
    objects_in,
    storable,
    text_in,
    written,
)
from evalkit.models.wire.sse import Stream
from evalkit.models.wire.usage_fields import anthropic_usage

_FINISH: Mapping[str, Finish] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "context_length",
    "refusal": "content_filter",
}
"""`pause_turn` is no end: the provider wants the turn sent back to go on."""

_EVENTS = ("message_start", "message_delta", "message_stop", "content_block_")
_GROWING = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}


def is_anthropic(value: Mapping[str, object]) -> bool:
    """Whether an object is a message of Anthropic's."""
    return value.get("type") == "message" and isinstance(value.get("content"), list)


def is_anthropic_event(event: Mapping[str, object]) -> bool:
    """Whether an event belongs to a streamed message."""
    return (text_in(event.get("type")) or "").startswith(_EVENTS)


def read_anthropic(
    value: Mapping[str, object], *, complete: bool = True, counted: bool = True, error: str | None = None
) -> Reading:
    """Read one message. Where it was not `counted` to its end, the output count is not known."""
    blocks = tuple(block for part in objects_in(value.get("content")) for block in _block(part))
    word = text_in(value.get("stop_reason"))
    usage = as_object(value.get("usage"))
    known = usage if counted else {**usage, "output_tokens": None}
    return Reading(
        blocks=blocks,
        usage=anthropic_usage(known, thinking_shown=thinking_in(blocks)) if usage else None,
        raw_usage=storable(usage) if usage else None,
        finish=_FINISH.get(word or "", "unknown"),
        finish_raw=word,
        model_served=text_in(value.get("model")),
        error=error or error_text(value.get("error")),
        complete=complete,
    )


def read_anthropic_stream(stream: Stream) -> Reading:
    """Put a streamed message together. Its end is `message_stop`.

    Without a `message_delta` the output count is None: the one at the start says only how far it was then.
    """
    message: dict[str, object] = {}
    usage: dict[str, object] = {}
    blocks = _Blocks()
    error: str | None = None
    complete = counted = False
    for event in stream.events:
        kind = event.get("type")
        if kind == "message_start":
            message.update(as_object(event.get("message")))
            usage.update(as_object(message.get("usage")))
        elif kind == "message_delta":
            message.update(as_object(event.get("delta")))
            usage.update(as_object(event.get("usage")))
            counted = counted or "output_tokens" in as_object(event.get("usage"))
        elif kind == "message_stop":
            complete = True
        elif problem := error_in(event):
            error = error or problem
        else:
            blocks.add(event)
    whole = {**message, "content": blocks.build() or message.get("content"), "usage": usage}
    return read_anthropic(whole, complete=complete, counted=counted, error=error)


def _block(part: Mapping[str, object]) -> Iterator[Block]:
    kind = text_in(part.get("type"))
    if kind == "text":
        if text := text_in(part.get("text")):
            yield Text(text=text)
    elif kind == "thinking":
        block = Reasoning(text=text_in(part.get("thinking")), signature=text_in(part.get("signature")))
        if block != Reasoning():
            yield block
    elif kind == "redacted_thinking":
        if data := text_in(part.get("data")):
            yield Reasoning(opaque=data)
    elif kind == "tool_use":
        name, called = text_in(part.get("name")), text_in(part.get("id"))
        yield Call(id=called or "", tool=name or "", arguments=written(part.get("input")))
    elif kind is not None:
        yield Other(type=kind)


@dataclass(slots=True)
class _BlockParts:
    start: dict[str, object]
    parts: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def build(self) -> dict[str, object]:
        grown: dict[str, object] = {}
        for name, parts in self.parts.items():
            before = "" if name == "input" else (text_in(self.start.get(name)) or "")
            grown[name] = before + "".join(parts)
        return {**self.start, **grown}


@dataclass(slots=True)
class _Blocks:
    order: list[_BlockParts] = field(default_factory=list[_BlockParts])
    places: dict[int, _BlockParts] = field(default_factory=dict[int, _BlockParts])

    def add(self, event: Mapping[str, object]) -> None:
        index = count(event.get("index"))
        if event.get("type") == "content_block_start":
            block = _BlockParts(dict(as_object(event.get("content_block"))))
            self.order.append(block)
            if index is not None:
                self.places[index] = block
        elif event.get("type") == "content_block_delta":
            block = self.places.get(index) if index is not None else next(reversed(self.order), None)
            if block is not None:
                _grow(block, as_object(event.get("delta")))

    def build(self) -> list[object]:
        return [block.build() for block in self.order]


def _grow(block: _BlockParts, delta: Mapping[str, object]) -> None:
    kind = text_in(delta.get("type")) or ""
    if kind == "input_json_delta":
        name, more = "input", text_in(delta.get("partial_json"))
    else:
        name = _GROWING.get(kind, "")
        more = text_in(delta.get(name)) if name else None
    if more:
        block.parts.setdefault(name, []).append(more)
