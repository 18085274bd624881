"""Which of the equal rows of a file is this?

Two equal rows of one file are two attempts that went alike, as those of a deterministic model do. The same file once
more is a copy. So what a row and its copy have in common is its content and how often the file held it before.
"""

from __future__ import annotations

import hashlib
from collections import Counter

from evalkit.models.wire.json_values import canonical


class Occurrences:
    """The rows of one file so far."""

    def __init__(self) -> None:
        self._seen: Counter[bytes] = Counter()

    def identity(self, row: object) -> str | None:
        """For `Converted.identity`; None for a row that cannot be written as JSON."""
        text = canonical(row)
        if not text:
            return None
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        self._seen[digest] += 1
        return f"{digest.hex()}:{self._seen[digest]}"
