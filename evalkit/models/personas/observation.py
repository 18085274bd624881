"""What does a scripted agent see in what a tool answers: which output, and did it visibly fail?

All personas read alike, in every error style of the tool settings. A failure is only what the tool itself reports
(its last line, its error object, Inspect's own error), never what a command printed.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Literal, cast

from evalkit.models.reply import Turn

FailureKind = Literal["timeout", "unavailable", "rate_limited", "permission", "no_space", "damaged", "other"]

TRANSIENT: frozenset[FailureKind] = frozenset({"timeout", "unavailable", "rate_limited"})
"""What goes away when it is tried again."""

_EXIT = re.compile(r"\[exit code (\d+)\]\n")
_TIMED_OUT = re.compile(r"\[timed out after [^\n]*\]\n")
_LOST = re.compile(r"\[(?:the shell was killed;[^\n]*|failed)\]\n")
_STDERR = "[stderr]\n"
_RETRY_AFTER = re.compile(r"retry-after: *(\d+(?:\.\d+)?)", re.IGNORECASE)
_WORDS: tuple[tuple[FailureKind, re.Pattern[str]], ...] = (
    ("rate_limited", re.compile(r"\b429 Too Many Requests\b", re.IGNORECASE)),
    (
        "unavailable",
        re.compile(r"\b50[0234] (?:Internal Server Error|Bad Gateway|Service Unavail|Gateway Time)"),
    ),
    ("no_space", re.compile(r"\bNo space left on device\b", re.IGNORECASE)),
    ("damaged", re.compile(r"\btruncated\b|\bchecksum mismatch\b", re.IGNORECASE)),
)
_NAMED: frozenset[str] = TRANSIENT | {"permission"}
_CANNOT_RUN = 126
"""A shell's exit code for a program that it may not run."""


@dataclass(frozen=True, slots=True)
class Failure:
    """How a call visibly failed."""

    kind: FailureKind
    retry_after_s: float | None = None
    """Seconds after which it may be tried again; None where nothing was said."""
    hint: str | None = None
    """What the tool says would help; only structured errors say anything."""

    @property
    def is_transient(self) -> bool:
        """Whether it goes away by itself."""
        return self.kind in TRANSIENT


@dataclass(frozen=True, slots=True)
class Seen:
    """One tool result as an agent reads it."""

    stdout: str
    failure: Failure | None = None


def read(turn: Turn) -> Seen:
    """Read a tool's result."""
    text = turn.text
    if turn.error is not None:
        return Seen("", _failure(text, named=turn.error))
    structured = _structured(text)
    if structured is not None:
        return structured
    body, last = _last_line(text)
    if not body and not last.startswith("["):
        last = f"[{last.rstrip()}]\n"  # a terse error is nothing but this line
    stdout, stderr = _streams(body)
    if _TIMED_OUT.fullmatch(last):
        return Seen(stdout, Failure("timeout"))
    if _LOST.fullmatch(last):
        return Seen(stdout, Failure("other"))
    code = _EXIT.fullmatch(last)
    if code:
        return Seen(stdout, None if code[1] == "0" else _failure(stderr, exit_code=int(code[1])))
    # Exit codes are not shown: only what the tool puts behind [stderr] can tell, and only in plain words.
    stdout, stderr = _streams(text)
    told = _failure(stderr)
    return Seen(stdout, None if told.kind == "other" else told)


def _structured(text: str) -> Seen | None:
    """A structured error; None for anything else. Ordinary output ends with a line break, an error object never."""
    if not text.startswith('{"error":') or text.endswith("\n"):
        return None
    try:
        whole: Any = json.loads(text)
    except (ValueError, RecursionError):
        return None
    said = cast("dict[str, Any]", whole)
    error = said["error"]
    if not isinstance(error, dict) or "kind" not in error:
        return None
    fields = cast("dict[str, Any]", error)
    wait = fields.get("retry_after_s")
    told = "\n".join(str(part) for part in (said.get("stderr", ""), fields.get("message", "")))
    return Seen(
        stdout=str(said.get("stdout", "")),
        failure=_failure(
            told,
            exit_code=fields.get("exit_code"),
            named=str(fields["kind"]),
            retry_after_s=float(wait) if isinstance(wait, int | float) else None,
            hint=str(fields["hint"]) if fields.get("hint") else None,
        ),
    )


def _failure(
    stderr: str,
    *,
    exit_code: int | None = None,
    named: str | None = None,
    retry_after_s: float | None = None,
    hint: str | None = None,
) -> Failure:
    kind = _kind(stderr, exit_code=exit_code, named=named)
    wait = _RETRY_AFTER.search(stderr) if kind == "rate_limited" else None
    if retry_after_s is None and wait is not None:
        retry_after_s = float(wait[1])
    return Failure(kind, retry_after_s, hint)


def _kind(stderr: str, *, exit_code: int | None, named: str | None) -> FailureKind:
    if named in _NAMED:
        return cast("FailureKind", named)
    if exit_code == _CANNOT_RUN:
        return "permission"
    for kind, words in _WORDS:
        if words.search(stderr):
            return kind
    return "other"


def _last_line(text: str) -> tuple[str, str]:
    """What stands before the last line, and that line."""
    at = text.rfind("\n", 0, len(text) - 1) + 1
    return text[:at], text[at:]


def _streams(body: str) -> tuple[str, str]:
    """stdout and stderr of a plain observation."""
    at = f"\n{body}".rfind(f"\n{_STDERR}")
    return (body, "") if at < 0 else (body[:at], body[at + len(_STDERR) :])
