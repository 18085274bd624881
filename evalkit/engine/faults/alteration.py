"""What does a fault make of what a call printed?

Everything here is a plain function of the text, so the same call is altered the same way in every trial. None means
that there is nothing to alter.
"""

from __future__ import annotations

import re

from evalkit.engine.faults.drift import commas_separate

_BEFORE = r"(?<![\w./#@+-])(?<!\w[:%])(?<!\d')(?<!\.\d{3},)"
_AFTER = r"(?![\w/#@:+-]|\.[\w.]|'\d|%\w)"
"""A number of its own is no part of a date, a path, an address, a version or a name."""
_ONE = r"[-+]?[0-9]++(?:\.[0-9]++)?+(?:[eE][-+]?[0-9]++)?+"
_NUMBERS = re.compile(rf"{_BEFORE}{_ONE}(?:,{_ONE})*+{_AFTER}")
"""One, or several with nothing but commas between."""
_GROUPED = re.compile(r"[-+]?[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]+)?")
_COMMA = re.compile(r"[-+]?[0-9]+,[0-9]+")
"""One with a decimal comma, or two; it is replaced as a whole."""
_WORD = re.compile(r"(?<![\w./:@#%+-])(?<!\d,)(?<!\w')\w++(?:(?:[.:@+'-]++|(?<=\d),(?=\d))\w++)*+(?![/#%+])")
_JSON_WORDS = frozenset({"true", "false", "null"})


def first_half(text: str) -> str | None:
    """The first half of the lines; of one line, of its characters."""
    lines = text.splitlines(keepends=True)
    if len(lines) > 1:
        return "".join(lines[: len(lines) // 2])
    kept = text[: len(text.rstrip("\r\n")) // 2]
    return kept or None


def garbled(data: bytes, mark: str) -> bytes | None:
    """With the mark over the bytes in the middle, as many as it has; over all but the line's end where there are
    fewer.
    """
    end = len(data.rstrip(b"\r\n"))
    if end == 0:
        return None
    over = mark.encode()
    begin = max(0, (end - len(over)) // 2)
    return data[:begin] + over + data[min(end, begin + len(over)) :]


def value_in(text: str) -> tuple[int, int] | None:
    """Where the value stands that is replaced by a wrong one: the last number of its own, else the last word."""
    listed = commas_separate(text)
    numbers = list(_NUMBERS.finditer(text))
    if numbers:
        return _number(numbers[-1], listed=listed)
    words = [word for word in _WORD.finditer(text) if word[0] not in _JSON_WORDS]
    return words[-1].span() if words else None


def _number(match: re.Match[str], *, listed: bool) -> tuple[int, int]:
    """The last whole number: `1,234,567` is one, `1,2,3` are three, and `3,14` is best taken for one."""
    begin, end = match.span()
    text, last = match.string, match.start() + match[0].rfind(",") + 1
    if listed or last == begin or text[begin - 1 : begin] == "," or re.match(r",\S", text[end : end + 2]):
        return last, end
    whole = _GROUPED.fullmatch(match[0]) or _COMMA.fullmatch(match[0])
    return (begin if whole else last), end
