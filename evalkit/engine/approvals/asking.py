"""Who is asked whether a call may run?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Question:
    """A call that a rule wants to be asked about."""

    agent: str
    task: str
    """`suite/task`."""
    tool: str
    call: str
    """The shell line or program, else the arguments as canonical JSON. Written by a model: hostile."""
    rule: str


class Asker(Protocol):
    """Somebody who can be asked. Asked by several trials at once, it takes one question after the other."""

    async def ask(self, question: Question) -> bool | None:
        """Whether the call may run; None where nobody is there to say."""
        ...
