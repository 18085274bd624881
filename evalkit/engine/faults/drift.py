"""What does a result look like whose format has changed, and whose content has not?

JSON and `key: value` lines are nested under a new key; the columns of a table get new names. Whoever reads by the old
names finds nothing; whoever looks finds everything.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import cast

_KEY = re.compile(r"[A-Za-z_][\w .-]*")
_SEPARATORS = ("\t", ",", ";", "|")


def drifted(text: str, name: str) -> str | None:
    """The same content in another shape; None for text of no shape that is known here."""
    if not text.strip():
        return None
    return _json(text, name) or _json_lines(text, name) or _table(text, name) or _pairs(text, name)


def commas_separate(text: str) -> bool:
    """Whether a comma between digits stands between two values: in JSON, and in a table of columns by commas."""
    return any(
        shape is not None for shape in (_json(text, ""), _json_lines(text, ""), _table(text, "", (",",)))
    )


def _json(text: str, name: str) -> str | None:
    if not _is_whole(text):
        return None
    return _nested(text.rstrip(), name) + text[len(text.rstrip()) :]


def _json_lines(text: str, name: str) -> str | None:
    lines = text.split("\n")
    if not all(_is_whole(line) for line in lines if line.strip()):
        return None
    return "\n".join(_nested(line, name) if line.strip() else line for line in lines)


def _nested(text: str, name: str) -> str:
    """Its own letters stay as they are: parsed and written again, numbers would look different."""
    return f"{{{json.dumps(name)}: {text.strip()}}}"


def _is_whole(text: str) -> bool:
    """Whether the text is a JSON object or array that holds something."""
    if text.strip()[:1] not in {"{", "["}:
        return False
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return bool(cast("dict[str, object] | list[object]", value))


def _table(text: str, name: str, separators: Sequence[str] = _SEPARATORS) -> str | None:
    """With new names in the first line of what is separated alike in every line."""
    head, newline, rows = text.partition("\n")
    for separator in separators:
        names = [column.strip() for column in head.split(separator)]
        alike = {line.count(separator) for line in rows.split("\n") if line.strip()}
        if alike == {len(names) - 1} and len(names) > 1 and all(map(_is_name, names)):
            return separator.join(f"{name}.{column}" for column in names) + newline + rows
    return None


def _is_name(column: str) -> bool:
    return any(char.isalpha() for char in column)


def _pairs(text: str, name: str) -> str | None:
    """Every line indented under the new key, where all are `key: value`, or with longer names where all are
    `key=value`.
    """
    lines = text.split("\n")
    told = [line for line in lines if line.strip()]
    if all(_is_pair(line, "=") for line in told):
        return "\n".join(f"{name}.{line}" if line.strip() else line for line in lines)
    if all(_is_pair(line, ":") for line in told):
        return f"{name}:\n" + "\n".join(f"  {line}" if line.strip() else line for line in lines)
    return None


def _is_pair(line: str, separator: str) -> bool:
    key, found, _ = line.partition(separator)
    return bool(found) and _KEY.fullmatch(key.strip()) is not None
