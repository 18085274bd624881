"""What can be taken from JSON whose shape nobody promised?

Nothing here raises for a value of the wrong type: what is not there and what makes no sense are both None or empty.
Lone surrogates stay in strings, because the record replaces and counts them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import TypeGuard

DEPTH = 64
"""Levels that are kept of what is stored as reported. No provider nests usage deeper."""

_DIGITS = 4000
"""Below the length at which Python refuses to turn digits into a number."""


def text_of(body: bytes | str) -> str:
    """The body as text, without a byte order mark; bytes that are no UTF-8 become U+FFFD."""
    text = body.decode("utf-8", "replace") if isinstance(body, bytes) else body
    return text.removeprefix("\ufeff")


def decode(text: str) -> object:
    """The JSON value in a text, or None for what is none, `null` included."""
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None


def decode_many(text: str) -> Iterator[object]:
    """The whole values of a JSON array or of values one after the other, as far as they go before a cut."""
    position = _skip(text, 0, "[" if text.lstrip()[:1] == "[" else "")
    while position < len(text):
        try:
            value, position = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            return
        yield value
        position = _skip(text, position, ",")


def is_object(value: object) -> TypeGuard[Mapping[str, object]]:
    """Whether a value is a JSON object."""
    return isinstance(value, dict) or isinstance(value, Mapping)  # noqa: SIM101 - the first is the quick one


def is_list(value: object) -> TypeGuard[list[object]]:
    """Whether a value is a JSON array."""
    return isinstance(value, list)


def as_object(value: object) -> Mapping[str, object]:
    """The value where it is an object, else an empty one."""
    return value if is_object(value) else {}


def as_list(value: object) -> list[object]:
    """The value where it is a list, else an empty one."""
    return value if is_list(value) else []


def objects_in(value: object) -> list[Mapping[str, object]]:
    """The objects of a list; everything else in it is left out."""
    return [item for item in as_list(value) if is_object(item)]


def text_in(value: object) -> str | None:
    """The value where it is a string with something in it."""
    return value if isinstance(value, str) and value else None


def canonical(value: object) -> str:
    """JSON text with sorted keys. Empty, which parses as nothing, where the value cannot be written as JSON."""
    try:
        return json.dumps(value, ensure_ascii=False, sort_keys=True, allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        return ""


def written(arguments: object) -> str:
    """Arguments as the model wrote them; canonical JSON of an object; empty where there are none."""
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else canonical(arguments)


def storable(value: object) -> Mapping[str, object] | None:
    """An object as it is, or None where it is none, nests without end, or holds what JSON cannot say."""
    return value if is_object(value) and not _deeper(value, DEPTH) and canonical(value) else None


def error_text(value: object) -> str | None:
    """What an error says, from any of the shapes in which providers send one. None where there is no error."""
    if not value:
        return None
    if isinstance(value, str):
        return value
    error = as_object(value)
    for key in ("message", "error", "detail", "type", "code"):
        found = text_in(error.get(key)) or text_in(as_object(error.get(key)).get("message"))
        if found:
            return found
    return canonical(value) or "an error that cannot be read"


def error_in(value: Mapping[str, object]) -> str | None:
    """What an object says that went wrong, in a field `error` or by being an error itself."""
    if "error" in (value.get("type"), value.get("object")):
        return error_text(value.get("error")) or text_in(value.get("message")) or canonical(value)
    return error_text(value.get("error"))


def _integer(digits: str) -> int | str:
    return int(digits) if len(digits) < _DIGITS else digits


def _real(digits: str) -> float | str:
    number = float(digits)
    return number if math.isfinite(number) else digits


def _no_number(name: str) -> None:
    del name


_DECODER = json.JSONDecoder(parse_int=_integer, parse_float=_real, parse_constant=_no_number, strict=False)
"""NaN and Infinity become None; a number too large for a float stays text; raw control characters are let through."""


def _skip(text: str, position: int, mark: str) -> int:
    """The next position that holds neither white space nor, once, the mark."""
    while position < len(text) and (text[position].isspace() or (mark and text[position] == mark)):
        if text[position] == mark:
            mark = ""
        position += 1
    return position


def _deeper(value: object, levels: int) -> bool:
    layer = [value]
    for _ in range(levels):
        inner: list[object] = []
        for item in layer:
            if is_object(item):
                inner.extend(item.values())
            elif is_list(item):
                inner.extend(item)
        if not inner:
            return False
        layer = inner
    return True
