"""What does a file of JSON lines begin with?"""

from __future__ import annotations

from collections.abc import Mapping

from evalkit.convert.source import Source
from evalkit.models.wire.json_values import as_object, decode


def first_object(source: Source) -> Mapping[str, object]:
    """The object on the first line that is not blank; empty where there is none, or it is longer than the head."""
    for line in source.head.decode("utf-8-sig", "replace").split("\n"):
        if line.strip():
            return as_object(decode(line))
    return {}
