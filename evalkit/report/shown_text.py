"""How much of a text that others wrote goes into a page, and in which form?"""

from __future__ import annotations

from typing import TypeAlias

from evalkit.trajectory.printable import printable

MOST = 20_000
"""Characters of one field."""
_TAIL = MOST // 4
_MOST_OF_A_NAME = 300

Shown: TypeAlias = "str | list[str | int]"
"""The whole text; or its beginning, how many characters are left out, and its end."""


def shown(text: str | None) -> Shown | None:
    """A text of any length; None for none, be it unknown or empty."""
    if not text:
        return None
    if len(text) <= MOST:
        return printable(text)
    return [printable(text[: MOST - _TAIL]), len(text) - MOST, printable(text[-_TAIL:])]


def name(text: str | None) -> str | None:
    """A short text, of which the end may go."""
    if text is None:
        return None
    return printable(text if len(text) <= _MOST_OF_A_NAME else f"{text[:_MOST_OF_A_NAME]}\u2026")
