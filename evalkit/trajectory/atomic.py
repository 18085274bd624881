"""How does a file appear whole, or not at all?"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Generator
from pathlib import Path

from evalkit.errors import UsageError

TEMPORARY = ".tmp"
"""How the names of unfinished files end. They also begin with a dot."""

_HINTS = {
    errno.ENOSPC: "Free some space on that disk, then: evalkit resume {run}",
    errno.EDQUOT: "Free some of your quota, then: evalkit resume {run}",
    errno.EROFS: "That place is read-only; choose another one with --out.",
    errno.EACCES: "That place is not yours to write; choose another one with --out.",
    errno.EPERM: "That place is not yours to write; choose another one with --out.",
}


@contextlib.contextmanager
def writing(run: Path) -> Generator[None, None, None]:
    """Turn a failure of the disk inside the block into one clear UsageError."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        hint = _HINTS.get(error.errno or 0, "Nothing was left half-written.").format(run=run)
        raise UsageError(f"cannot write the run: {reason}", where=str(run), hint=hint) from error


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
