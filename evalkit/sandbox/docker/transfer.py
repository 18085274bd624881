"""How do files travel between the host and a container, without ever being extracted on the host?

The engine speaks in tar streams, and the trees that they describe are hostile. A stream is read entry by entry;
names are joined to the path that was asked for, and nothing is opened by them.
"""

from __future__ import annotations

import io
import posixpath
import stat
import tarfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import IO

from evalkit.errors import SandboxError
from evalkit.sandbox.protocol import EntryKind

_KINDS: Mapping[bytes, EntryKind] = {
    tarfile.REGTYPE: "file",
    tarfile.AREGTYPE: "file",
    tarfile.CONTTYPE: "file",
    tarfile.DIRTYPE: "dir",
    tarfile.SYMTYPE: "link",
    tarfile.FIFOTYPE: "fifo",
    tarfile.CHRTYPE: "device",
    tarfile.BLKTYPE: "device",
}
_CHUNK = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Member:
    """One entry of a tar stream. `path` is absolute, inside."""

    path: str
    kind: EntryKind
    mode: int
    owner: int
    size: int
    target: str | None
    same_as: str | None
    """The path, inside, that this one is a hard link to; it came earlier in the stream."""
    content: IO[bytes] | None
    """A regular file's bytes; to be read before the next entry is asked for."""


class Download:
    """One tar stream that the engine sends."""

    def __init__(self, source: IO[bytes], path: str) -> None:
        self._source = source
        self._parent = posixpath.dirname(path.rstrip("/")) or "/"
        self._whole = path.strip("/") == ""

    def __iter__(self) -> Iterator[Member]:
        try:
            with tarfile.open(
                fileobj=self._source, mode="r|", encoding="utf-8", errors="surrogateescape", bufsize=_CHUNK
            ) as tar:
                for info in tar:
                    yield self._member(tar, info)
                    _forget(tar)
        except (tarfile.TarError, EOFError) as error:
            raise SandboxError(f"the engine sent a broken archive: {error}") from error

    def _member(self, tar: tarfile.TarFile, info: tarfile.TarInfo) -> Member:
        same_as = self._path(info.linkname) if info.islnk() else None
        kind = "file" if info.islnk() else _KINDS.get(info.type, "device")
        content = tar.extractfile(info) if info.isreg() else None
        return Member(
            path=self._path(info.name),
            kind=kind,
            mode=info.mode & 0o7777,
            owner=info.uid,
            size=info.size if info.isreg() else 0,
            target=info.linkname if info.issym() else None,
            same_as=same_as,
            content=content,
        )

    def _path(self, name: str) -> str:
        parts = [part for part in name.split("/") if part not in {"", "."}]
        if ".." in parts:
            raise SandboxError("the engine sent an archive with a path that climbs", where=repr(name))
        below = "/".join(parts)
        return f"/{below}" if self._whole else posixpath.join(self._parent, below).rstrip("/")


@dataclass(frozen=True, slots=True)
class Owner:
    """Numbers of a user and group inside."""

    uid: int = 0
    gid: int = 0


class Upload:
    """A tar file that is being made for a container, in memory or in an open file."""

    def __init__(self, out: IO[bytes] | None = None) -> None:
        self._out = out or io.BytesIO()
        self._tar = tarfile.open(  # noqa: SIM115  -- closed by `finished`
            fileobj=self._out, mode="w", format=tarfile.GNU_FORMAT, encoding="utf-8", errors="surrogateescape"
        )

    def folder(self, name: str, mode: int, owner: Owner) -> None:
        """Add a folder. `name` is relative to where the archive is unpacked."""
        self._add(name, tarfile.DIRTYPE, mode, owner)

    def link(self, name: str, target: str, owner: Owner) -> None:
        """Add a symbolic link."""
        info = _info(name, tarfile.SYMTYPE, 0o777, owner)
        info.linkname = target
        self._tar.addfile(info)

    def file(self, name: str, mode: int, owner: Owner, size: int, content: IO[bytes]) -> None:
        """Add a regular file of exactly `size` bytes. Raises OSError where `content` ends before."""
        info = _info(name, tarfile.REGTYPE, mode, owner)
        info.size = size
        self._tar.addfile(info, content)

    def data(self, name: str, mode: int, owner: Owner, content: bytes) -> None:
        """Add a regular file."""
        self.file(name, mode, owner, len(content), io.BytesIO(content))

    def finished(self) -> IO[bytes]:
        """The whole archive, ready to be read."""
        self._tar.close()
        self._out.seek(0)
        return self._out

    def _add(self, name: str, kind: bytes, mode: int, owner: Owner) -> None:
        self._tar.addfile(_info(name, kind, mode, owner))


def _forget(tar: tarfile.TarFile) -> None:
    """A stream is read once; tarfile would keep a record of every entry."""
    members: list[tarfile.TarInfo] = getattr(tar, "members", [])
    members.clear()


def _info(name: str, kind: bytes, mode: int, owner: Owner) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name.strip("/"))
    info.type = kind
    info.mode = stat.S_IMODE(mode)
    info.mtime = int(time.time())
    info.uid, info.gid = owner.uid, owner.gid
    return info
