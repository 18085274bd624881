"""What are a call's arguments, in whichever form they were written down?"""

from __future__ import annotations

import json

from evalkit.trajectory.canonical import canonical_json

_LAYERS = 3
"""JSON in a string, in a string: as many layers as this are taken off."""


def parsed_arguments(arguments: object) -> tuple[str | None, str | None]:
    """Canonical JSON of the object, or else what was written, where that is none.

    An object, or a text that holds one, as deep in further texts as three layers. An empty text is an empty object, as
    servers that stream write it. Missing arguments are neither.
    """
    if arguments is None:
        return None, None
    value = arguments
    for _ in range(_LAYERS):
        if not isinstance(value, str):
            break
        if not value.strip():
            return "{}", None
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None, _written(arguments)
    if isinstance(value, dict):
        try:
            return canonical_json(value), None  # pyright: ignore[reportUnknownArgumentType]
        except ValueError:
            pass
    return None, _written(arguments)


def _written(arguments: object) -> str:
    if isinstance(arguments, str):
        return arguments
    try:
        return json.dumps(arguments, ensure_ascii=False)
    except (ValueError, TypeError, RecursionError):
        return "arguments that cannot be written as JSON"
