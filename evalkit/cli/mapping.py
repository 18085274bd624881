"""Which agents of two runs does the command line say belong together?"""

from __future__ import annotations

from collections.abc import Sequence

from evalkit.errors import UsageError


def mapping(given: Sequence[str]) -> dict[str, str]:
    """`--map A=B` as pairs. Raises UsageError for what names no two agents."""
    mapped: dict[str, str] = {}
    for pair in given:
        one, equals, other = pair.partition("=")
        if not (one and equals and other):
            raise UsageError(f"--map {pair!r} names no two agents", hint="Write --map A_ID=B_ID.")
        mapped[one] = other
    return mapped
