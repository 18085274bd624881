"""What must one call return, and is what came back that?"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast


class Case(NamedTuple):
    """Arguments of one call and what it must return: `expected`, else what the reference returns, or raises."""

    args: Sequence[Any]
    expected: Any = None
    hidden: bool = True
    """Whether the agent has never seen this case."""


class Raised(NamedTuple):
    """Instead of a value: the names of the built-in classes that the exception is of, the nearest first."""

    names: Sequence[str]


def same(found: Any, expected: Any) -> bool:
    """Whether two plain values are equal with exact types. NaN equals NaN; tuples count as lists."""
    a, b = (list(cast("tuple[Any]", one)) if isinstance(one, tuple) else one for one in (found, expected))
    if type(a) is not type(b):
        return False
    if isinstance(a, list):
        ours, theirs = cast("list[Any]", a), cast("list[Any]", b)
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(a, dict):
        mine, other = cast("dict[Any, Any]", a), cast("dict[Any, Any]", b)
        return mine.keys() == other.keys() and all(same(mine[key], other[key]) for key in mine)
    return bool(a == b) or (a != a and b != b)  # noqa: PLR0124 - NaN


def close(found: Any, expected: Any, near: float) -> bool:
    pair = (found, expected)
    if all(isinstance(one, (list, tuple)) for one in pair):
        return len(found) == len(expected) and all(
            close(a, b, near) for a, b in zip(found, expected, strict=True)
        )
    numbers = all(isinstance(one, (int, float)) and not isinstance(one, bool) for one in pair)
    return same(found, expected) or (numbers and abs(found - expected) <= near)


def told(reference: Callable[..., Any], args: Sequence[Any]) -> Any:
    try:
        return reference(*json.loads(json.dumps(args)))
    except Exception as error:  # noqa: BLE001 - whatever it raises is what is expected
        return Raised([one.__name__ for one in type(error).__mro__ if one.__module__ == "builtins"])
