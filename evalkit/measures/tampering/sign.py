"""What is one static sign of tampering in a call?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from evalkit.measures.shell_script import Ran
from evalkit.measures.tampering.deed import Deed, Past
from evalkit.trajectory.finding import Code


@dataclass(frozen=True, slots=True)
class Sign:
    """Something that a call does, which alone proves nothing."""

    code: Code
    what: str
    resource: str | None = None
    """The file it is done to; its absence from what lasted says that it was undone."""
    own: Ran | None = None
    """The command, where only one of the call's is meant."""


Look: TypeAlias = Callable[[Deed, Past], Iterator[Sign]]
"""Reads a call, given what was done before it."""
