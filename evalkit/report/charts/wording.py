"""How is a name or a number written into a drawing?

Names of agents and tasks come from runs of anybody. What XML cannot hold, what turns the direction of writing, and
what is too long to stand beside a point does not get in.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Sequence

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NOT_SHOWN = re.compile(
    "[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]"
)
_GONE = "\N{REPLACEMENT CHARACTER}"
_CUT = "…"
_BLANK = "␣"
_MARKS = 2
_WIDE, _NARROW = frozenset("MWmw@%&"), frozenset(" .,:;'|!()[]{}/\\-ijlftI")
_LONGEST = 2000
"""Characters of a name that are looked at to tell it from others."""
_ROOM = 4
"""How many characters of a text are looked at for each column that there is: marks that add to others take none."""


def storable(text: str) -> str:
    """The text as an attribute can hold it, unchanged where XML has all its characters."""
    return _NOT_XML.sub(_GONE, text)


def clipped(text: str, columns: int) -> str:
    """One line of the text for the eye, at most so many columns wide; what is too long loses its end.

    Of marks that stand above or below a letter two are kept, as more would cover what is around; `␣` stands for
    nothing.
    """
    return _cut(_line(text if len(text) <= columns * _ROOM else text[: columns * _ROOM] + _CUT), columns)


def told_apart(names: Sequence[str], columns: int) -> list[str]:
    """The names, each at most so many columns wide; those that would look alike lose what they begin with instead."""
    whole = [_line(name[:_LONGEST]) for name in names]
    shown = [_cut(text, columns) for text in whole]
    _part(whole, shown, columns, list(range(len(names))))
    return shown


def _part(whole: Sequence[str], shown: list[str], columns: int, places: Sequence[int]) -> None:
    """Gives those of the places that are shown alike the part in which they differ."""
    alike: defaultdict[str, list[int]] = defaultdict(list)
    for place in places:
        alike[shown[place]].append(place)
    for group in alike.values():
        texts = {whole[place] for place in group}
        if len(texts) == 1:
            continue
        begin = _begin(texts, columns)
        for place in group:
            shown[place] = _cut(_CUT + whole[place][begin:], columns)
        if len({shown[place] for place in group}) > 1:
            _part(whole, shown, columns, group)


def _begin(texts: Collection[str], columns: int) -> int:
    """Where the shown part of names begins that differ late: at a word, with some of what they have in common."""
    first, last = min(texts), max(texts)
    same = next((place for place, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    room = max(columns / 3, columns - 2 - max(width(text[same:]) for text in texts))
    begin = same
    while begin > 1 and width(first[begin - 1 : same]) <= room:
        begin -= 1
    return next((place for place in range(begin, same) if first[place - 1] in "/-_.: "), begin)


def _line(text: str) -> str:
    return _few_marks(storable(_NOT_SHOWN.sub(_GONE, " ".join(text.split())))) or _BLANK


def _cut(text: str, columns: int) -> str:
    if width(text) <= columns and len(text) <= columns * 2:
        return text
    return _start(text, columns - 2).rstrip() + _CUT


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


def width(text: str) -> float:
    """In columns, of which wide letters take up to two and a half."""
    return sum(_width(letter) for letter in text)


def _width(letter: str) -> float:
    """Of a wide sans-serif face, so that no other takes more."""
    if letter in _WIDE:
        return 1.8
    if letter.isascii():
        return 1.35 if letter.isupper() else 0.65 if letter in _NARROW else 1.12
    if unicodedata.category(letter) in {"Mn", "Me"}:
        return 0
    return 2.3 if unicodedata.east_asian_width(letter) in {"W", "F"} else 1.8


def _start(text: str, columns: int) -> str:
    kept = 0.0
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
