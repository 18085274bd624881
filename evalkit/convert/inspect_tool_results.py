"""What came of a call, as an Inspect log tells it?"""

from __future__ import annotations

from collections.abc import Mapping

from evalkit.convert.inspect_message import said_in
from evalkit.convert.inspect_refs import Attachments
from evalkit.trajectory.inspect_words import ERROR_KINDS
from evalkit.trajectory.step import ErrorKind


def error_kind(error: Mapping[str, object]) -> ErrorKind | None:
    """The kind of an error; None where there is none."""
    return ERROR_KINDS.get(str(error.get("type")), "unknown") if error else None


def observation(result: object, error: Mapping[str, object], texts: Attachments) -> str:
    """What the model was shown: the result, and the error's message where it is not in it."""
    text = said_in(result, texts)
    message = texts.text(error.get("message")) or ""
    if not text or not message or message in text:
        return text or message
    return f"{text}\n{message}"
