"""How is a JSON value written so that equal values are equal text?"""

from __future__ import annotations

import json


def canonical_json(value: object) -> str:
    """The one JSON text of `value`: sorted keys, no spaces, characters as they are.

    Raises ValueError for what JSON cannot hold: NaN and infinities, other types, keys that cannot be
    ordered, circles, and nesting deeper than the interpreter's recursion limit.
    """
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    except TypeError as error:
        raise ValueError(f"not JSON: {error}") from error
    except RecursionError as error:
        raise ValueError("not JSON: nested too deeply") from error
