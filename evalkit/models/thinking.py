"""How much thinking was asked for?"""

from __future__ import annotations

from dataclasses import dataclass

from evalkit.errors import UsageError

EFFORTS = ("minimal", "low", "medium", "high", "xhigh", "max")


@dataclass(frozen=True, slots=True)
class Thinking:
    """A thinking budget as asked: `default`, `off`, `on`, `dynamic`, an effort, or a number of tokens."""

    asked: str = "default"

    def __str__(self) -> str:
        return self.asked


def parse_thinking(text: str) -> Thinking:
    """Read a thinking budget. Raises UsageError for what is none."""
    value = text.strip().lower()
    if value in {"0", "off"}:
        return Thinking("off")
    if value in {"-1", "dynamic"}:
        return Thinking("dynamic")
    if value in {"default", "on"}:
        return Thinking(value)
    if value in EFFORTS:
        return Thinking(f"effort:{value}")
    if value.isascii() and value.isdigit():
        return Thinking(f"tokens:{int(value)}")
    raise UsageError(
        f"'{text}' is no thinking budget",
        hint=f"Use default, off, on, dynamic, a number of tokens, or one of {', '.join(EFFORTS)}.",
    )
