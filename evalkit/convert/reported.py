"""Which numbers and times that somebody reported can be stored?

What makes no sense is None, and is remarked on; None itself is simply not reported.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import TypeVar

from evalkit.convert.notes import Notes
from evalkit.models.reconcile import cost, count

Found = TypeVar("Found")


def tokens(value: object, notes: Notes, name: str = "tokens") -> int | None:
    """A token count. A number in a text counts; a negative one, a fraction or an absurd one does not."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 19:
        notes.warn(f"{name} are a text, not a number")
        value = int(value)
    return _told(value, count(value), notes, name)


def dollars(value: object, notes: Notes, name: str = "a cost") -> float | None:
    """An amount of money, not negative."""
    return _told(value, cost(value), notes, name)


def seconds(value: object, notes: Notes, name: str = "a duration") -> float | None:
    """A duration, not negative."""
    return _told(value, cost(value), notes, name)


def finite(value: object, notes: Notes, name: str) -> float | None:
    """Any finite number: a reward, a score."""
    fits = isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e300
    return _told(value, float(value) if fits and math.isfinite(value) else None, notes, name)  # pyright: ignore[reportArgumentType]


def moment(value: object, notes: Notes, name: str = "a time") -> datetime | None:
    """A time as ISO 8601 text, which is UTC where it names no zone, or as seconds since 1970. 0 is no time."""
    found: datetime | None = None
    try:
        if isinstance(value, str):
            found = datetime.fromisoformat(value)
            found = found.replace(tzinfo=UTC) if found.utcoffset() is None else found.astimezone(UTC)
        elif isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0:
            found = datetime.fromtimestamp(value, UTC)
    except (ValueError, OverflowError, OSError):
        found = None
    if found is not None and not 1970 <= found.year <= 2200:
        found = None
    return _told(value, found, notes, name)


def between(start: datetime | None, end: datetime | None, notes: Notes) -> float | None:
    """Seconds from one time to another; None where one is unknown, or the clock went backwards."""
    if start is None or end is None:
        return None
    passed = (end - start).total_seconds()
    if passed < 0:
        notes.warn("the clock went backwards, so a duration is unknown")
        return None
    return passed


def _told(value: object, found: Found | None, notes: Notes, name: str) -> Found | None:
    if value is not None and found is None:
        verbs = ("make", "count") if name.endswith("s") else ("makes", "counts")
        notes.warn(f"{name} that {verbs[0]} no sense {verbs[1]} as unknown")
    return found
