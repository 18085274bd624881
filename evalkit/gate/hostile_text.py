"""How does a text that others wrote become safe to show?

Names of tasks and agents, and reasons of scorers, may come from anywhere. Lines stay lines, and nothing in them steers
a terminal, turns the direction of reading or is no Unicode. Each format escapes its own signs after that.
"""

from __future__ import annotations

import hashlib
import re

_BREAKS = re.compile(r"[\t\n\x0b\x0c\r\x1c-\x1e\x85\u2028\u2029]")
_UNSHOWABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
)
_MARK = 10
"""How many characters tell two long texts apart that begin alike."""


def one_line(text: str) -> str:
    """Without line breaks, which become spaces, and with U+FFFD for each character that cannot or must not be shown."""
    if text.isascii() and text.isprintable():
        return text
    return _UNSHOWABLE.sub("\ufffd", _BREAKS.sub(" ", text))


def clipped(text: str, most: int) -> str:
    """The text in at most so many characters; of a longer one the beginning, and a mark that is its own."""
    if len(text) <= most:
        return text
    mark = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[: _MARK - 2]
    return f"{text[: most - _MARK]}\u2026~{mark}"


def shown(text: str, most: int = 300) -> str:
    """A name or a sentence on one line, not longer than `most`; `-` for nothing."""
    return clipped(one_line(text).strip(), most) or "-"
