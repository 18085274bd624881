"""What does a text file say that somebody else wrote, and is it safe to read at all?"""

from __future__ import annotations

import stat
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from evalkit.errors import ConfigError

MAX_BYTES = 1024 * 1024
"""Files that people write by hand are far smaller; anything larger is a mistake or an attack."""


@contextmanager
def readable(path: Path) -> Generator[None]:
    """Turn what the file system refuses while `path` is looked at into one ConfigError."""
    try:
        yield
    except OSError as error:
        where = str(error.filename or path)
        raise ConfigError(f"this cannot be read: {error.strerror or error}", where=where) from None
    except RuntimeError as error:
        if not str(error).startswith("Symlink loop"):
            raise
        raise ConfigError("a link leads back to itself", where=str(path)) from None


def read_text(path: Path, *, hint: str | None = None) -> str:
    """The text of a regular UTF-8 file of at most `MAX_BYTES`, with newlines as `\\n`.

    Raises ConfigError where it is missing (with `hint`), no regular file, unreadable, too large or no UTF-8.
    """
    data = _read_bytes(path, hint)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(
            f"not UTF-8: byte 0x{data[error.start]:02x}",
            where=f"{path}:{line}",
            hint="Save the file as UTF-8.",
        ) from None
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def _read_bytes(path: Path, hint: str | None) -> bytes:
    where = str(path)
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        raise ConfigError("the file does not exist", where=where, hint=hint) from None
    except (OSError, ValueError) as error:
        raise ConfigError(f"the file cannot be read: {_why(error)}", where=where) from None
    if stat.S_ISDIR(status.st_mode):
        raise ConfigError("a file was expected, this is a folder", where=where)
    if not stat.S_ISREG(status.st_mode):
        raise ConfigError("a file was expected, this is a pipe, socket or device", where=where)
    if status.st_size > MAX_BYTES:
        raise ConfigError(
            f"the file is too large: {status.st_size:,} bytes, at most {MAX_BYTES:,} are read", where=where
        )
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(f"the file cannot be read: {_why(error)}", where=where) from None


def _why(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
