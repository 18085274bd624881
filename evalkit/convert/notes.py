"""What is to be said about a file that was imported: remarks, and what of it is missing?"""

from __future__ import annotations

from collections import Counter

_MOST_KINDS = 50
"""Remarks of one file that are kept apart; a hostile file could otherwise make millions."""
_MANY = "further remarks"


class Refused(Exception):
    """A file, or a trial of it, cannot be imported; the message says why, in one line."""


class Unreadable(Refused):
    """Nobody can tell what is in a file, since the system does not let it be read."""


class Notes:
    """The remarks on one file, each once with how often it applies."""

    def __init__(self) -> None:
        self.warnings: Counter[str] = Counter()
        """What was kept, but is not as it should be."""
        self.losses: Counter[str] = Counter()
        """What could not be kept: it makes the import incomplete."""

    def warn(self, text: str, times: int = 1) -> None:
        """Something was odd, and everything that could be kept was kept."""
        _add(self.warnings, text, times)

    def lose(self, text: str, times: int = 1) -> None:
        """Something of the file is missing in the run."""
        _add(self.losses, text, times)


def _add(counter: Counter[str], text: str, times: int) -> None:
    if times <= 0:
        return
    line = " ".join(text.split())[:300]
    known = line in counter or len(counter) < _MOST_KINDS
    counter[line if known else _MANY] += times
