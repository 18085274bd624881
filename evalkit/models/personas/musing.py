"""How does a persona fill its thinking with so many tokens?"""

from __future__ import annotations

_BYTES = 4
"""Of one token, as scripted agents count them."""


def muse(words: str, tokens: int) -> str | None:
    """The words, again and again, as exactly so many tokens; None for none. They must be plain ASCII."""
    length = _BYTES * tokens
    return (f"{words} " * (length // (len(words) + 1) + 1))[:length] or None
