"""What does a streamed chat completion say, once its deltas are put together?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from evalkit.models.reading import Block, Reading
from evalkit.models.reconcile import count
from evalkit.models.wire.blocks import join_pieces
from evalkit.models.wire.chat import assemble, compose, read_content
from evalkit.models.wire.json_values import as_object, error_in, error_text, objects_in, text_in, written
from evalkit.models.wire.sse import Stream

_TEXTS = ("reasoning_content", "reasoning", "refusal")
_DETAIL_TEXTS = ("text", "summary")


def read_chat_stream(stream: Stream) -> Reading:
    """Put the deltas of the first choice together and read them like one message.

    The end was said by a finish reason. Where a provider's finish reasons are empty strings, `[DONE]` says it.
    """
    message = _Message()
    usage: object = None
    model: str | None = None
    error: str | None = None
    for event in stream.events:
        usage = _usage(event) or usage
        model = model or text_in(event.get("model"))
        error = error or error_in(event)
        for choice in objects_in(event.get("choices")):
            error = error or error_text(choice.get("error"))
            message.add(choice)
    whole = message.build()
    return assemble(
        whole,
        usage=usage,
        finish=message.finish,
        refused="refusal" in message.texts,
        model=model,
        error=error,
        complete=bool(message.finish) or (message.finish == "" and stream.done),
    )


def _usage(event: Mapping[str, object]) -> Mapping[str, object]:
    return as_object(event.get("usage")) or as_object(as_object(event.get("x_groq")).get("usage"))


@dataclass(slots=True)
class _CallParts:
    id: str = ""
    name: str = ""
    custom: bool = False
    signature: Mapping[str, object] = field(default_factory=dict[str, object])
    arguments: list[str] = field(default_factory=list[str])

    def build(self) -> dict[str, object]:
        named = {"name": self.name, "arguments": "".join(self.arguments), "input": "".join(self.arguments)}
        return {
            "id": self.id,
            "custom" if self.custom else "function": named,
            "extra_content": self.signature,
        }


@dataclass(slots=True)
class _Detail:
    index: int | None
    fields: dict[str, object]
    parts: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def build(self) -> dict[str, object]:
        return {**self.fields, **{name: "".join(parts) for name, parts in self.parts.items()}}


@dataclass(slots=True)
class _Message:
    choice: int | None = None
    finish: str | None = None
    said: list[Block] = field(default_factory=list[Block])
    texts: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    details: list[_Detail] = field(default_factory=list[_Detail])
    calls: list[_CallParts] = field(default_factory=list[_CallParts])
    places: dict[int, _CallParts] = field(default_factory=dict[int, _CallParts])
    legacy: _CallParts = field(default_factory=_CallParts)

    def add(self, choice: Mapping[str, object]) -> None:
        index = count(choice.get("index")) or 0
        self.choice = index if self.choice is None else self.choice
        if index != self.choice:
            return
        finish = choice.get("finish_reason")
        if isinstance(finish, str):
            self.finish = finish or self.finish or ""
        delta = as_object(choice.get("delta" if "delta" in choice else "message"))
        self.said.extend(read_content(delta.get("content") or choice.get("text")))
        for name in _TEXTS:
            if text := text_in(delta.get(name)):
                self.texts.setdefault(name, []).append(text)
        for detail in objects_in(delta.get("reasoning_details")):
            self._add_detail(detail)
        for call in objects_in(delta.get("tool_calls")):
            self._add_call(call)
        _extend(self.legacy, as_object(delta.get("function_call")))

    def _add_detail(self, detail: Mapping[str, object]) -> None:
        """Texts of one place grow; ciphertext never does, for two of them may claim one place."""
        index, kind = count(detail.get("index")), detail.get("type")
        last = self.details[-1] if self.details else None
        grows = last is not None and last.index == index and last.fields.get("type") == kind
        if last is None or not grows or text_in(detail.get("data")):
            last = _Detail(index, {})
            self.details.append(last)
        for name, value in detail.items():
            if name in _DETAIL_TEXTS:
                if text := text_in(value):
                    last.parts.setdefault(name, []).append(text)
            elif value is not None:
                last.fields[name] = value

    def _add_call(self, call: Mapping[str, object]) -> None:
        """The call that a delta belongs to is found by its index, unless it names another id, as some providers do."""
        function, custom = as_object(call.get("function")), as_object(call.get("custom"))
        named = function or custom
        index, called = count(call.get("index")), text_in(call.get("id"))
        parts = self.places.get(index) if index is not None else (self.calls[-1] if self.calls else None)
        another = parts is not None and called and text_in(named.get("name")) and parts.id not in {"", called}
        if parts is None or another:
            parts = _CallParts(custom=not function and bool(custom))
            self.calls.append(parts)
        if index is not None:
            self.places[index] = parts
        parts.id = parts.id or called or ""
        parts.signature = as_object(call.get("extra_content")) or parts.signature
        _extend(parts, named)

    def build(self) -> tuple[Block, ...]:
        """The blocks of the whole message."""
        message: dict[str, object] = {name: "".join(parts) for name, parts in self.texts.items()}
        message["reasoning_details"] = [detail.build() for detail in self.details]
        message["tool_calls"] = [call.build() for call in self.calls]
        message["function_call"] = self.legacy.build()["function"]
        return compose(message, join_pieces(self.said))


def _extend(parts: _CallParts, named: Mapping[str, object]) -> None:
    parts.name = parts.name or text_in(named.get("name")) or ""
    more = written(named.get("input") if parts.custom else named.get("arguments"))
    if more:
        parts.arguments.append(more)
