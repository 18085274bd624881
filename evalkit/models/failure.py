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
from evalkit.models.reading import Reading

Ending = Literal["context_length", "content_filter"]
_PASSING = frozenset({408, 409, 425, 429})
_LASTING = frozenset({501, 505})
"""Of the server's errors, those that say what it never does."""
LONGEST_WAIT_S = 600.0
"""An endpoint that asks to wait longer is not asked again."""
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

    def __init__(
        self, message: str, cause: Cause, *, hint: str | None = None, reading: Reading | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.cause = cause
        self.reading = reading
        """What could be read of an answer that is none, such as what it says that it has used."""

    @property
    def status_code(self) -> int | None:
        """The HTTP status, under the name by which Inspect looks for it."""
        return self.cause.status


class SentDiffers(EndpointFailure):
    """Another level of thinking went out than was asked for. So will it with every further call."""

    def __init__(self, name: str, *, sent: str, asked: str, status: int | None, hint: str) -> None:
        super().__init__(
            f"{name}: the thinking budget that was sent differs from the one asked for: {sent[:200]} instead of "
            f"{asked}",
            Cause(status, retryable=False, maybe_billed=status is not None),
            hint=hint,
        )
        self.sent = sent


def judge_status(status: int, body: str, headers: Mapping[str, str], error: Exception | None) -> Cause:
    """What a response that is no success means for another attempt. `error` is what litellm made of it."""
    asked = retry_after(headers)
    spent = any(sign in body.lower() for sign in _QUOTA)
    return Cause(
        status=status,
        retryable=is_passing(status) and not spent and (asked is None or asked <= LONGEST_WAIT_S),
        retry_after_s=asked,
        ending=_ENDINGS.get(type(error).__name__),
    )


def is_passing(status: int) -> bool:
    """Whether a status is about the moment, so that the same request may be answered later."""
    return status in _PASSING or (500 <= status < 600 and status not in _LASTING)


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


def hint_for(cause: Cause) -> str | None:
    """What to do about a refusal; None for a passing trouble, which another attempt may not meet."""
    if cause.retry_after_s is not None and cause.retry_after_s > LONGEST_WAIT_S:
        return f"It asks to wait {cause.retry_after_s:,.0f} s; evalkit waits {LONGEST_WAIT_S:g} s at most."
    if cause.status is None or cause.retryable:
        return None
    return _HINTS.get(cause.status, "The endpoint does not take this request, or it is none of a model.")


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
