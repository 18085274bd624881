"""What does a response of OpenAI's Responses API say, whole or streamed?"""

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
from evalkit.models.wire.usage_fields import responses_usage

_INCOMPLETE: Mapping[str, Finish] = {
    "max_output_tokens": "length",
    "max_tokens": "length",
    "content_filter": "content_filter",
}
_UNFINISHED = frozenset({"in_progress", "queued"})
_ENDS = frozenset({"response.completed", "response.incomplete", "response.failed", "response.cancelled"})
_CALLS = frozenset({"function_call", "custom_tool_call"})
_PARAGRAPH = "\n\n"


def is_responses(value: Mapping[str, object]) -> bool:
    """Whether an object is a response of this API."""
    return value.get("object") == "response" or (isinstance(value.get("output"), list) and "status" in value)


def is_responses_event(event: Mapping[str, object]) -> bool:
    """Whether an event belongs to a streamed response."""
    return (text_in(event.get("type")) or "").startswith("response.")


def read_responses(value: Mapping[str, object]) -> Reading:
    """Read one response. One that is still being made, as in background mode, is not complete."""
    items = objects_in(value.get("output"))
    blocks = tuple(block for item in items for block in _item(item))
    usage = as_object(value.get("usage"))
    status = text_in(value.get("status"))
    reason = text_in(as_object(value.get("incomplete_details")).get("reason"))
    return Reading(
        blocks=blocks,
        usage=responses_usage(usage, thinking_shown=thinking_in(blocks)) if usage else None,
        raw_usage=storable(usage) if usage else None,
        finish=_finish(items, status, reason),
        finish_raw=reason or status,
        model_served=text_in(value.get("model")),
        error=error_text(value.get("error")),
        complete=status not in _UNFINISHED,
    )


def read_responses_stream(stream: Stream) -> Reading:
    """The response that the last event brings; before that, what was said so far."""
    said = _SoFar()
    for event in stream.events:
        said.add(event)
    return read_responses(said.build())


def _finish(items: list[Mapping[str, object]], status: str | None, reason: str | None) -> Finish:
    if reason is not None or status == "incomplete":
        return _INCOMPLETE.get(reason or "", "unknown")
    if status != "completed":
        return "unknown"
    parts = (part for item in items for part in objects_in(item.get("content")))
    if any(part.get("type") == "refusal" for part in parts):
        return "content_filter"
    called = any(text_in(item.get("type")) in _CALLS for item in items)
    return "tool_calls" if called else "stop"


def _item(item: Mapping[str, object]) -> Iterator[Block]:
    kind = text_in(item.get("type"))
    if kind == "reasoning":
        yield from _reasoning(item)
    elif kind == "message":
        for part in objects_in(item.get("content")):
            yield from _said(part)
    elif kind in _CALLS:
        written_as = item.get("input") if kind == "custom_tool_call" else item.get("arguments")
        called = text_in(item.get("call_id")) or text_in(item.get("id")) or ""
        yield Call(id=called, tool=text_in(item.get("name")) or "", arguments=written(written_as))
    elif kind is not None:
        yield Other(type=kind)


def _reasoning(item: Mapping[str, object]) -> Iterator[Reasoning]:
    """One item is one block: the thoughts themselves where they are shown, else their summary."""
    thought, summary = (
        _PARAGRAPH.join(filter(None, (text_in(part.get("text")) for part in objects_in(item.get(name)))))
        for name in ("content", "summary")
    )
    block = Reasoning(
        text=thought or summary or None,
        is_summary=not thought and bool(summary),
        signature=text_in(item.get("signature")),
        opaque=text_in(item.get("encrypted_content")),
    )
    if block != Reasoning():
        yield block


def _said(part: Mapping[str, object]) -> Iterator[Block]:
    kind = text_in(part.get("type"))
    text = text_in(part.get("refusal" if kind == "refusal" else "text"))
    if text and kind in {"output_text", "text", "refusal"}:
        yield Text(text=text)
    elif kind not in {"output_text", "text", "refusal", None}:
        yield Other(type=kind or "")


@dataclass(slots=True)
class _Item:
    """One output item while it is streamed: how it began or ended, and what grew in between."""

    value: Mapping[str, object]
    done: bool = False
    grown: dict[str, dict[int, list[str]]] = field(default_factory=dict[str, dict[int, list[str]]])

    def grow(self, name: str, place: int, more: str) -> None:
        self.grown.setdefault(name, {}).setdefault(place, []).append(more)

    def build(self) -> Mapping[str, object]:
        if self.done:
            return self.value
        built = dict(self.value)
        for name, places in self.grown.items():
            texts = ["".join(parts) for _, parts in sorted(places.items())]
            field_name, part = _FIELDS[name]
            if part is None:
                built[field_name] = "".join(texts)
                continue
            kind, key = part
            said = objects_in(built.get(field_name))
            built[field_name] = [*said, *({"type": kind, key: text} for text in texts)]
        return built


_FIELDS: Mapping[str, tuple[str, tuple[str, str] | None]] = {
    "response.output_text.delta": ("content", ("output_text", "text")),
    "response.refusal.delta": ("content", ("refusal", "refusal")),
    "response.reasoning_text.delta": ("content", ("reasoning_text", "text")),
    "response.reasoning_summary_text.delta": ("summary", ("summary_text", "text")),
    "response.function_call_arguments.delta": ("arguments", None),
    "response.custom_tool_call_input.delta": ("input", None),
}
"""Which field of an item an event's delta makes longer, and of which kind the part in it is."""


@dataclass(slots=True)
class _SoFar:
    response: dict[str, object] = field(default_factory=dict[str, object])
    ended: bool = False
    error: str | None = None
    items: dict[int, _Item] = field(default_factory=dict[int, _Item])

    def add(self, event: Mapping[str, object]) -> None:
        kind = text_in(event.get("type")) or ""
        if "response" in event and not self.ended:
            self.response.update(as_object(event.get("response")))
        if kind in _ENDS:
            self.ended = True
            self.response.setdefault("status", kind.removeprefix("response."))
        self.error = self.error or error_in(event)
        place = count(event.get("output_index"))
        if place is None:
            return
        if kind in {"response.output_item.added", "response.output_item.done"}:
            self.items[place] = self.items.get(place) or _Item({})
            self.items[place].value = as_object(event.get("item"))
            self.items[place].done = kind.endswith(".done")
        elif kind in _FIELDS and (more := text_in(event.get("delta"))):
            part = count(event.get("content_index")) or count(event.get("summary_index")) or 0
            self.items.setdefault(place, _Item({"type": _owner(kind)})).grow(kind, part, more)

    def build(self) -> dict[str, object]:
        """The response as told by its last event; where it was cut or came without output, what had been said."""
        built = dict(self.response)
        if not self.ended or not objects_in(built.get("output")):
            built["output"] = [dict(item.build()) for _, item in sorted(self.items.items())]
        if not self.ended:
            built["status"] = "in_progress"
        built["error"] = built.get("error") or self.error
        return built


def _owner(event: str) -> str:
    """The type of an item of which only deltas arrived."""
    name = event.removeprefix("response.")
    if name.startswith("reasoning"):
        return "reasoning"
    if name.startswith("function_call"):
        return "function_call"
    return "custom_tool_call" if name.startswith("custom") else "message"
