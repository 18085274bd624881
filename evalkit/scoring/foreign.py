"""How is code run that is not ours, and what can be told of what it does?"""

from __future__ import annotations

import contextlib
import sys
import traceback
from collections.abc import Generator

from evalkit.errors import ConfigError

_LONGEST = 500
"""Characters of what is told."""


@contextlib.contextmanager
def quiet() -> Generator[None]:
    """What is printed in the block goes to standard error: standard output is for results."""
    with contextlib.redirect_stdout(sys.stderr):
        yield


@contextlib.contextmanager
def loading(source: str, problem: str, *, file: str | None = None, hint: str) -> Generator[None]:
    """Run code that declares something. Whatever it raises, apart from an interrupt, is a ConfigError that names the
    source, and the line where it came about in `file`."""
    try:
        with quiet():
            yield
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        where = f"{source}{_line(error, file)}" if file is not None else source
        raise ConfigError(f"{problem}: {error_text(error)}", where=where, hint=hint) from error


def error_text(error: BaseException) -> str:
    """Kind and message, also of an error that cannot tell its message."""
    kind = type(error).__name__
    try:
        said = str(error)
    except Exception as another:  # noqa: BLE001  it is the user's code
        return f"{kind}, whose message cannot be told ({type(another).__name__})"
    return f"{kind}: {_short(said)}" if said else kind


def value_text(value: object) -> str:
    """The value as code, also of one that cannot tell itself."""
    try:
        return _short(repr(value))
    except Exception:  # noqa: BLE001  it is the user's code
        return f"an object of {type(value).__name__}"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _line(error: BaseException, file: str) -> str:
    if isinstance(error, SyntaxError) and error.filename == file:
        return f":{error.lineno}" if error.lineno else ""
    lines = [
        line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == file
    ]
    return f":{lines[-1]}" if lines else ""
