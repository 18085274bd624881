"""How are the blocks of an answer told as JSON, in the order in which they were made?"""

from __future__ import annotations

from collections.abc import Iterable

from evalkit.models.reading import Block, Call, Reasoning, Text


def blocks_as_json(blocks: Iterable[Block]) -> list[dict[str, object]]:
    """Reasoning with its signature, text, and the place of each call; of other blocks their type."""
    told: list[dict[str, object]] = []
    calls = 0
    for block in blocks:
        if isinstance(block, Reasoning):
            told.append(
                {
                    "type": "reasoning",
                    "reasoning": block.text,
                    "is_summary": block.is_summary,
                    "signature": block.signature,
                    "opaque": block.opaque,
                }
            )
        elif isinstance(block, Text):
            told.append({"type": "text", "text": block.text, "signature": block.signature})
        elif isinstance(block, Call):
            told.append(
                {"type": "tool_call", "call_index": calls, "id": block.id, "signature": block.signature}
            )
            calls += 1
        else:
            told.append({"type": block.type})
    return told
