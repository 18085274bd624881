"""What does a fault make of what a call printed?

Everything here is a plain function of the text, so the same call is altered the same way in every trial. None means
that there is nothing to alter.
"""

from __future__ import annotations

import re

_NUMBER = re.compile(r"(?<![\w./:#-])-?\d+(?:\.\d+)?(?![\w:/#-]|\.\d)")
"""A number of its own, not part of a date, a path, an address or a name."""
_WORD = re.compile(r"(?<![\w./:-])\w(?:[\w.:-]*\w)?(?!/)")
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
    numbers = list(_NUMBER.finditer(text))
    if numbers:
        return numbers[-1].span()
    words = [word for word in _WORD.finditer(text) if word[0] not in _JSON_WORDS]
    return words[-1].span() if words else None
