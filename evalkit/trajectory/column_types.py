"""Does a value out of JSON have the type of its column?"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

Record = TypeVar("Record")


def record_from(kind: type[Record], fields: Mapping[str, object]) -> Record:
    """A record out of what JSON said of its columns; times are ISO texts.

    Raises ValueError for an unknown or missing column, and for a value that its column cannot have.
    """
    columns = _columns(kind)
    values: dict[str, object] = {}
    for name, value in fields.items():
        if name not in columns:
            raise ValueError(f"no column {name!r}")
        try:
            values[name] = _converted(value, columns[name])
        except (TypeError, OverflowError) as error:
            raise ValueError(f"{name} cannot be {value!r}") from error
    try:
        return kind(**cast("dict[str, Any]", values))
    except (TypeError, OverflowError) as error:
        raise ValueError(f"not a whole record: {error}") from error


@cache
def _columns(kind: type[object]) -> Mapping[str, tuple[object, ...]]:
    """The types that each column may have."""
    names = getattr(kind, "__dataclass_fields__", {})
    return {name: _alternatives(hint) for name, hint in get_type_hints(kind).items() if name in names}


def _alternatives(hint: object) -> tuple[object, ...]:
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return tuple(part for one in get_args(hint) for part in _alternatives(one))
    return (str if origin is Literal else hint,)


def _converted(value: object, allowed: tuple[object, ...]) -> object:
    """The value as its column has it. Raises TypeError for another type."""
    for kind in allowed:
        accepted, convert = _READ.get(kind, ((), _same))
        if isinstance(value, accepted) and (kind is bool or not isinstance(value, bool)):
            return convert(value)
    raise TypeError("of another type than its column")


def _same(value: Any) -> object:
    return value


def _time(value: Any) -> datetime:
    time = value if isinstance(value, datetime) else datetime.fromisoformat(value)
    time.astimezone(UTC)  # Raises OverflowError for what cannot be stored.
    return time


def _texts(value: Any) -> tuple[str, ...]:
    if not all(isinstance(item, str) for item in value):
        raise TypeError("not only texts")
    return tuple(value)


_READ: Mapping[object, tuple[tuple[type, ...], Callable[[Any], object]]] = {
    types.NoneType: ((types.NoneType,), _same),
    bool: ((bool,), _same),
    str: ((str,), _same),
    int: ((int,), _same),
    float: ((int, float), float),
    datetime: ((str, datetime), _time),
    tuple[str, ...]: ((list, tuple), _texts),
}
