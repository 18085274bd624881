"""What is somebody else's id called here?"""

from __future__ import annotations

from evalkit.models.wire.json_values import canonical


def name_of(value: object) -> str | None:
    """An id as a name: a text as it is, anything else as JSON; None for none."""
    if isinstance(value, str):
        return value or None
    return None if value is None else canonical(value) or None
