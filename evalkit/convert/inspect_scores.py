"""What did Inspect's scorers say of a sample, and what ended it?"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from evalkit.convert.importer import Options
from evalkit.convert.inspect_refs import Attachments
from evalkit.convert.notes import Notes
from evalkit.errors import Origin
from evalkit.models.wire.json_values import as_list, as_object, is_list, is_object, text_in
from evalkit.trajectory.trial import StopReason

Raw = Mapping[str, object]
_WORDS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
"""As Inspect reads them: correct, incorrect, partial, no answer."""
_VERDICTS = ("score", "reward", "correct", "passed", "pass", "success", "resolved", "accuracy")
"""Keys under which a score of several values holds the one that decides."""
_LIMITS: Mapping[str, StopReason] = {
    "message": "step_limit",
    "turn": "step_limit",
    "token": "token_limit",
    "cost": "cost_limit",
    "time": "time_limit",
    "working": "time_limit",
    "context": "context_limit",
    "operator": "cancelled",
}
_CLASS = re.compile(r"\s*([A-Za-z_][\w.]{0,99})\s*(?:\(|:|$)")
_CANCELLED = frozenset({"CancelledError", "Cancelled", "KeyboardInterrupt"})
_MODEL = re.compile(
    r"RateLimit|APIStatus|APIError|APIConnection|APITimeout|InternalServerError|ServiceUnavailable|BadRequestError"
    r"|AuthenticationError|PermissionDenied|Overloaded|ClientError|ServerError|ModelError|UnprocessableEntity"
)
_SANDBOX = re.compile(
    r"Sandbox|Docker|Container|OutputLimitExceeded|PodError|K8s|Kube|Compose", re.IGNORECASE
)
_TASK = re.compile(r"PrerequisiteError|SampleInit|FileNotFoundError")
_LONGEST = 500


def outcome(
    sample: Raw, log_status: object, texts: Attachments, notes: Notes, options: Options, *, graded: bool
) -> dict[str, Any]:
    """Columns of `Trial` that say what became of it. `graded`: its error came while it was scored.

    A sample that ended in an error, was cancelled or was invalidated is unscored, whatever its scores say.
    """
    columns = {**_judged(sample, texts, notes, options), **_stopped(sample)}
    error = sample.get("error")
    if is_object(error) or text_in(error):
        return {**columns, **_failed(error, texts, graded=graded)}
    if sample.get("invalidation"):
        unscored = {
            "status": "unscored",
            "error_type": "invalidated",
            "error_message": "invalidated afterwards",
        }
        return {**columns, **unscored, "reward": None}
    if (
        columns["status"] == "unscored"
        and log_status in {"cancelled", "started"}
        and not columns.get("stop_reason")
    ):
        columns["stop_reason"] = "cancelled"
    return columns


def as_number(value: object) -> float | None:
    """A score's value as Inspect makes a number of it; None for what is none, NaN among them."""
    if isinstance(value, bool | int | float):
        return float(value) if -1e300 < value < 1e300 else None
    if isinstance(value, str):
        known = _WORDS.get(value, _WORDS.get(value.lower()) if len(value) > 1 else None)
        if known is not None:
            return known
        try:
            number = float(value) if len(value) < 50 else math.nan
        except ValueError:
            return None
        return number if -1e300 < number < 1e300 else None
    return None


def scores_of(sample: Raw) -> dict[str, Raw]:
    """The scores by scorer, in order. Very old logs have one only, in `score`."""
    scores = sample.get("scores")
    if is_object(scores):
        return {name: as_object(score) for name, score in scores.items() if score is not None}
    one = as_object(sample.get("score"))
    return {"score": one} if one else {}


def _judged(sample: Raw, texts: Attachments, notes: Notes, options: Options) -> dict[str, Any]:
    scores = scores_of(sample)
    rewards: dict[str, float] = {}
    for name, score in scores.items():
        rewards.update(_values(name, score.get("value")))
    first = next(iter(scores.values()), None)
    answer = next((text for score in scores.values() if (text := texts.text(score.get("answer")))), None)
    told: dict[str, Any] = {"answer": answer, "rewards": rewards or None}
    if first is None:
        return {
            **told,
            "status": "unscored",
            "error_type": "unjudged",
            "error_message": "the log has no score of it",
        }
    value = first.get("value")
    number = as_number(_verdict(value))
    if number is None:
        notes.warn("scores that are no verdict, such as NaN or several values, leave their samples unscored")
        reason = text_in(first.get("reason"))
        why = f"the score is {_what(value)}{f' ({reason[:100]})' if reason else ''}"
        return {**told, "status": "unscored", "error_type": "unjudged", "error_message": why}
    return {**told, "status": "passed" if number >= options.pass_reward else "failed", "reward": number}


def _values(name: str, value: object) -> dict[str, float]:
    """Every number of a score, under the scorer's name."""
    if is_object(value):
        pairs = {f"{name}.{key}": as_number(item) for key, item in value.items()}
    elif is_list(value):
        pairs = {f"{name}.{place}": as_number(item) for place, item in enumerate(value[:100])}
    else:
        pairs = {name: as_number(value)}
    return {key: number for key, number in pairs.items() if number is not None}


def _verdict(value: object) -> object:
    """The one value that decides: of several the only one, or the one under a name that says so."""
    if is_object(value):
        if len(value) == 1:
            return next(iter(value.values()))
        return next((value[key] for key in _VERDICTS if key in value), None)
    if is_list(value):
        return value[0] if len(value) == 1 else None
    return value


def _what(value: object) -> str:
    if is_object(value):
        return f"several values ({', '.join(map(str, list(value)[:5]))})"[:200]
    if is_list(value):
        return "several values"
    return "no number (NaN), which is how Inspect says unscored" if value is None else f"{str(value)[:100]!r}"


def _stopped(sample: Raw) -> dict[str, Any]:
    limit = sample.get("limit")
    kind = text_in(as_object(limit).get("type")) or text_in(limit)
    if kind is not None:
        return {"stop_reason": _LIMITS.get(kind)}
    choices = as_list(as_object(sample.get("output")).get("choices"))
    finish = as_object(next(iter(choices), None)).get("stop_reason")
    if finish == "content_filter":
        return {"stop_reason": "refused"}
    if finish == "model_length":
        return {"stop_reason": "context_limit"}
    return {"stop_reason": "submitted"} if scores_of(sample) else {}


def _failed(error: object, texts: Attachments, *, graded: bool) -> dict[str, Any]:
    told = as_object(error)
    message = (texts.text(told.get("message")) or text_in(error) or "unknown").strip()
    trace = (texts.text(told.get("traceback")) or "").rstrip().rpartition("\n")[2]
    found = _CLASS.match(message) or _CLASS.match(trace)
    name = found[1].rpartition(".")[2] if found else "error"
    cancelled = name in _CANCELLED
    return {
        "status": "unscored",
        "reward": None,
        "stop_reason": "cancelled" if cancelled else "error",
        "error_origin": "grader" if graded and not cancelled else _origin(name, trace),
        "error_type": name,
        "error_message": (message.splitlines() or [""])[0][:_LONGEST],
    }


def _origin(name: str, trace: str) -> Origin:
    """Whose fault an error was, as far as its class tells; the harness's where it does not."""
    for text in (name, trace):
        if _MODEL.search(text):
            return "model"
        if _SANDBOX.search(text):
            return "sandbox"
        if _TASK.search(text):
            return "task"
    return "harness"
