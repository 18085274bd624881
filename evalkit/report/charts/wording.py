"""How is a name or a number written into a drawing?

Names of agents and tasks come from runs of anybody. What XML cannot hold, what turns the direction of writing, and
what is too long to stand beside a point does not get in.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NOT_SHOWN = re.compile(
    "[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]"
)
_GONE = "\N{REPLACEMENT CHARACTER}"
_CUT = "…"
_BLANK = "␣"
_MARKS = 2
_ROOM = 4
"""How many characters of a text are looked at for each column that there is: marks that add to others take none."""


def storable(text: str) -> str:
    """The text as an attribute can hold it, unchanged where XML has all its characters."""
    return _NOT_XML.sub(_GONE, text)


def clipped(text: str, columns: int) -> str:
    """One line of the text for the eye, at most so many columns wide; names differ at ends, so the middle goes.

    Of marks that stand above or below a letter two are kept, as more would cover what is around; `␣` stands for
    nothing.
    """
    if len(text) > columns * _ROOM:
        text = text[: columns * _ROOM // 2] + _CUT + text[-(columns * _ROOM // 2) :]
    text = _few_marks(storable(_NOT_SHOWN.sub(_GONE, " ".join(text.split())))) or _BLANK
    if width(text) <= columns and len(text) <= columns * 2:
        return text
    return _start(text, columns // 2) + _CUT + _start(text[::-1], columns - columns // 2 - 1)[::-1]


def _few_marks(text: str) -> str:
    if text.isascii():
        return text
    kept: list[str] = []
    marks = 0
    for letter in text:
        marks = marks + 1 if unicodedata.category(letter) in {"Mn", "Me"} else 0
        if marks <= _MARKS:
            kept.append(letter)
    return "".join(kept)


def width(text: str) -> int:
    """In columns, of which wide letters take two."""
    return sum(_width(letter) for letter in text)


def _width(letter: str) -> int:
    if unicodedata.category(letter) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(letter) in {"W", "F"} else 1


def _start(text: str, columns: int) -> str:
    kept = 0
    for place, letter in enumerate(text):
        kept += _width(letter)
        if kept > columns or place >= columns * 2:
            return text[:place]
    return text


def lines(words: str, names: Sequence[str], columns: int) -> list[str]:
    """The words and then the names, set apart by commas, on as many lines as they need."""
    found = [words]
    for place, name in enumerate(names):
        part = f"{clipped(name, 40)}{',' if place < len(names) - 1 else ''}"
        if width(found[-1]) + width(part) < columns:
            found[-1] += f" {part}"
        else:
            found.append(part)
    return found


def share(value: float) -> str:
    """Two digits, but never 0.00 or 1.00 for what is neither."""
    return f"{value:.2f}" if value in {0.0, 1.0} else f"{min(max(value, 0.01), 0.99):.2f}"


def amount(value: float, unit: str) -> str:
    """Three digits that count, with the unit: `USD`, `s`, or a word."""
    digits = _digits(value)
    return f"${digits}" if unit == "USD" else f"{digits} {unit}"


def short(value: float, unit: str) -> str:
    """For a tick: without the unit's words, with k and M."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{'$' if unit == 'USD' else ''}{_digits(value / size)}{letter}"
    return f"{'$' if unit == 'USD' else ''}{_digits(value)}"


def _digits(value: float) -> str:
    if value == 0:
        return "0"
    if 1000 <= value < 1e9:
        return f"{value:,.0f}"
    text = f"{value:.3g}"
    return text if "e" in text else (text.rstrip("0").rstrip(".") if "." in text else text)
