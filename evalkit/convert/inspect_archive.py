"""What is in a zip archive, when nobody promised that it is sound?

`zipfile` reads the directory only. Members are unpacked here, because zstd (method 93) is unknown to it before Python
3.14, and because no member may take more memory than is allowed, whatever the directory says of its size.
"""

from __future__ import annotations

import io
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from typing import BinaryIO, cast

from evalkit.convert.notes import Notes, Refused
from evalkit.convert.source import Source

MOST_MEMBER_BYTES = 1 << 30
"""A member may be as large as this, packed and unpacked."""
_MOST_DIRECTORY_BYTES = 32 << 20
"""Some 300,000 members."""
_MOST_UNPACKED_ARCHIVE = 1 << 33
"""An archive that gzip has packed once more may be as large as this."""
_BEGIN = b"PK\x03\x04"
_LOCAL = struct.Struct("<4s22xHH")
_PIECE = 1 << 20
_ENCRYPTED = 1
_STORED, _DEFLATED, _ZSTD = 0, 8, 93


class Archive:
    """The members of one archive. Their names are keys, and never paths."""

    def __init__(self, file: BinaryIO, notes: Notes) -> None:
        self._file = file
        infos = _directory(file)
        self._members = {info.filename: info for info in infos}
        repeated = len(infos) - len(self._members)
        notes.warn("members of the archive that have the same name: the last counts", repeated)

    def __contains__(self, name: object) -> bool:
        return name in self._members

    def names(self) -> list[str]:
        """In the order of the directory."""
        return list(self._members)

    def read(self, name: str) -> bytes:
        """One member, unpacked. Refused where it is damaged, or larger than 1 GiB."""
        info = self._members[name]
        if info.flag_bits & _ENCRYPTED:
            raise Refused(f"{name} is encrypted")
        if max(info.file_size, info.compress_size) > MOST_MEMBER_BYTES:
            raise Refused(f"{name} is larger than 1 GiB, which is the most that is read of one member")
        try:
            data = _unpacked(self._packed(info), info)
        except (OSError, zlib.error, EOFError, ValueError, OverflowError) as error:
            raise Refused(f"{name} is damaged: {error}") from error
        if len(data) > info.file_size:
            raise Refused(f"{name} is larger than the archive says")
        if len(data) < info.file_size or zlib.crc32(data) != info.CRC:
            raise Refused(f"{name} is damaged: it is not what was packed")
        return data

    def _packed(self, info: zipfile.ZipInfo) -> bytes:
        self._file.seek(info.header_offset)
        header = self._file.read(_LOCAL.size)
        if len(header) < _LOCAL.size or not header.startswith(_BEGIN):
            raise Refused(f"{info.filename} is damaged: it is not where the archive says")
        _, name, extra = _LOCAL.unpack(header)
        self._file.seek(name + extra, io.SEEK_CUR)
        data = self._file.read(info.compress_size)
        if len(data) < info.compress_size:
            raise Refused(f"{info.filename} is cut off")
        return data


@contextmanager
def open_archive(source: Source, notes: Notes) -> Generator[Archive]:
    """The archive in a file, also where gzip has packed it once more. Refused for what is none."""
    with source.open() as file:
        if isinstance(getattr(file, "raw", None), io.FileIO):
            yield Archive(file, notes)
            return
    with tempfile.TemporaryFile() as copy:
        for piece in source.pieces():
            copy.write(piece)
            if copy.tell() > _MOST_UNPACKED_ARCHIVE:
                raise Refused("larger than 8 GiB, which is the most that is unpacked of an archive in gzip")
        copy.seek(0)
        yield Archive(cast("BinaryIO", copy), notes)


def is_archive(head: bytes) -> bool:
    """Whether a file that begins so is, or was, a zip archive with something in it."""
    return head.startswith(_BEGIN)


def _directory(file: BinaryIO) -> list[zipfile.ZipInfo]:
    try:
        with zipfile.ZipFile(cast("BinaryIO", _Sparing(file))) as directory:
            return directory.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, EOFError, struct.error, NotImplementedError) as error:
        file.seek(0)
        if file.read(len(_BEGIN)) == _BEGIN:
            why = "truncated or damaged: a zip archive without a directory that can be read at its end"
        else:
            why = "no zip archive"
        raise Refused(why) from error


def _unpacked(packed: bytes, info: zipfile.ZipInfo) -> bytes:
    """At most one byte more than the directory says, so that more shows."""
    most = info.file_size + 1
    if info.compress_type == _STORED:
        return packed[:most]
    if info.compress_type == _DEFLATED:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, most)
    if info.compress_type == _ZSTD:
        return _from_zstd(packed, most)
    raise Refused(f"{info.filename} is packed with the method {info.compress_type}, which is not known here")


def _from_zstd(packed: bytes, most: int) -> bytes:
    import zstandard

    parts: list[bytes] = []
    left = most
    try:
        with zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True) as reader:
            while left > 0 and (part := reader.read(min(left, _PIECE))):
                parts.append(part)
                left -= len(part)
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from error
    return b"".join(parts)


class _Sparing:
    """A file of which no more is read at once than a directory may be large."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def read(self, size: int = -1) -> bytes:
        """Up to so many bytes."""
        if size > _MOST_DIRECTORY_BYTES:
            raise Refused("has a directory of more than 32 MiB, which is the most that is read")
        return self._file.read(size if size >= 0 else _MOST_DIRECTORY_BYTES)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place."""
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        """The place."""
        return self._file.tell()

    def seekable(self) -> bool:
        """Always."""
        return True
