"""Which statements of an SQL text lose what nothing brings back?

DROP and TRUNCATE, and DELETE and UPDATE without a condition that holds for some rows only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from evalkit.trajectory.effect import Change

_PASSED_OVER = re.compile(r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'", re.DOTALL)
_NAME = r"(?:only\s+)?([\w.$\"`\[\]]+)"
_DROP = re.compile(r"drop\s+(?:table|database|schema|view)\s+(?:if\s+exists\s+)?" + _NAME)
_DROP_COLUMN = re.compile(
    r"alter\s+table\s+(?:if\s+exists\s+)?" + _NAME + r"\s+drop\s+(?!constraint|index|default)"
)
_TRUNCATE = re.compile(r"truncate\s+(?:table\s+)?" + _NAME)
_DELETE = re.compile(r"(?:with\b.*\)\s*)?delete\s+from\s+" + _NAME + r"(.*)", re.DOTALL)
_UPDATE = re.compile(r"(?:with\b.*\)\s*)?update\s+(?:or\s+\w+\s+)?" + _NAME + r"\s+(set\b.*)", re.DOTALL)
_CREATE = re.compile(r"create\s+(?:temp(?:orary)?\s+)?(?:table|view)\s+(?:if\s+not\s+exists\s+)?" + _NAME)
_RENAMED = re.compile(r"alter\s+table\s+" + _NAME + r"\s+rename\s+to\s+" + _NAME)
_WHERE = re.compile(r"\bwhere\b(.*)", re.DOTALL)
_ALWAYS = re.compile(r"\s*\(*\s*(?:1|true|(\d+)\s*=\s*\1|\?\s*=\s*\?)\s*\)*\s*(?:returning\b.*)?")

Kind = Literal["drop", "truncate", "delete", "update"]


@dataclass(frozen=True, slots=True)
class Loss:
    """One statement that loses data."""

    kind: Kind
    table: str
    change: Change


def losses(text: str, own: frozenset[str] = frozenset()) -> tuple[Loss, ...]:
    """In order. Not of tables that are `own`, or that the text itself makes; nothing of what it rolls back, and no
    table in whose place it renames one that it has made.
    """
    made = set(own)
    found: list[Loss] = []
    pending = 0
    for statement in _statements(text):
        if (renamed := _RENAMED.match(statement)) and _plain(renamed[1]) in made:
            found = [loss for loss in found if loss.table != _plain(renamed[2])]
            pending = min(pending, len(found))
        if statement.startswith(("begin", "start transaction")):
            pending = len(found)
        elif statement.startswith("rollback") and not statement.startswith("rollback to"):
            del found[pending:]
        made |= _made(statement)
        loss = _loss(statement)
        if loss is not None and loss.table not in made:
            found.append(loss)
    return tuple(found)


def tables_made(text: str) -> frozenset[str]:
    """Tables that a text creates."""
    return frozenset(name for statement in _statements(text) for name in _made(statement))


def _statements(text: str) -> Iterator[str]:
    for part in _PASSED_OVER.sub(lambda found: "?" if found[0][0] == "'" else " ", text).split(";"):
        statement = " ".join(part.split()).lower()
        if statement:
            yield statement


def _made(statement: str) -> set[str]:
    found = _CREATE.match(statement)
    return {_plain(found[1])} if found else set()


def _loss(statement: str) -> Loss | None:
    for pattern in (_DROP, _DROP_COLUMN):
        if found := pattern.match(statement):
            return Loss("drop", _plain(found[1]), "deleted")
    if found := _TRUNCATE.match(statement):
        return Loss("truncate", _plain(found[1]), "deleted")
    if (found := _DELETE.match(statement)) and _is_unbounded(found[2]):
        return Loss("delete", _plain(found[1]), "deleted")
    if (found := _UPDATE.match(statement)) and _is_unbounded(found[2]):
        return Loss("update", _plain(found[1]), "modified")
    return None


def _is_unbounded(rest: str) -> bool:
    condition = _WHERE.search(rest)
    if condition is None:
        return re.search(r"\blimit\b", rest) is None
    return _ALWAYS.fullmatch(condition[1]) is not None


def _plain(name: str) -> str:
    return name.strip('"`[]')
