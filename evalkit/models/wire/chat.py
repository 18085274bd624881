"""What does an OpenAI chat completion say, or a response of one of the many providers that speak alike?

The message has no order of its own: thinking comes first, then what was said, then the calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from evalkit.models.reading import Block, Call, Finish, Other, Reading, Reasoning, Text
from evalkit.models.think_tags import split_inline
from evalkit.models.wire.blocks import join_pieces, thinking_in
from evalkit.models.wire.json_values import (
    as_list,
    as_object,
    error_text,
    is_object,
    objects_in,
    storable,
    text_in,
    written,
)
from evalkit.models.wire.usage_fields import chat_usage

_FINISH: Mapping[str, Finish] = {
    "stop": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "stop_sequence": "stop",
    "end_turn": "stop",
    "length": "length",
    "max_tokens": "length",
    "model_length": "context_length",
    "model_context_window_exceeded": "context_length",
    "tool_calls": "tool_calls",
    "tool_use": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "content_filter",
    "safety": "content_filter",
}


def is_chat(value: Mapping[str, object]) -> bool:
    """Whether an object is a chat completion, or one event of a streamed one."""
    kind = text_in(value.get("object")) or ""
    return isinstance(value.get("choices"), list) or kind.startswith("chat.completion")


def read_chat(value: Mapping[str, object]) -> Reading:
    """Read one whole completion. Of several choices only the first counts."""
    choice = next(iter(objects_in(value.get("choices"))), as_object(None))
    message = as_object(choice.get("message"))
    content = message.get("content") if message else choice.get("text")
    blocks = compose(message, tuple(read_content(content)))
    return assemble(
        blocks,
        usage=value.get("usage"),
        finish=choice.get("finish_reason"),
        refused=text_in(message.get("refusal")) is not None,
        model=value.get("model"),
        error=error_text(value.get("error")) or error_text(choice.get("error")),
    )


def assemble(
    blocks: tuple[Block, ...],
    *,
    usage: object,
    finish: object,
    refused: bool,
    model: object,
    error: str | None,
    complete: bool = True,
) -> Reading:
    """The reading of a completion from its parts.

    A refusal counts as filtered, whatever the finish says, and a stop after a call as waiting for its result.
    """
    word = text_in(finish)
    raw = as_object(usage)
    ended = _FINISH.get((word or "").lower(), "unknown")
    if ended == "stop" and any(isinstance(block, Call) for block in blocks):
        ended = "tool_calls"
    return Reading(
        blocks=blocks,
        usage=chat_usage(raw, thinking_shown=thinking_in(blocks)) if raw else None,
        raw_usage=storable(raw) if raw else None,
        finish="content_filter" if refused else ended,
        finish_raw=word,
        model_served=text_in(model),
        error=error,
        complete=complete,
    )


def compose(message: Mapping[str, object], said: tuple[Block, ...]) -> tuple[Block, ...]:
    """A message's thinking, what its content said, refusal and calls.

    Think tags count only where no thinking came on its own.
    """
    blocks = (*_thinking(message), *said)
    if not thinking_in(blocks):
        blocks = tuple(_untag(said))
    refusal = text_in(message.get("refusal"))
    refused = (Text(text=refusal),) if refusal else ()
    return (*blocks, *refused, *_calls(message))


def read_content(content: object) -> Iterator[Block]:
    """What a content field holds: a string, or a list in which text and thinking alternate."""
    if text := text_in(content):
        yield Text(text=text)
    for part in as_list(content):
        if text := text_in(part):
            yield Text(text=text)
        elif is_object(part):
            yield from _part(part)


def read_details(details: object) -> Iterator[Reasoning]:
    """OpenRouter's `reasoning_details`, which others have taken over."""
    for detail in objects_in(details):
        summary, text = text_in(detail.get("summary")), text_in(detail.get("text"))
        block = Reasoning(
            text=text or summary,
            is_summary=text is None and summary is not None,
            signature=text_in(detail.get("signature")),
            opaque=text_in(detail.get("data")),
        )
        if block != Reasoning():
            yield block


def _part(part: Mapping[str, object]) -> Iterator[Block]:
    kind = text_in(part.get("type")) or ""
    text = text_in(part.get("text"))
    if kind in {"thinking", "reasoning"}:
        summary = _texts(part.get("summary"))
        thought = _texts(part.get("thinking")) or text
        block = Reasoning(
            text=thought or summary,
            is_summary=thought is None and summary is not None,
            signature=text_in(part.get("signature")),
        )
        if block != Reasoning():
            yield block
    elif kind == "redacted_thinking":
        if data := text_in(part.get("data")):
            yield Reasoning(opaque=data)
    elif text and kind in {"text", "output_text", ""}:
        yield Text(text=text)
    elif kind == "refusal" and (refusal := text_in(part.get("refusal"))):
        yield Text(text=refusal)
    elif kind not in {"text", "output_text", "refusal", ""}:
        yield Other(type=kind)


def _texts(value: object) -> str | None:
    """A string, or the texts of a list of parts, as one."""
    return text_in(value) or "".join(text_in(part.get("text")) or "" for part in objects_in(value)) or None


def _thinking(message: Mapping[str, object]) -> tuple[Block, ...]:
    """The thinking in fields of its own. The same thoughts often come in several; the one that proves most counts."""
    details = tuple(read_details(message.get("reasoning_details")))
    if not details:
        details = tuple(block for part in objects_in(message.get("thinking_blocks")) for block in _part(part))
    if any(isinstance(block, Reasoning) and block.text for block in details):
        return details
    text = text_in(message.get("reasoning_content")) or text_in(message.get("reasoning"))
    return (Reasoning(text=text), *details) if text else details


def _untag(said: Sequence[Block]) -> Iterator[Block]:
    """What was said, with the think blocks that begin it separated out."""
    if not said or not isinstance(said[0], Text):
        yield from said
        return
    joined = join_pieces(said)
    first = joined[0]
    thought, answer = split_inline(first.text if isinstance(first, Text) else "")
    if thought is not None:
        yield Reasoning(text=thought)
    if answer:
        yield Text(text=answer)
    yield from joined[1:]


def _calls(message: Mapping[str, object]) -> Iterator[Call]:
    calls = objects_in(message.get("tool_calls"))
    for call in calls:
        function, custom = as_object(call.get("function")), as_object(call.get("custom"))
        named = function if text_in(function.get("name")) or not text_in(custom.get("name")) else custom
        google = as_object(as_object(call.get("extra_content")).get("google"))
        yield Call(
            id=text_in(call.get("id")) or "",
            tool=text_in(named.get("name")) or "",
            arguments=written(named.get("input") if named is custom else named.get("arguments")),
            signature=text_in(google.get("thought_signature")),
        )
    legacy = as_object(message.get("function_call"))
    if not calls and (name := text_in(legacy.get("name"))):
        yield Call(id="", tool=name, arguments=written(legacy.get("arguments")))
