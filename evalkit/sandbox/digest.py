"""Did anything in the working directory change since the call before?"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass

from evalkit.sandbox.walk import TreeChanged, identity, walk

MAX_ENTRIES = 20_000
"""Above this, listing would cost more than a call; the digest is not measured."""

MISSING = hashlib.sha256(b"missing").hexdigest()
"""Digest of a working directory that is not there."""


@dataclass(frozen=True, slots=True)
class Signatures:
    """Of everything below one folder, by path below it, where the folder itself is called the empty string."""

    folder: tuple[int, int]
    """Its identity."""
    by_path: Mapping[str, str]


def workspace_digest(folder: int) -> str | None:
    """Digest of the `signatures` below an open folder; None where they cannot be told."""
    found = signatures(folder)
    return None if found is None else digest_of(found)


def signatures(folder: int, *, known: Signatures | None = None) -> Signatures | None:
    """Size, mtime, ctime, inode, mode and owner of everything below an open folder, by path.

    None above `MAX_ENTRIES`, or where the tree would not hold still. Sees restored times (by ctime) and
    files that were made and removed (by their folder's times); misses late writes to memory-mapped pages, and
    restored times of what its owner may not read, as looking into it changes its ctime. `folder` may be opened by
    O_PATH. A folder below that is `known` is not walked again.
    """

    def is_known(status: os.stat_result) -> bool:
        return known is not None and identity(status) == known.folder

    for _ in range(3):
        status = os.fstat(folder)
        found = {"": _signature(status)}
        try:
            for visit in walk(folder, "", reopen=True, skip=is_known):
                if known is not None and is_known(visit.stat):
                    found.update((visit.path + path, one) for path, one in known.by_path.items())
                else:
                    found[visit.path] = _signature(visit.stat)
                if len(found) > MAX_ENTRIES:
                    return None
        except TreeChanged:
            continue
        return Signatures(identity(status), found)
    return None


def digest_of(found: Signatures) -> str:
    """One digest for all signatures."""
    digest = hashlib.sha256()
    for path, signature in found.by_path.items():
        digest.update(os.fsencode(path) + b"\0" + signature.encode() + b"\n")
    return digest.hexdigest()


def _signature(status: os.stat_result) -> str:
    readable = 0o500 if stat.S_ISDIR(status.st_mode) else 0o400
    changed = status.st_ctime_ns if status.st_mode & readable == readable else 0
    return f"{status.st_size} {status.st_mtime_ns} {changed} {status.st_ino} {status.st_mode} {status.st_uid}"
