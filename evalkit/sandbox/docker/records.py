"""When was an image last used, who is making it, and which layers has that left on the engine?

One small file per image in the user's scratch folder. Its lock is shared by who looks for the image, and held alone by
who makes it or clears it away; its time is that of the last use. Both are gone from a process that is killed.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import stat
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from evalkit.errors import SandboxError
from evalkit.sandbox.docker.wish import Abandoned
from evalkit.sandbox.local.scratch import SCRATCH_HINT, base_folder

_PREFIX, _SUFFIX = "image-", ".lock"
_LONGEST = 256 * 1024
_RETRY_S = 0.1
MAX_LAYERS = 1000


@dataclass(frozen=True, slots=True)
class Layers:
    """Ids that a build named as its layers. It began at `since`, in ISO 8601 by the engine's clock."""

    since: str
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Record:
    """One image's file, open and locked."""

    name: str
    handle: int

    def touch(self) -> None:
        """Say that the image is used now."""
        os.utime(self.handle)

    def age_s(self) -> float:
        """Seconds since the last use, by the machine's clock; below 0 where that was set back."""
        return time.time() - os.fstat(self.handle).st_mtime

    def add(self, layers: Layers) -> None:
        """Note what a build has left."""
        if layers.ids:
            noted = [*self.layers(), layers][-8:]
            data = json.dumps([{"since": one.since, "ids": one.ids} for one in noted]).encode()
            os.ftruncate(self.handle, 0)
            os.pwrite(self.handle, data, 0)

    def layers(self) -> tuple[Layers, ...]:
        """What was noted; nothing where that cannot be read."""
        try:
            noted = json.loads(os.pread(self.handle, _LONGEST, 0))
            return tuple(Layers(str(one["since"]), tuple(map(str, one["ids"]))) for one in noted)
        except (ValueError, KeyError, TypeError):
            return ()

    def drop(self) -> None:
        """Remove the file."""
        _path(self.name).unlink(missing_ok=True)


@contextlib.contextmanager
def shared(name: str) -> Generator[Record | None]:
    """The record, for a look at the image; None while somebody makes it or clears it away."""
    handle = _locked(name, fcntl.LOCK_SH)
    if handle is None:
        yield None
        return
    try:
        yield Record(name, handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def alone(name: str, given_up: Callable[[], bool]) -> Generator[Record]:
    """The record, for making the image: everybody else of this user waits. Raises Abandoned."""
    while (handle := _locked(name, fcntl.LOCK_EX)) is None:
        if given_up():
            raise Abandoned
        time.sleep(_RETRY_S)
    try:
        yield Record(name, handle)
    finally:
        os.close(handle)


def idle() -> Iterator[Record]:
    """All records that nobody holds, one after another; each is held while it is looked at."""
    base = base_folder()
    if not base.is_dir():
        return
    _check(base)
    for path in sorted(base.glob(f"{_PREFIX}*{_SUFFIX}")):
        name = path.name.removeprefix(_PREFIX).removesuffix(_SUFFIX)
        handle = _locked(name, fcntl.LOCK_EX)
        if handle is not None:
            try:
                yield Record(name, handle)
            finally:
                os.close(handle)


def is_known(name: str) -> bool:
    """Whether there is a record."""
    return _path(name).exists()


def _path(name: str) -> Path:
    return base_folder() / f"{_PREFIX}{name}{_SUFFIX}"


def _locked(name: str, how: int) -> int | None:
    """The open and locked file; None where somebody else holds it."""
    path = _path(name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o711)
        _check(path.parent)
        while True:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            try:
                fcntl.flock(handle, how | fcntl.LOCK_NB)
                if _is_still(path, handle):
                    return handle
            except BaseException as error:
                os.close(handle)
                if isinstance(error, BlockingIOError):
                    return None
                raise
            os.close(handle)
    except OSError as error:
        raise SandboxError(
            f"no record of the image can be kept: {error.strerror}", where=str(path), hint=SCRATCH_HINT
        ) from error


def _is_still(path: Path, handle: int) -> bool:
    """Whether the file was not cleared away between opening and locking it."""
    try:
        return os.path.samestat(path.lstat(), os.fstat(handle))
    except FileNotFoundError:
        return False


def _check(base: Path) -> None:
    status = base.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        raise SandboxError(
            f"{base} belongs to somebody else", hint="Set EVALKIT_SCRATCH to a folder of your own."
        )


def newest_first(layers: Sequence[Layers]) -> list[tuple[str, str]]:
    """Every layer once, the newest first, with when its build began."""
    return list({one: layer.since for layer in reversed(layers) for one in reversed(layer.ids)}.items())
