"""Which pieces of a stream belong to one block?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from evalkit.models.reading import Block, Reasoning, Text


def thinking_in(blocks: Iterable[Block]) -> bool:
    """Whether any thinking came back, readable or not."""
    return any(
        isinstance(block, Reasoning) and bool(block.text or block.opaque or block.signature)
        for block in blocks
    )


def join_pieces(pieces: Sequence[Block]) -> tuple[Block, ...]:
    """Neighbours of one kind as one block. A piece with a signature stands alone: it proves that piece only."""
    keyed = [(_kind(piece) or str(place), piece) for place, piece in enumerate(pieces)]
    return tuple(_join([piece for _, piece in run]) for _, run in groupby(keyed, key=lambda pair: pair[0]))


def _kind(piece: Block) -> str | None:
    """What a piece may be joined with; None for a piece that stands alone."""
    if isinstance(piece, Text) and piece.signature is None:
        return "text"
    if isinstance(piece, Reasoning) and piece.signature is None and piece.opaque is None:
        return "summary" if piece.is_summary else "reasoning"
    return None


def _join(run: Sequence[Block]) -> Block:
    first = run[0]
    if len(run) == 1:
        return first
    said = "".join(piece.text or "" for piece in run if isinstance(piece, (Text, Reasoning)))
    return (
        Reasoning(text=said, is_summary=first.is_summary) if isinstance(first, Reasoning) else Text(text=said)
    )
