"""How much of a text that others wrote goes into a page, and in which form?"""

from __future__ import annotations

import itertools
from collections.abc import Collection
from typing import TypeAlias, overload

from evalkit.trajectory.printable import cut, printable

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


def fact(text: str) -> str:
    """What is told of an agent or a run, on one line: what is too long says how much of it is not here."""
    return printable(cut(text)).replace("\n", "\\n").replace("\t", "\\t")


@overload
def name(text: str) -> str: ...
@overload
def name(text: None) -> None: ...
@overload
def name(text: str | None) -> str | None: ...
def name(text: str | None) -> str | None:
    """A short text, of which the end may go. The name of a name is itself, so that a link finds what it names."""
    if text is None:
        return None
    told = printable(text[: _MOST_OF_A_NAME + 1])
    return told if len(told) <= _MOST_OF_A_NAME else f"{told[: _MOST_OF_A_NAME - 1]}\u2026"


def unlike(text: str, taken: Collection[str]) -> str:
    """The name of a text, and unlike those that are taken."""
    told = name(text)
    if told not in taken:
        return told
    numbered = (f"{told[: _MOST_OF_A_NAME - 12]} #{number}" for number in itertools.count(2))
    return next(one for one in numbered if one not in taken)
