"""What does a message hold as its content, in any of the forms in which texts are written down?

What can be said in words is, and what is of no known form is kept as JSON, so that nothing vanishes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evalkit.models.wire.json_values import as_list, as_object, canonical, is_list, is_object, text_in

_SOUNDS = ("audio", "input_audio", "output_audio")


def content_of(message: Mapping[str, object]) -> object:
    """The content of a message, with what was said in sound: a text, or texts and parts that name their type."""
    content = message.get("content")
    transcript = _transcript(message)
    if transcript is None and (content is None or isinstance(content, str)):
        return content
    parts = parts_of(content)
    return parts if transcript is None or transcript in parts else [*parts, transcript]


def parts_of(content: object) -> list[str | Mapping[str, object]]:
    """The parts of a content: texts, and objects that have a text or name their type."""
    if content is None:
        return []
    return [
        _readable(part) for part in (as_list(content) if is_list(content) else [content]) if part is not None
    ]


def text_of(content: object) -> str:
    """The text of a message's content. A part without a text, such as an image, is named in brackets by its type."""
    if isinstance(content, str):
        return content
    return "\n".join(filter(None, map(_text, parts_of(content))))


def _text(part: str | Mapping[str, object]) -> str:
    if isinstance(part, str):
        return part
    text, kind = part.get("text"), text_in(part.get("type"))
    return text if isinstance(text, str) else f"[{kind}]" if kind else ""


def _readable(part: object) -> str | Mapping[str, object]:
    if isinstance(part, str):
        return part
    if not is_object(part):
        return canonical(part)
    text = part.get("text")
    if isinstance(text, str):
        return part
    said = text_in(as_object(text).get("value")) or _transcript(part)
    if said is not None:
        return {**part, "type": "text", "text": said}
    if text is not None:
        return {**part, "text": canonical(text)}
    return part if text_in(part.get("type")) or not part else canonical(part)


def _transcript(holder: Mapping[str, object]) -> str | None:
    """What was said in sound, where it was written down."""
    return next(filter(None, _transcripts(holder)), None)


def _transcripts(holder: Mapping[str, object]) -> Iterator[str | None]:
    yield text_in(holder.get("transcript"))
    for name in _SOUNDS:
        yield text_in(as_object(holder.get(name)).get("transcript"))
