"""Which trials of several files are attempts at the same planned row?

A harness that tries a failed task again may write a further log of it. Files come in any order, and an attempt's number
is its place in time, so that numbers are settled when all files are read.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """Names the attempts that belong together, and this one's place among them."""

    of: str
    """What all of them have in common, such as the id of an evaluation that goes on in further logs."""
    at: datetime | None = None
    """When this one was begun; None where it is not known: then the order counts in which they are read."""


@dataclass(slots=True)
class _Row:
    epoch: int
    attempts: list[tuple[str, datetime | None, str]] = field(
        default_factory=list[tuple[str, datetime | None, str]]
    )
    """The file, the time and the trial's id of each, as they were read."""


class Retries:
    """The attempts at every row so far."""

    def __init__(self) -> None:
        self._rows: dict[Hashable, _Row] = {}

    def further(self, key: Hashable, file: str) -> tuple[int, int] | None:
        """The epoch and the next attempt of a row that another file began; None where there is no such row."""
        row = self._rows.get(key)
        if row is None or row.attempts[-1][0] == file:
            return None
        return row.epoch, len(row.attempts) + 1

    def add(self, key: Hashable, epoch: int, file: str, at: datetime | None, trial_id: str) -> None:
        """Remember an attempt, the first of its row or a further one. Another epoch is another row, and is left out."""
        row = self._rows.setdefault(key, _Row(epoch))
        if row.epoch == epoch:
            row.attempts.append((file, at, trial_id))

    def numbers(self) -> Mapping[str, int]:
        """The attempt that a trial is, by its id, where it is another than that which it got when it was read."""
        found: dict[str, int] = {}
        for row in self._rows.values():
            timed = [(at, place) for place, (_, at, _) in enumerate(row.attempts) if at is not None]
            if len(timed) < len(row.attempts):
                continue
            for number, (_, place) in enumerate(sorted(timed), 1):
                if number != place + 1:
                    found[row.attempts[place][2]] = number
        return found
