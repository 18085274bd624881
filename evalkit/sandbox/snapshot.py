"""What does a sandbox's file system hold, seen from outside?"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Callable

from evalkit.errors import SandboxError
from evalkit.sandbox.protocol import Entry, EntryKind
from evalkit.sandbox.walk import Skip, TreeChanged, Visit, identity, walk

HASHED_BYTES = 256 * 1024 * 1024
"""Larger files are listed with their size and without a digest."""
HOLLOW_BYTES = 1024**3
"""Of sparse files, as many bytes that nobody wrote are hashed in one snapshot: they take time and no room."""
MAX_ENTRIES = 1_000_000
_SMALL_HOLE = 1024 * 1024
_CHUNK = 1024 * 1024


def snapshot(
    folder: int, owner_of: Callable[[int], int], *, path: str = "", skip: Skip | None = None
) -> dict[str, Entry]:
    """Every path below an open folder, which stands for `path`. `owner_of` maps a host user to the one seen
    inside. What is below folders that `skip` says so of is left out.

    A folder whose path is longer than any program can open is listed, and what is below it is not.
    A file that goes away while it is read is left out. Raises SandboxError where there are more than `MAX_ENTRIES`
    paths, or the tree keeps changing.
    """
    for _ in range(3):
        entries: dict[str, Entry] = {}
        hashing = _Hashing()
        with contextlib.suppress(TreeChanged):
            for visit in walk(folder, path, reopen=True, skip=skip):
                if len(entries) >= MAX_ENTRIES:
                    raise SandboxError(f"the sandbox holds more than {MAX_ENTRIES} files")
                with contextlib.suppress(FileNotFoundError):
                    entries[visit.path] = _entry(visit, owner_of, hashing)
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

    Never follows a link, never waits at a fifo, and where that is allowed does not count as reading it. Raises OSError.
    """
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with contextlib.suppress(PermissionError):  # of a file of another owner
        return os.open(name, flags | os.O_NOATIME, dir_fd=folder)
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


class _Hashing:
    """Digests of contents, in bounded time: a sandbox may hold far more to read than it has room for."""

    def __init__(self) -> None:
        self._linked: dict[tuple[int, int], str | None] = {}
        self._hollow = HOLLOW_BYTES

    def digest(self, visit: Visit) -> str | None:
        """A regular file's; None above `HASHED_BYTES`, where it cannot be read, or too much else is hollow."""
        status = visit.stat
        if status.st_size > HASHED_BYTES:
            return None
        if status.st_nlink > 1 and identity(status) in self._linked:
            return self._linked[identity(status)]
        hollow = max(0, status.st_size - status.st_blocks * 512 - _SMALL_HOLE)
        digest = _sha256(visit.folder, visit.name) if hollow <= self._hollow else None
        self._hollow -= hollow if digest is not None else 0
        if status.st_nlink > 1:
            self._linked[identity(status)] = digest
        return digest


def _entry(visit: Visit, owner_of: Callable[[int], int], hashing: _Hashing) -> Entry:
    status = visit.stat
    kind = kind_of(status.st_mode)
    digest = target = None
    try:
        if kind == "link":
            target = os.readlink(visit.name, dir_fd=visit.folder)
        elif kind == "file":
            digest = hashing.digest(visit)
    except FileNotFoundError:
        raise
    except OSError:  # replaced meanwhile, or not to be read
        pass
    size = status.st_size if kind == "file" else 0
    return Entry(kind, stat.S_IMODE(status.st_mode), owner_of(status.st_uid), size, digest, target)


def _sha256(folder: int, name: str) -> str | None:
    digest = hashlib.sha256()
    source = open_file(folder, name)
    try:
        if not stat.S_ISREG(os.fstat(source).st_mode):
            return None
        left = HASHED_BYTES
        while left > 0 and (chunk := os.read(source, _CHUNK)):
            digest.update(chunk)
            left -= len(chunk)
    finally:
        os.close(source)
    return digest.hexdigest()
