"""How much thinking was asked for?

A level is written `default`, `off`, `on`, `dynamic`, `effort:high` or `tokens:2048`, wherever it is stored.
"""

from __future__ import annotations

from dataclasses import dataclass

from evalkit.errors import UsageError

EFFORTS = ("minimal", "low", "medium", "high", "xhigh", "max")
_DIGITS = 9
"""Of a number of tokens; no model thinks longer."""


@dataclass(frozen=True, slots=True)
class Thinking:
    """A thinking budget: the level as asked, and the nearest one that was taken where the model has no such level."""

    asked: str = "default"
    taken: str | None = None
    """None: the level asked for."""

    def __str__(self) -> str:
        """Such as `effort:xhigh`, `effort:xhigh~high` or `off~effort:minimal`."""
        if self.taken is None:
            return self.asked
        kind, _, value = self.taken.partition(":")
        return f"{self.asked}~{value if value and self.asked.startswith(f'{kind}:') else self.taken}"

    @property
    def level(self) -> str:
        """What the model is to be told."""
        return self.asked if self.taken is None else self.taken


def parse_thinking(text: str) -> Thinking:
    """Read a thinking budget. Raises UsageError for what is none."""
    value = text.strip().lower()
    if value in EFFORTS:
        return Thinking(f"effort:{value}")
    if value in {"default", "off", "on", "dynamic"}:
        return Thinking(value)
    if value == "-1":
        return Thinking("dynamic")
    if value.isascii() and value.isdigit() and len(value) <= _DIGITS:
        return Thinking(f"tokens:{int(value)}" if int(value) else "off")
    raise UsageError(
        f"'{text}' is no thinking budget",
        hint=f"Use default, off, on, dynamic, a number of tokens, or one of {', '.join(EFFORTS)}.",
    )


def tokens_in(level: str) -> int | None:
    """The number of tokens that a level is; None for another."""
    kind, _, value = level.partition(":")
    return int(value) if kind == "tokens" and value.isdigit() else None


def effort_in(level: str) -> str | None:
    """The effort that a level is; None for another."""
    kind, _, value = level.partition(":")
    return value if kind == "effort" else None
