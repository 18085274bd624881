"""How do values get into a page, small and harmless?

As base64 of gzipped JSON, which a page opens with DecompressionStream: nothing in it can end a script or start one.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Iterator

BLOCK_BYTES = 500_000
"""About so long is a block of trials."""
_GZIP = 31


def compact_json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii")


def block(value: object) -> str:
    """One value as a block."""
    return next(blocks([(0, compact_json(value))], wrapped=False))[1]


def blocks(
    values: Iterable[tuple[int, bytes]], *, most_bytes: int = BLOCK_BYTES, wrapped: bool = True
) -> Iterator[tuple[list[int], str]]:
    """Blocks of about this size, each with the numbers of its values; `wrapped`, each holds a list of them.

    The same values make the same bytes.
    """
    open_block = _Block(wrapped=wrapped)
    for number, text in values:
        open_block.add(number, text)
        if open_block.size >= most_bytes:
            yield open_block.numbers, open_block.finish()
            open_block = _Block(wrapped=wrapped)
    if open_block.numbers:
        yield open_block.numbers, open_block.finish()


class _Block:
    def __init__(self, *, wrapped: bool) -> None:
        self.numbers: list[int] = []
        self._parts: list[bytes] = []
        self._compressed = 0
        self._wrapped = wrapped
        self._gzip = zlib.compressobj(9, zlib.DEFLATED, _GZIP)

    @property
    def size(self) -> int:
        """Of the base64, as far as it is known already."""
        return self._compressed * 4 // 3

    def add(self, number: int, text: bytes) -> None:
        if self._wrapped:
            self._put(self._gzip.compress(b"," if self.numbers else b"["))
        self._put(self._gzip.compress(text))
        self.numbers.append(number)

    def finish(self) -> str:
        if self._wrapped:
            self._put(self._gzip.compress(b"]"))
        self._put(self._gzip.flush())
        return base64.b64encode(b"".join(self._parts)).decode("ascii")

    def _put(self, part: bytes) -> None:
        self._parts.append(part)
        self._compressed += len(part)
