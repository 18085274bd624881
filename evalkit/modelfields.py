"""Which keys does a pydantic model know at a given place, and which keys did an input have beyond them?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast, get_args, get_origin

from pydantic import BaseModel

KeyPath = tuple[str | int, ...]
"""Keys and list positions from the top of a document down to one value."""


def keys_at(model: type[BaseModel], path: KeyPath) -> tuple[str, ...]:
    """The keys that may stand in the table at `path` of a document that `model` describes."""
    current: type[BaseModel] | None = model
    named = False  # whether the next key is a name that the document gives, as in a table of tables
    for part in path:
        if isinstance(part, int):
            continue
        if named:
            named = False
            continue
        field = next((f for name, f in current.model_fields.items() if part in (name, f.alias)), None)
        current = next(_models_in(field.annotation), None) if field else None
        if current is None:
            return ()
        named = field is not None and get_origin(field.annotation) in (Mapping, dict)
    return tuple(field.alias or name for name, field in current.model_fields.items())


def unknown_keys(value: object, path: KeyPath = ()) -> Iterator[KeyPath]:
    """The paths of all keys that the models of a validated value did not know (models with extra="allow")."""
    if isinstance(value, BaseModel):
        for name in value.model_extra or {}:
            yield (*path, name)
        for name in type(value).model_fields:
            yield from unknown_keys(getattr(value, name), (*path, name))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(cast("tuple[object, ...]", value)):
            yield from unknown_keys(item, (*path, index))


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models_in(argument)
