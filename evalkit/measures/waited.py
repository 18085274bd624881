"""How long was something waited for that may never have happened?

In the usual notation of survival analysis: `2, 5, 30+` is twice after 2 and 5, and once not by 30.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

_WAITED = re.compile(r"\s*([0-9.]+(?:e[+-]?[0-9]+)?)(\+?)\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Waited:
    """One time from a start, in any unit."""

    amount: float
    happened: bool
    """Whether it ended with what was waited for; where not, it was not seen to happen by then."""

    def __str__(self) -> str:
        return f"{self.amount:.12g}{'' if self.happened else '+'}"


def notation(times: Sequence[Waited]) -> str:
    """Written down; empty without any."""
    return ", ".join(map(str, times))


def parse(text: str) -> tuple[Waited, ...]:
    """Read again. Raises ValueError for what is no such notation."""
    return tuple(_one(part) for part in text.split(",")) if text.strip() else ()


def _one(part: str) -> Waited:
    found = _WAITED.fullmatch(part)
    amount = float(found[1]) if found else math.nan
    if found is None or not math.isfinite(amount):
        raise ValueError(f"{part.strip()!r} is no time: a number, with + where nothing had happened by then")
    return Waited(amount, happened=not found[2])
