"""Why did a call come to nothing? Said in words, with what is known of its cost, and whether to ask again."""

from __future__ import annotations

import re

from evalkit.models.failure import (
    Cause,
    EndpointFailure,
    error_text,
    hint_for,
    judge_status,
    network_reason,
    was_sent,
)
from evalkit.models.reading import Reading
from evalkit.models.wiretap import LONGEST_ANSWER, Exchange

_NOISE = (
    "Traceback (most recent call last)",
    "This looks like a bug in LiteLLM",
    "File an issue if litellm error",
    "Got=",
    "Received: ",
    "To drop these",
    "To drop unsupported",
)
"""What litellm adds to its messages: its own insides, or the whole response."""
_PREFIX = re.compile(r"^(?:(?:litellm\.)?[A-Z]\w*(?:Error|Exception)(?:: | - ))+")
"""Names of classes before a message."""


def diagnose(
    name: str, error: Exception | None, exchange: Exchange | None, reading: Reading | None = None
) -> EndpointFailure:
    """The failure of one call. `error` is what litellm made of it, `reading` what could be read of an answer."""
    if exchange is None:
        status = getattr(error, "status_code", None)
        cause = Cause(status if isinstance(status, int) else None, retryable=False)
        return EndpointFailure(f"{name} could not be asked: {plain(error)}", cause, hint=hint_for(cause))
    if exchange.sent_on_to is not None:
        return EndpointFailure(
            f"{name} sends its callers on to another address: {exchange.told(exchange.sent_on_to)[:200]}",
            Cause(exchange.status, retryable=False),
            hint="Nothing was sent there, as the key would go along. If it is the right one, give it as --base-url.",
        )
    if exchange.status is None:
        return _unanswered(name, error, exchange)
    if not 200 <= exchange.status < 300:
        body = exchange.body.decode("utf-8", "replace")
        cause = judge_status(exchange.status, body, exchange.headers, error)
        said = exchange.told(error_text(body)) or "no reason given"
        return EndpointFailure(f"{name} answered HTTP {exchange.status}: {said}", cause, hint=hint_for(cause))
    return _broken(name, exchange, reading)


def plain(error: Exception | None) -> str:
    """An error of litellm's in one line, without what it says about itself."""
    text = str(error or "").strip() or type(error).__name__
    for noise in _NOISE:
        text = text.partition(noise)[0]
    return " ".join(_PREFIX.sub("", text).split())[:500]


def _unanswered(name: str, error: Exception | None, exchange: Exchange) -> EndpointFailure:
    sent = error is None or was_sent(error)
    reason = exchange.told((network_reason(error) if error else None) or plain(error))
    lasting = "SSL" in reason or "CERTIFICATE" in reason
    what = "did not answer" if sent else "could not be reached"
    hint = "The address may be one of http, not https, or have a certificate that is not trusted here."
    return EndpointFailure(
        f"{name} {what}: {reason}",
        Cause(None, retryable=not lasting, maybe_billed=sent),
        hint=hint if lasting else "Check the address and the network.",
    )


def _broken(name: str, exchange: Exchange, reading: Reading | None) -> EndpointFailure:
    if exchange.too_long:
        cause = Cause(exchange.status, retryable=False, maybe_billed=True)
        return EndpointFailure(
            f"{name} gave an answer that is longer than {LONGEST_ANSWER:,} bytes", cause, reading=reading
        )
    if reading is not None and reading.error is not None:
        what = f"broke its answer off with an error: {exchange.told(reading.error)}"
    elif not exchange.whole or (reading is not None and not reading.complete):
        what = "broke its answer off before the end"
    elif reading is not None:
        what = "gave an answer without content"
    else:
        kind = exchange.headers.get("content-type", "no content type")
        what = f"gave an answer that is none of a model's ({exchange.told(kind)[:100]})"
    cause = Cause(exchange.status, retryable=True, maybe_billed=True)
    return EndpointFailure(f"{name} {what}", cause, reading=reading)
