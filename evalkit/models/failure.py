"""Why did an endpoint not answer, and is it worth asking again?"""

from __future__ import annotations

import email.utils
import json
import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, cast

import httpx

from evalkit.errors import ModelError

Ending = Literal["context_length", "content_filter"]
RETRYABLE = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
_QUOTA = (
    "insufficient_quota",
    "billing_hard_limit_reached",
    "credit balance is too low",
    "insufficient credits",
)
"""A 429 or 402 that no waiting changes: the account is empty."""
_ENDINGS: Mapping[str, Ending] = {
    "ContextWindowExceededError": "context_length",
    "ContentPolicyViolationError": "content_filter",
}
"""litellm's classes for what every provider words differently."""
_HINTS = {
    400: "The endpoint does not take this request. Check the model's name and the settings.",
    401: "The endpoint does not take this API key. Check the variable, and whether it belongs to this endpoint.",
    402: "The account at this provider has no credit left.",
    403: "This API key may not use this model.",
    404: "The endpoint does not know this model, or --base-url leads to the wrong path.",
}


@dataclass(frozen=True, slots=True)
class Cause:
    """What is known about a failed call."""

    status: int | None
    """HTTP; None where no response came."""
    retryable: bool
    retry_after_s: float | None = None
    """What the endpoint asks to wait; None where it does not say."""
    maybe_billed: bool = False
    """It was cut off after the endpoint had begun to work."""
    ending: Ending | None = None
    """The refusal is how the conversation ends, and no failure of the endpoint."""


class EndpointFailure(ModelError):
    """One call failed. `cause` says whether it may be tried again."""

    def __init__(self, message: str, cause: Cause, *, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.cause = cause

    @property
    def status_code(self) -> int | None:
        """The HTTP status, under the name by which Inspect looks for it."""
        return self.cause.status


def judge_status(status: int, body: str, headers: Mapping[str, str], error: Exception) -> Cause:
    """What a response that is no success means for another attempt. `error` is what litellm made of it."""
    spent = any(sign in body.lower() for sign in _QUOTA)
    return Cause(
        status=status,
        retryable=status in RETRYABLE and not spent,
        retry_after_s=retry_after(headers),
        ending=_ENDINGS.get(type(error).__name__),
    )


def was_sent(error: BaseException) -> bool:
    """Whether a request without a response may have reached the endpoint: not where no connection was made."""
    return not any(isinstance(one, httpx.ConnectError | httpx.ConnectTimeout) for one in _chain(error))


def network_reason(error: BaseException) -> str | None:
    """What the network itself said, below what litellm makes of it; None where it said nothing."""
    said = [one for one in _chain(error) if isinstance(one, httpx.TransportError)]
    if not said:
        return None
    return str(said[-1]) or {"ReadTimeout": "nothing came for too long"}.get(type(said[-1]).__name__)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An error and what led to it."""
    seen: BaseException | None = error
    while seen is not None:
        yield seen
        seen = seen.__cause__ or seen.__context__


def hint_for(status: int | None) -> str | None:
    """What to do about a status that is an answer, not a passing trouble."""
    return None if status is None else _HINTS.get(status)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that `retry-after-ms` or `retry-after` (seconds or a date) ask to wait; None where they ask nothing."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None or value is None:
        return seconds
    try:
        until = email.utils.parsedate_to_datetime(value).timestamp()
    except (ValueError, OverflowError):
        return None
    return max(until - time.time(), 0.0)


def error_text(body: str) -> str:
    """The message inside an error response, whatever its shape; the beginning of the body where there is none."""
    try:
        found = _message(json.loads(body))
    except (ValueError, RecursionError):
        found = None
    return " ".join((found or body).split())[:500]


def _message(value: object) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return next(filter(None, map(_message, cast("list[object]", value)[:3])), None)
    if not isinstance(value, dict):
        return None
    fields = cast("dict[str, object]", value)
    inner = next(
        (_message(fields[name]) for name in ("error", "message", "detail", "msg") if fields.get(name)), None
    )
    return inner or None


def _number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None
