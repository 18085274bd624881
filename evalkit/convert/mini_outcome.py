"""What became of a run of mini-swe-agent, as far as it says itself?

It never says whether it succeeded. A run that died of its infrastructure has an origin of its error; one that ended by
itself is unscored because nobody judged it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from evalkit.convert.mini_messages import LIMITS, SUBMITTED, Conversation, Exit
from evalkit.convert.mini_settings import limit_reached
from evalkit.convert.notes import Notes
from evalkit.errors import Origin
from evalkit.trajectory.trial import StopReason

_MODEL = frozenset(
    {
        "APIConnectionError",
        "APIError",
        "APIResponseValidationError",
        "APIStatusError",
        "APITimeoutError",
        "AuthenticationError",
        "BadGatewayError",
        "BadRequestError",
        "InternalServerError",
        "JSONSchemaValidationError",
        "NotFoundError",
        "PermissionDeniedError",
        "RateLimit",
        "RateLimitError",
        "ServiceUnavailableError",
        "Timeout",
        "UnprocessableEntityError",
    }
)
_SANDBOX = frozenset(
    {"CalledProcessError", "TimeoutExpired", "DockerException", "ContainerError", "ImageNotFound"}
)
_CANCELLED = frozenset({"UserInterruption", "KeyboardInterrupt", "CancelledError"})
_BY_ITSELF: Mapping[str, StopReason] = {
    SUBMITTED: "submitted",
    "ContextWindowExceededError": "context_limit",
    "ContentPolicyViolationError": "refused",
    "TimeExceeded": "time_limit",
}
_UNJUDGED = "no report beside the trajectory tells whether the instance is resolved"
_DIFF = re.compile(r"^(?:diff --git |\+\+\+ )", re.MULTILINE)
_WORDS_OF_PROVIDERS = ("litellm.", "openai.", "anthropic.")


def outcome(
    told: Conversation, ended: Exit, config: Mapping[str, object], spent: Mapping[str, Any], notes: Notes
) -> dict[str, Any]:
    """Columns of `Trial` that tell how it ended, without any report."""
    status, message = ended.status, ended.message
    columns: dict[str, Any] = {"status": "unscored", "answer": _answer(ended), "error_origin": None}
    if status is None and ended.submission:
        return {**columns, "error_type": "unjudged", "error_message": _UNJUDGED}
    if status is None:
        what = (
            "how it ended is not known: it was killed, or goes on"
            if len(told.steps)
            else "there are no messages"
        )
        notes.warn(what)
        return {**columns, "error_origin": "harness", "error_type": "incomplete", "error_message": what}
    if status in _BY_ITSELF or status in LIMITS:
        reason = _BY_ITSELF.get(status)
        if reason is None:
            reason = limit_reached(config, spent["model_calls"] or 0, _cost(told, spent))
        message = _line(message or _UNJUDGED)
        return {**columns, "stop_reason": reason, "error_type": "unjudged", "error_message": message}
    if message is None and columns["answer"] is None:
        message = ended.submission
    return {
        **columns,
        "stop_reason": "cancelled" if status in _CANCELLED else "error",
        "error_origin": _origin(status, message or ""),
        "error_type": _line(status),
        "error_message": _line(message or f"it ended with {status}"),
    }


def _answer(ended: Exit) -> str | None:
    """The patch. The first versions write there what the exception said where nothing was submitted."""
    if ended.status == SUBMITTED or ended.status is None:
        return ended.submission
    return ended.submission if _DIFF.search(ended.submission or "") else None


def _origin(status: str, message: str) -> Origin | None:
    """Where an exception came from; None for a status that comes without one, which the agent has set itself."""
    if status in _MODEL or message.startswith(_WORDS_OF_PROVIDERS):
        return "model"
    if status in _SANDBOX:
        return "sandbox"
    return "harness" if message else None


def _cost(told: Conversation, spent: Mapping[str, Any]) -> float | None:
    return spent["cost_usd"] if spent["cost_usd"] is not None else told.cost


def _line(text: str) -> str:
    return " ".join(text.split())[:500]
