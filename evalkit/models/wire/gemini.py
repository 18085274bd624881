"""What does a response of Google's Gemini API say, whole or streamed?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from evalkit.models.reading import Block, Call, Finish, Other, Reading, Reasoning, Text
from evalkit.models.wire.blocks import join_pieces, thinking_in
from evalkit.models.wire.json_values import (
    as_object,
    error_in,
    is_object,
    objects_in,
    storable,
    text_in,
    written,
)
from evalkit.models.wire.usage_fields import gemini_usage

_FINISH: Mapping[str, Finish] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
    "LANGUAGE": "content_filter",
    "BLOCKLIST": "content_filter",
    "PROHIBITED_CONTENT": "content_filter",
    "SPII": "content_filter",
    "IMAGE_SAFETY": "content_filter",
    "IMAGE_PROHIBITED_CONTENT": "content_filter",
    "IMAGE_RECITATION": "content_filter",
    "MODEL_ARMOR": "content_filter",
}
"""MALFORMED_FUNCTION_CALL and its like are none of these: the model wrote a call that could not be read."""

_SIDE = frozenset({"thought", "thoughtSignature", "videoMetadata", "mediaResolution", "partMetadata"})


def is_gemini(value: Mapping[str, object]) -> bool:
    """Whether an object is a response, or one event of a streamed one."""
    return any(key in value for key in ("candidates", "promptFeedback", "usageMetadata"))


def read_gemini(value: Mapping[str, object]) -> Reading:
    """Read one whole response: complete even where it gives no reason why it ended."""
    return _read((value,), streamed=False)


def read_gemini_stream(events: Iterable[Mapping[str, object]]) -> Reading:
    """Put the events of a stream together. Its end is a finish reason, or a prompt that was refused."""
    return _read(tuple(events), streamed=True)


def _read(events: tuple[Mapping[str, object], ...], *, streamed: bool) -> Reading:
    pieces: list[Block] = []
    word = blocked = model = error = None
    usage: Mapping[str, object] = {}
    for event in events:
        candidate = next(iter(objects_in(event.get("candidates"))), as_object(None))
        pieces.extend(_pieces(candidate))
        word = text_in(candidate.get("finishReason")) or word
        blocked = text_in(as_object(event.get("promptFeedback")).get("blockReason")) or blocked
        usage = as_object(event.get("usageMetadata")) or usage
        model = text_in(event.get("modelVersion")) or model
        error = error or error_in(event)
    blocks = join_pieces(pieces) if streamed else tuple(pieces)
    return Reading(
        blocks=blocks,
        usage=gemini_usage(usage, thinking_shown=thinking_in(blocks)) if usage else None,
        raw_usage=storable(usage) if usage else None,
        finish=_finish(word, blocked, blocks),
        finish_raw=word or blocked,
        model_served=model,
        error=error,
        complete=not streamed or bool(word or blocked),
    )


def _finish(word: str | None, blocked: str | None, blocks: tuple[Block, ...]) -> Finish:
    if word is None:
        return "content_filter" if blocked else "unknown"
    if word == "STOP" and any(isinstance(block, Call) for block in blocks):
        return "tool_calls"
    return _FINISH.get(word, "unknown")


def _pieces(candidate: Mapping[str, object]) -> Iterator[Block]:
    for part in objects_in(as_object(candidate.get("content")).get("parts")):
        signature = text_in(part.get("thoughtSignature"))
        text = text_in(part.get("text"))
        called = part.get("functionCall")
        if is_object(called):
            yield _call(called, signature)
        elif part.get("thought") is True:
            if text or signature:
                yield Reasoning(text=text, is_summary=text is not None, signature=signature)
        elif text or signature:
            yield Text(text=text or "", signature=signature)
        else:
            yield from _other(part)


def _call(called: Mapping[str, object], signature: str | None) -> Call:
    return Call(
        id=text_in(called.get("id")) or "",
        tool=text_in(called.get("name")) or "",
        arguments=written(called.get("args", {})),
        signature=signature,
    )


def _other(part: Mapping[str, object]) -> Iterator[Other]:
    """A part that is neither text nor call is named by its field."""
    name = next((key for key in part if key not in _SIDE and key != "text"), None)
    if name is not None:
        yield Other(type=str(name))
