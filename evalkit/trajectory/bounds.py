"""Which values can a stored number, time or word never have?

Every check accepts None, which means unknown, and raises ValueError with the column's name.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import datetime

_INT64_MAX = 2**63 - 1


def check_counts(record: object, names: Iterable[str]) -> None:
    """Whole numbers from 0 that fit 64 bits."""
    for name in names:
        value: object = getattr(record, name)
        if value is None:
            continue
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _INT64_MAX:
            raise ValueError(f"{name} must be a whole number from 0, not {value!r}")


def check_integers(record: object, names: Iterable[str]) -> None:
    """Whole numbers, negative ones too, that fit 64 bits."""
    for name in names:
        value: object = getattr(record, name)
        if value is None:
            continue
        if not isinstance(value, int) or isinstance(value, bool) or not -_INT64_MAX <= value <= _INT64_MAX:
            raise ValueError(f"{name} must be a whole number of at most 64 bits, not {value!r}")


def check_finite(name: str, value: float | None) -> None:
    """Any number but NaN and the infinities."""
    if value is not None and not math.isfinite(value):
        raise ValueError(f"{name} must be finite, not {value!r}")


def check_amounts(record: object, names: Iterable[str]) -> None:
    """Finite numbers from 0: seconds, dollars."""
    for name in names:
        value: float | None = getattr(record, name)
        if value is not None and not (math.isfinite(value) and value >= 0):
            raise ValueError(f"{name} must be a finite number from 0, not {value!r}")


def check_aware(record: object, names: Iterable[str]) -> None:
    """Times that say their time zone."""
    for name in names:
        value: datetime | None = getattr(record, name)
        if value is not None and value.utcoffset() is None:
            raise ValueError(f"{name} must carry a time zone, not {value!r}")


def check_words(record: object, allowed: Mapping[str, frozenset[str]]) -> None:
    """Words of closed sets."""
    for name, words in allowed.items():
        value: object = getattr(record, name)
        if value is not None and value not in words:
            raise ValueError(f"{name} must be one of {', '.join(sorted(words))}, not {value!r}")
