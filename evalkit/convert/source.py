"""What is in a file that somebody wants imported?"""

from __future__ import annotations

import codecs
import contextlib
import gzip
import os
import stat
import zlib
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from functools import cached_property
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, cast

from evalkit.convert.notes import Notes, Refused, Unreadable

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
        """The first 64 KiB, unpacked, and in UTF-8 where a mark says that they are in UTF-16 or UTF-32; less where the
        file is shorter or damaged. Refused for a Git LFS pointer, and where there is nothing before the damage.
        """
        head = bytearray()
        try:
            for piece in self._pieces(_HEAD):
                head += piece
                if len(head) >= _HEAD:
                    break
        except Refused:
            if not head:
                raise
        found = bytes(head[:_HEAD])
        if found.startswith(_LFS):
            raise Refused("a Git LFS pointer, not the file itself; get it with: git lfs pull")
        mark, encoding = _mark_of(found)
        if encoding == "utf-8":
            return found
        return codecs.getincrementaldecoder(encoding)("replace").decode(found[len(mark) :]).encode()

    @contextlib.contextmanager
    def open(self) -> Generator[BinaryIO]:
        """The bytes, unpacked."""
        try:
            raw = _opened(self.path)
        except (OSError, ValueError) as error:
            raise Unreadable(why_unreadable(error)) from error
        with raw:
            try:
                packed = raw.peek(2)[:2] == _GZIP
            except OSError as error:
                raise Unreadable(why_unreadable(error)) from error
            if packed:
                with gzip.GzipFile(fileobj=raw) as unpacked:
                    yield cast("BinaryIO", unpacked)
            else:
                yield raw

    def pieces(self, notes: Notes | None = None) -> Iterator[bytes]:
        """The bytes from the beginning, at most 1 MiB at a time, and all that come before a damage."""
        return self._pieces(_PIECE, notes)

    def _pieces(self, most: int, notes: Notes | None = None) -> Iterator[bytes]:
        some = False
        with self.open() as file:
            while True:
                try:
                    # Unlike read, this keeps what was there before a damage.
                    piece = cast("BufferedReader", file).read1(most)
                except gzip.BadGzipFile as error:
                    # The first is found at the beginning, and after a whole member.
                    if not some or not str(error).startswith("Not a gzipped file"):
                        raise Refused(_damage(error)) from error
                    if notes is not None:
                        notes.warn("what stands behind the end of the packed data is left out")
                    return
                except (EOFError, zlib.error) as error:
                    raise Refused(_damage(error)) from error
                except OSError as error:
                    raise Unreadable(why_unreadable(error)) from error
                if not piece:
                    return
                some = True
                yield piece

    def texts(self, notes: Notes) -> Iterator[str]:
        """The text from the beginning, in pieces. What is no text becomes U+FFFD and is remarked on."""
        decoder: codecs.IncrementalDecoder | None = None
        replaced = 0
        for piece in self.pieces(notes):
            skipped = 0
            if decoder is None:
                mark, encoding = _mark_of(piece)
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


def why_unreadable(error: Exception) -> str:
    """What kept a file or folder from being read, in words."""
    return f"cannot be read: {getattr(error, 'strerror', None) or error}"


def _opened(path: Path) -> BufferedReader:
    """A regular file. Refused for anything else, which is not even opened: a pipe would be waited for."""
    mode = path.stat().st_mode
    if stat.S_ISREG(mode):
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        if stat.S_ISREG(os.fstat(handle).st_mode):
            return os.fdopen(handle, "rb")
        os.close(handle)
    if stat.S_ISFIFO(mode):
        raise Refused(
            "a pipe, and files are read more than once: write what comes out of it into a file first"
        )
    raise Refused("a folder" if stat.S_ISDIR(mode) else "a device or socket, and no file")


def _mark_of(head: bytes) -> tuple[bytes, str]:
    """The mark of an encoding that a text begins with, and the encoding."""
    return next(((mark, encoding) for mark, encoding in _MARKS if head.startswith(mark)), (b"", "utf-8"))


def _damage(error: Exception) -> str:
    return f"damaged or cut off: {error}" if str(error) else "damaged or cut off"
