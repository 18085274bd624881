"""How is a text that others wrote shown without its steering a terminal or the direction of reading?"""

from __future__ import annotations

import re
import shlex

_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff\U000e0000-\U000e007f]"
)


def printable(text: str) -> str:
    """The text with control characters, direction overrides and what cannot be seen as escapes; lines are kept."""
    return _UNSEEN.sub(_escape, text.replace("\r\n", "\n"))


def _escape(found: re.Match[str]) -> str:
    code = ord(found.group())
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def quoted(word: str) -> str:
    """A word for a shell, as text that has no control characters: pasted, it is what it was."""
    told = printable(word)
    if told == word and "\n" not in word and "\t" not in word:
        return shlex.quote(word)
    safe = printable(word.replace("\\", "\\\\").replace("'", "\\'"))
    return "$'" + safe.replace("\n", "\\n").replace("\t", "\\t") + "'"


def cut(text: str, most: int = 500) -> str:
    """The text, at most so many characters of it, and how many more there are."""
    return text if len(text) <= most else f"{text[:most]}... ({len(text) - most:,} more characters)"
