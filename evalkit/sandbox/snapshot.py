"""What does a sandbox's file system hold, seen from outside?"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Callable

from evalkit.errors import SandboxError
from evalkit.sandbox.protocol import Entry, EntryKind
from evalkit.sandbox.walk import TreeChanged, Visit, walk

HASHED_BYTES = 256 * 1024 * 1024
"""Larger files are listed with their size and without a digest."""
MAX_ENTRIES = 1_000_000
_CHUNK = 1024 * 1024


def snapshot(folder: int, owner_of: Callable[[int], int]) -> dict[str, Entry]:
    """Every path below an open folder, which stands for `/`. `owner_of` maps a host user to the one seen
    inside.

    A folder whose path is longer than any program can open is listed, and what is below it is not.
    Raises SandboxError where there are more than `MAX_ENTRIES` paths, or the tree keeps changing.
    """
    for _ in range(3):
        entries: dict[str, Entry] = {}
        with contextlib.suppress(TreeChanged):
            for visit in walk(folder, "", reopen=True):
                if len(entries) >= MAX_ENTRIES:
                    raise SandboxError(f"the sandbox holds more than {MAX_ENTRIES} files")
                entries[visit.path] = _entry(visit, owner_of)
            return entries
    raise SandboxError(
        "the sandbox's files keep moving while they are listed", hint="Halt the sandbox first."
    )


def kind_of(mode: int) -> EntryKind:
    """What a mode says a path is."""
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "dir"
    if stat.S_ISLNK(mode):
        return "link"
    if stat.S_ISFIFO(mode):
        return "fifo"
    return "socket" if stat.S_ISSOCK(mode) else "device"


def open_file(folder: int, name: str) -> int:
    """Open a regular file in an open folder for reading, also where its mode forbids that to its owner.

    Never follows a link, never waits at a fifo. Raises OSError.
    """
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        return os.open(name, flags, dir_fd=folder)
    except PermissionError:
        handle = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        mode = os.fstat(handle).st_mode
        if not stat.S_ISREG(mode):
            raise PermissionError(name)
        by_descriptor = f"/proc/self/fd/{handle}"
        os.chmod(by_descriptor, 0o400)  # noqa: PTH101  -- by descriptor, so that no link is followed
        try:
            return os.open(name, flags, dir_fd=folder)
        finally:
            os.chmod(by_descriptor, stat.S_IMODE(mode))  # noqa: PTH101
    finally:
        os.close(handle)


def _entry(visit: Visit, owner_of: Callable[[int], int]) -> Entry:
    status = visit.stat
    kind = kind_of(status.st_mode)
    digest = target = None
    size = status.st_size if kind == "file" else 0
    with contextlib.suppress(OSError):
        if kind == "link":
            target = os.readlink(visit.name, dir_fd=visit.folder)
        elif kind == "file" and size <= HASHED_BYTES:
            digest = _sha256(visit.folder, visit.name)
    return Entry(kind, stat.S_IMODE(status.st_mode), owner_of(status.st_uid), size, digest, target)


def _sha256(folder: int, name: str) -> str | None:
    digest = hashlib.sha256()
    with os.fdopen(open_file(folder, name), "rb", buffering=0) as source:
        if not stat.S_ISREG(os.fstat(source.fileno()).st_mode):
            return None
        left = HASHED_BYTES
        while left > 0 and (chunk := source.read(_CHUNK)):
            digest.update(chunk)
            left -= len(chunk)
    return digest.hexdigest()
