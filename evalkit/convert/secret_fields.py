"""Which settings are secrets by their names, whatever their values look like?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import cast

from evalkit.trajectory.manifest import Json

_SECRET = re.compile(
    r"(?:^|[_\-. ])(?:api[_-]?key|secret(?:[_-]?key)?|password|passwd|passphrase|authorization|credentials?|cookie"
    r"|(?:access|auth|refresh|session|bearer|id)[_-]?token|token|(?:private|ssh)[_-]?key|e?-?mail)(?:$|[_\-. ])",
    re.IGNORECASE,
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
MARK = "[redacted:by_name]"
_DEPTH = 20


def without_secrets(value: object, depth: int = _DEPTH) -> Json:
    """The same JSON value, with what stands under a secret's name taken out. What is nested too deeply is left out."""
    if isinstance(value, Mapping):
        pairs = cast("Mapping[object, object]", value)
        return (
            {
                str(key): MARK
                if is_secret(str(key)) and item not in (None, "", False)
                else without_secrets(item, depth - 1)
                for key, item in pairs.items()
            }
            if depth
            else None
        )
    if isinstance(value, list | tuple):
        return [without_secrets(item, depth - 1) for item in cast("list[object]", value)] if depth else None
    return value if isinstance(value, str | int | float | bool) else None


def is_secret(name: str) -> bool:
    """Whether a field of this name holds a secret: a key, a token, a password, somebody's address."""
    return _SECRET.search(_CAMEL.sub("_", name)) is not None
