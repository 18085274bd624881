"""Does a declared pattern mean this resource?

`*` and `?` stand for characters of one part of a path, `**` for any number of whole parts, `[abc]` for one of these
characters. A path without any of them stands for itself and for everything below it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

_WILD = re.compile(r"[*?\[]")


def fits(patterns: Iterable[str], names: Iterable[str]) -> bool:
    """Whether any of the patterns means any of the names."""
    listed = tuple(names)
    return any(_compiled(pattern).fullmatch(name) is not None for pattern in patterns for name in listed)


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> re.Pattern[str]:
    if not _WILD.search(pattern):
        plain = re.escape(pattern.rstrip("/") or "/")
        return re.compile(f"{plain}(?:/.*)?" if pattern.startswith("/") else plain, re.DOTALL)
    return re.compile("".join(_pieces(pattern)), re.DOTALL)


def _pieces(pattern: str) -> Iterable[str]:
    place = 0
    while place < len(pattern):
        char = pattern[place]
        if pattern.startswith("**/", place) and _begins_part(pattern, place):
            yield "(?:.*/)?"
            place += 3
        elif pattern.startswith("**", place):
            yield ".*"
            place += 2
        elif char == "[" and (end := pattern.find("]", place + 2)) > 0:
            inside = pattern[place + 1 : end].replace("\\", "\\\\").replace("[", "\\[")
            yield f"[{'^' + inside[1:] if inside[0] in '!^' else inside}]"
            place = end + 1
        else:
            yield "[^/]*" if char == "*" else "[^/]" if char == "?" else re.escape(char)
            place += 1


def _begins_part(pattern: str, place: int) -> bool:
    return place == 0 or pattern[place - 1] in "/:"
