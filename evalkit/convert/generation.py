"""What does one message of a model become as a `think` step?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evalkit.convert.content import content_of
from evalkit.models.blocks_json import blocks_as_json
from evalkit.models.reading import Block, Reasoning, Text
from evalkit.models.usage import Usage
from evalkit.models.wire.chat import compose, read_content
from evalkit.trajectory.canonical import canonical_json
from evalkit.trajectory.trial import ReasoningVisibility


def chat_blocks(message: Mapping[str, object]) -> tuple[Block, ...]:
    """Thinking, text and calls of an assistant message in OpenAI's chat format, and in the many that are alike."""
    return compose(message, tuple(read_content(content_of(message))))


def think_columns(blocks: Sequence[Block], usage: Usage | None) -> dict[str, Any]:
    """Columns of `Think` that a message's blocks and its usage tell.

    Without usage every count is None; without thinking to be seen, a count tells whether there was any.
    """
    usage = usage or Usage()
    thoughts = [block for block in blocks if isinstance(block, Reasoning)]
    texts = [block.text for block in blocks if isinstance(block, Text)]
    return {
        "reasoning": "\n\n".join(block.text for block in thoughts if block.text) or None,
        "reasoning_visibility": visibility(thoughts, usage.reasoning_tokens),
        "text": "".join(texts),
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "cache_read_tokens": usage.cache_read_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
        "blocks": canonical_json(blocks_as_json(blocks)) if thoughts else None,
    }


def visibility(thoughts: Sequence[Reasoning], reasoning_tokens: int | None) -> ReasoningVisibility:
    """How much of the thinking is to be seen."""
    if any(block.text and not block.is_summary for block in thoughts):
        return "full"
    if any(block.text for block in thoughts):
        return "summary"
    if any(block.opaque or block.signature for block in thoughts):
        return "encrypted"
    if reasoning_tokens is None:
        return "unknown"
    return "count_only" if reasoning_tokens else "none"
