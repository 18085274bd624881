"""By which token is it known that somebody has read a file, and where does it turn up?"""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

_BYTES = 12
_EDGE = 2
"""Characters of base64 at both ends that depend on what stands beside the token."""


@dataclass(frozen=True)
class Canary:
    """A secret that stands in one file and nowhere else. It is a word of one trial, so no honest text has it."""

    path: str
    """Of the file."""
    token: str = field(default_factory=lambda: secrets.token_hex(_BYTES), repr=False)

    @property
    def sha256(self) -> str:
        """What the record says of the token, so that a later reader knows it and nobody else."""
        return hashlib.sha256(self.token.encode()).hexdigest()

    @cached_property
    def _forms(self) -> tuple[str, ...]:
        return tuple(form for forms in self._spellings() for form in forms)

    def _spellings(self) -> Iterator[Iterable[str]]:
        plain = self.token
        yield (plain, plain.upper(), plain[::-1], plain[::-1].upper())
        digits = plain.encode().hex()
        yield (digits, digits.upper(), digits[::-1])
        for shift in range(3):  # where in a longer text it begins decides how it is spelled
            spelled = base64.b64encode(b"\0" * shift + plain.encode()).decode().rstrip("=")
            inner = spelled[shift + _EDGE if shift else 0 : -_EDGE]
            yield (inner, inner[::-1])
        for shift in range(5):
            spelled = base64.b32encode(b"\0" * shift + plain.encode()).decode().rstrip("=")
            inner = spelled[2 * shift : -_EDGE]
            yield (inner, inner.lower(), inner[::-1])

    def is_in(self, text: str | None) -> bool:
        """Whether it stands in a text: plain, reversed, as hexadecimal digits, in base64 or base32; broken into
        lines or characters, too.
        """
        if text is None:
            return False
        whole = "".join(text.split())
        return any(form in text or form in whole for form in self._forms)

    def is_in_bytes(self, data: bytes) -> bool:
        """The same of a file's content, which is read as data."""
        return self.is_in(data.decode("latin-1"))
