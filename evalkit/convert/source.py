"""What is in a file that somebody wants imported?"""

from __future__ import annotations

import codecs
import contextlib
import gzip
import zlib
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, cast

from evalkit.convert.notes import Notes, Refused

_GZIP = b"\x1f\x8b"
_LFS = b"version https://git-lfs.github.com/spec/"
_HEAD = 64 * 1024
_PIECE = 1 << 20
MOST_BYTES = 1 << 30
"""A file that has to be in memory whole may be as large as this, unpacked."""
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@dataclass(frozen=True)
class Source:
    """One file. Reading it raises Refused where it cannot be read, and unpacks what gzip has packed."""

    path: Path
    named: bool = False
    """Somebody named this very file, not a folder that holds it."""

    @property
    def name(self) -> str:
        """The file's own name, without `.gz`."""
        return self.path.name.removesuffix(".gz")

    @cached_property
    def head(self) -> bytes:
        """The first 64 KiB, unpacked; less where the file is shorter or damaged. Refused for a Git LFS pointer."""
        with self.open() as file:
            try:
                head = file.read(_HEAD)
            except (OSError, EOFError, zlib.error) as error:
                raise Refused(_damage(error)) from error
        if head.startswith(_LFS):
            raise Refused("a Git LFS pointer, not the file itself; get it with: git lfs pull")
        return head

    @contextlib.contextmanager
    def open(self) -> Generator[BinaryIO]:
        """The bytes, unpacked."""
        try:
            if not self.path.is_file():
                raise Refused("no file that can be read")
            raw = self.path.open("rb")
        except (OSError, ValueError) as error:
            raise Refused(f"cannot be read: {getattr(error, 'strerror', None) or error}") from error
        with raw:
            if raw.peek(2)[:2] == _GZIP:
                with gzip.GzipFile(fileobj=raw) as unpacked:
                    yield cast("BinaryIO", unpacked)
            else:
                yield raw

    def pieces(self) -> Iterator[bytes]:
        """The bytes from the beginning, at most 1 MiB at a time."""
        with self.open() as file:
            while True:
                try:
                    piece = file.read(_PIECE)
                except (OSError, EOFError, zlib.error) as error:
                    raise Refused(_damage(error)) from error
                if not piece:
                    return
                yield piece

    def texts(self, notes: Notes) -> Iterator[str]:
        """The text from the beginning, in pieces. What is no text becomes U+FFFD and is remarked on."""
        decoder: codecs.IncrementalDecoder | None = None
        replaced = 0
        for piece in self.pieces():
            skipped = 0
            if decoder is None:
                mark, encoding = next(((m, e) for m, e in _MARKS if piece.startswith(m)), (b"", "utf-8"))
                decoder, skipped = codecs.getincrementaldecoder(encoding)("replace"), len(mark)
            own = piece.count(b"\xef\xbf\xbd")
            text = decoder.decode(piece[skipped:])
            replaced += max(0, text.count("\ufffd") - own)
            if text:
                yield text
        if decoder is not None and (rest := decoder.decode(b"", final=True)):
            replaced += rest.count("\ufffd")
            yield rest
        notes.warn("characters that are no valid text became U+FFFD", replaced)

    def text(self, notes: Notes) -> str:
        """All of the text. Refused where it is more than 1 GiB."""
        parts: list[str] = []
        size = 0
        for part in self.texts(notes):
            size += len(part)
            if size > MOST_BYTES:
                raise Refused("larger than 1 GiB, which is the most that is read of one such file")
            parts.append(part)
        return "".join(parts)


def _damage(error: Exception) -> str:
    return f"damaged or cut off: {error}" if str(error) else "damaged or cut off"
