"""What does a file of JSON lines begin with?"""

from __future__ import annotations

from collections.abc import Mapping

from evalkit.convert.source import Source
from evalkit.models.wire.json_values import as_object, decode


def first_object(source: Source) -> Mapping[str, object]:
    """The object on the first line that holds one; empty where no line of the head is one whole object."""
    for line in source.head.decode("utf-8-sig", "replace").split("\n"):
        if found := as_object(decode(line)):
            return found
    return {}
