"""How does a file appear whole, or not at all?"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Generator
from pathlib import Path

from evalkit.errors import UsageError
from evalkit.trajectory.layout import manifest_file

TEMPORARY = ".tmp"
"""How the names of unfinished files end. They also begin with a dot."""

NO_ROOM = {
    errno.ENOSPC: "Free some space on that disk",
    errno.EDQUOT: "Free some of your quota",
    errno.EFBIG: "Allow larger files there",
}
NOT_OURS = {
    errno.EROFS: "That place is read-only",
    errno.EACCES: "That place is not yours to write",
    errno.EPERM: "That place is not yours to write",
}


@contextlib.contextmanager
def writing(run: Path, *, verb: str = "resume") -> Generator[None, None, None]:
    """Turn a failure of the disk inside the block into one clear UsageError; `verb` is what goes on with it."""
    try:
        yield
    except OSError as error:
        raise not_written(run, error, verb=verb) from error


def not_written(run: Path, error: OSError, *, verb: str = "resume") -> UsageError:
    """What to say where the disk does not take a run."""
    # Some libraries put the system's word into a sentence of their own.
    reason = os.strerror(error.errno) if error.errno else str(error)
    return UsageError(
        f"cannot write the run: {reason}", where=str(run), hint=_hint(run, error.errno or 0, verb)
    )


def _hint(run: Path, number: int, verb: str) -> str:
    begun = manifest_file(run).is_file()
    if number in NO_ROOM:
        return f"{NO_ROOM[number]}, then {f'go on with: evalkit {verb} {run}' if begun else 'start the run again.'}"
    if number in NOT_OURS:
        do = (
            f"when it can be written again: evalkit {verb} {run}"
            if begun
            else "choose another one with --out."
        )
        return f"{NOT_OURS[number]}; {do}"
    return "Nothing was left half-written."


@contextlib.contextmanager
def replacing(target: Path) -> Generator[Path, None, None]:
    """A temporary path beside `target`: renamed to it when the block ends well, removed when it does not.

    The content is on the disk before the name is.
    """
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}{TEMPORARY}")
    try:
        yield temporary
        _sync(temporary)
        temporary.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def write_text(target: Path, text: str) -> None:
    """Replace a text file by a new one."""
    with replacing(target) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
