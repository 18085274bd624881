"""Did the settings that were asked for really go out?"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import cast

_CONVERSATION = frozenset({"messages", "input", "contents", "tools", "system", "systemInstruction"})
"""Where a request holds what is said, and no settings."""


def left_out(body: bytes, asked: Mapping[str, object]) -> list[str]:
    """The numbers that were asked for and are nowhere among the settings of a request, whatever their names there.

    A request that is no JSON object says nothing.
    """
    wanted = {
        name: value
        for name, value in asked.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
    if not wanted:
        return []
    try:
        request: object = json.loads(body)
    except (ValueError, RecursionError):
        return []
    if not isinstance(request, dict):
        return []
    fields = cast("dict[str, object]", request)
    sent = {
        number for name, value in fields.items() if name not in _CONVERSATION for number in _numbers(value)
    }
    return [f"{name} {value}" for name, value in wanted.items() if value not in sent]


def _numbers(value: object) -> Iterator[float]:
    if isinstance(value, bool):
        return
    if isinstance(value, int | float):
        yield value
    elif isinstance(value, dict):
        for part in cast("dict[str, object]", value).values():
            yield from _numbers(part)
    elif isinstance(value, list):
        for part in cast("list[object]", value):
            yield from _numbers(part)
