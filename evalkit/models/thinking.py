"""How much thinking was asked for?

A level is written `default`, `off`, `on`, `dynamic`, `effort:high` or `tokens:2048`, wherever it is stored.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass

from evalkit.errors import UsageError

EFFORTS = ("minimal", "low", "medium", "high", "xhigh", "max")
_PLAIN = ("default", "off", "on", "dynamic")
_PROVIDERS_WORDS: Mapping[str, str] = {
    "none": "off",
    "disabled": "off",
    "enabled": "on",
    "adaptive": "dynamic",
    "auto": "dynamic",
}
_DIGITS = 9
"""Of a number of tokens; no model thinks longer."""
_NUMBER = re.compile(r"0|[1-9][0-9]*")
_RANGE = re.compile(r"([0-9]+)\s*(?:\.{2,}|to|-)\s*([0-9]+)")


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


def parse_thinking(text: str, where: str | None = None) -> Thinking:
    """Read a thinking budget, in any of the forms in which evalkit prints one, or in a provider's own word for it.

    Raises UsageError for what is none, which names `where` it was given.
    """
    value = text.strip().lower()
    word = value.removeprefix("effort:")
    if word in EFFORTS:
        return Thinking(f"effort:{word}")
    if value in _PLAIN:
        return Thinking(value)
    if value in _PROVIDERS_WORDS:
        return Thinking(_PROVIDERS_WORDS[value])
    if value == "-1":
        return Thinking("dynamic")
    number = value.removeprefix("tokens:")
    if _NUMBER.fullmatch(number):
        if len(number) > _DIGITS:
            raise UsageError(
                f"'{text}' is no thinking budget: no model thinks with so many tokens",
                where=where,
                hint=f"The largest number is {10**_DIGITS - 1}.",
            )
        return Thinking(f"tokens:{number}" if number != "0" else "off")
    raise UsageError(f"'{text}' is no thinking budget", where=where, hint=_advice(value))


def _advice(value: str) -> str:
    if value in {"n", "tokens:n", "tokens:"}:
        return "Write a number in place of N, such as 2048."
    if value.isascii() and value.isdigit():
        return "A number has no zeros in front and no separators: write 1000, not 1,000, which is a list."
    if ends := _RANGE.match(value):
        return f"One number is one level, several stand in a list: {ends[1]},{ends[2]}."
    if value.startswith("-"):
        return "A number of tokens is 0 (off) or more; only -1 has a meaning of its own: dynamic."
    near = difflib.get_close_matches(value.removeprefix("effort:"), (*_PLAIN, *EFFORTS), n=1)
    guess = f"Did you mean {near[0]}? " if near else ""
    return f"{guess}Use default, off, on, dynamic, a number of tokens, or one of {', '.join(EFFORTS)}."


def tokens_in(level: str) -> int | None:
    """The number of tokens that a level is; None for another."""
    kind, _, value = level.partition(":")
    return int(value) if kind == "tokens" and value.isdigit() else None


def effort_in(level: str) -> str | None:
    """The effort that a level is; None for another."""
    kind, _, value = level.partition(":")
    return value if kind == "effort" else None
