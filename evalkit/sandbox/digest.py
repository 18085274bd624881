"""Did anything in the working directory change since the call before?"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator

from evalkit.sandbox.walk import TreeChanged, walk

MAX_ENTRIES = 20_000
"""Above this, listing would cost more than a call; the digest is not measured."""

MISSING = hashlib.sha256(b"missing").hexdigest()
"""Digest of a working directory that is not there."""


def workspace_digest(folder: int) -> str | None:
    """Digest of a stat listing (name, size, mtime, ctime, inode, mode, owner) of everything below an open
    folder.

    None above `MAX_ENTRIES`, or where the tree would not hold still. Sees restored times (by ctime) and
    files that were made and removed (by their folder's times); misses late writes to memory-mapped pages.
    """
    for _ in range(3):
        digest = hashlib.sha256()
        try:
            for number, line in enumerate(_lines(folder)):
                if number >= MAX_ENTRIES:
                    return None
                digest.update(line)
        except TreeChanged:
            continue
        return digest.hexdigest()
    return None


def _lines(folder: int) -> Iterator[bytes]:
    yield _line("", os.fstat(folder))
    for visit in walk(folder, ""):
        yield _line(visit.path, visit.stat)


def _line(path: str, status: os.stat_result) -> bytes:
    numbers = (
        status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_mode, status.st_uid,
    )  # fmt: skip
    return os.fsencode(path) + b"\0" + " ".join(map(str, numbers)).encode() + b"\n"
