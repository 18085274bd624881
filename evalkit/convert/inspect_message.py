"""What does a message in an Inspect log say?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from evalkit.convert.inspect_refs import Attachments
from evalkit.convert.notes import Notes
from evalkit.convert.reported import dollars, tokens
from evalkit.models.reading import Block, Call, Other, Reasoning, Text
from evalkit.models.reconcile import reconcile
from evalkit.models.think_tags import split_inline
from evalkit.models.usage import Usage
from evalkit.models.wire.json_values import as_list, as_object, canonical, is_object, objects_in, text_in

_GOOGLE = ("google/", "vertex/", "gemini")
"""Models whose provider counts thinking beside the output, and shows summaries of it only."""
_SUMMARISED = "rs_"
"""How the ids of OpenAI's reasoning items begin, of which Inspect keeps the summary as if it were the thinking."""


def blocks_of(message: Mapping[str, object], model: str, texts: Attachments) -> tuple[Block, ...]:
    """Thinking, text and calls of an assistant message. Think tags count only where no thinking came on its own."""
    content = message.get("content")
    said = [*_thought(message, texts), *_parts(content, model, texts)]
    if not any(isinstance(block, Reasoning) for block in said):
        said = _untagged(said)
    calls = (
        Call(id=text_in(call.get("id")) or "", tool=text_in(call.get("function")) or "", arguments="")
        for call in objects_in(message.get("tool_calls"))
    )
    return (*said, *calls)


def said_in(content: object, texts: Attachments) -> str:
    """The text of a message's content. A part without a text, such as an image, is named in brackets by its type."""
    if isinstance(content, str):
        return texts.text(content) or ""
    if content is None or isinstance(content, bool | int | float):
        return "" if content is None else str(content)
    parts = [content] if is_object(content) else as_list(content)
    return "\n".join(filter(None, (_said(part, texts) for part in parts)))


def first_choice(output: Mapping[str, object]) -> Mapping[str, object]:
    """The answer that counts, of those that a model's output holds; empty where it holds none."""
    return as_object(next(iter(objects_in(output.get("choices"))), None))


def thinking_shown(blocks: Sequence[Block]) -> bool:
    """Whether thinking came back that can be read."""
    return any(isinstance(block, Reasoning) and block.text for block in blocks)


def usage_of(usage: object, model: str, notes: Notes, *, thinking_shown: bool = False) -> Usage | None:
    """Inspect's counts in evalkit's convention; None where there are none.

    Inspect counts what went to and came from a cache beside the input, and keeps thinking where the provider puts it:
    Google beside the output, others inside it; the total tells.
    """
    if not is_object(usage) or not usage:
        return None
    return reconcile(
        input_tokens=tokens(usage.get("input_tokens"), notes),
        output_tokens=tokens(usage.get("output_tokens"), notes),
        reasoning_tokens=tokens(usage.get("reasoning_tokens"), notes),
        cache_read_tokens=tokens(usage.get("input_tokens_cache_read"), notes),
        cache_write_tokens=tokens(usage.get("input_tokens_cache_write"), notes),
        total_tokens=tokens(usage.get("total_tokens"), notes) or None,
        cache_in_input=False,
        reasoning_in_output=not model.startswith(_GOOGLE),
        thinking_shown=thinking_shown,
        reported_cost_usd=dollars(usage.get("total_cost"), notes),
    )


def _thought(message: Mapping[str, object], texts: Attachments) -> Iterator[Block]:
    """Thinking in a field of its own, as logs of late 2024 and early 2025 have it."""
    if text := texts.text(message.get("reasoning")):
        yield Reasoning(text=text)


def _parts(content: object, model: str, texts: Attachments) -> Iterator[Block]:
    if isinstance(content, str):
        if text := texts.text(content):
            yield Text(text=text)
        return
    for part in as_list(content):
        if isinstance(part, str):
            yield Text(text=texts.text(part) or "")
            continue
        fields = as_object(part)
        kind = text_in(fields.get("type")) or ""
        if kind == "reasoning":
            yield _reasoning(fields, model, texts)
        elif kind == "text":
            if text := texts.text(fields.get("text")):
                yield Text(text=text)
        elif kind:
            yield Other(type=kind)


def _reasoning(fields: Mapping[str, object], model: str, texts: Attachments) -> Reasoning:
    """Redacted thinking is not to be read, except for its summary."""
    thought = texts.text(fields.get("reasoning")) or None
    summary = texts.text(fields.get("summary")) or None
    signature = text_in(fields.get("signature"))
    if fields.get("redacted") is True:
        return Reasoning(text=summary, is_summary=summary is not None, signature=signature, opaque=thought)
    summarised = thought is not None and (
        model.startswith(_GOOGLE) or (signature or "").startswith(_SUMMARISED)
    )
    return Reasoning(
        text=thought or summary,
        is_summary=summarised or (thought is None and summary is not None),
        signature=signature,
    )


def _untagged(said: Sequence[Block]) -> list[Block]:
    """What was said, with the think blocks that begin it separated out."""
    first = said[0] if said else None
    if not isinstance(first, Text):
        return list(said)
    thought, answer = split_inline(first.text)
    if thought is None and answer == first.text:
        return list(said)
    found: list[Block] = [Reasoning(text=thought)] if thought is not None else []
    return [*found, *([Text(text=answer)] if answer else []), *said[1:]]


def _said(part: object, texts: Attachments) -> str:
    if isinstance(part, str):
        return texts.text(part) or ""
    fields = as_object(part)
    text = texts.text(fields.get("text"))
    if text is not None:
        return text
    kind = text_in(fields.get("type"))
    if kind:
        return f"[{kind}]"
    return canonical(part) if part else ""
