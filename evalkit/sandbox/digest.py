"""Did anything in the working directory change since the call before?"""

from __future__ import annotations

import hashlib
import os
import stat
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
    files that were made and removed (by their folder's times); misses late writes to memory-mapped pages, and
    restored times of what its owner may not read, as looking into it changes its ctime. `folder` may be opened by
    O_PATH.
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
    for visit in walk(folder, "", reopen=True):
        yield _line(visit.path, visit.stat)


def _line(path: str, status: os.stat_result) -> bytes:
    readable = 0o500 if stat.S_ISDIR(status.st_mode) else 0o400
    changed = status.st_ctime_ns if status.st_mode & readable == readable else 0
    numbers = (status.st_size, status.st_mtime_ns, changed, status.st_ino, status.st_mode, status.st_uid)
    return os.fsencode(path) + b"\0" + " ".join(map(str, numbers)).encode() + b"\n"
