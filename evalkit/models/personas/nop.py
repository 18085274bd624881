"""What does an agent that does nothing do?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalkit.models.personas.persona import Move, Persona, Situation
from evalkit.models.personas.player import UNKNOWN
from evalkit.models.reply import Reply, ToolRequest, Turn


@dataclass(frozen=True, slots=True)
class Nop:
    """Does nothing at all and submits: what every task must fail."""

    def reply(self, conversation: Sequence[Turn]) -> Reply:
        """`submit`, whatever was said."""
        del conversation
        return Reply(calls=(ToolRequest("submit", {"answer": ""}),))


def _make(_: tuple[Move, ...], __: Situation = UNKNOWN, /) -> Nop:
    return Nop()


NOP = Persona("nop", "does nothing and submits", needs_solution=False, make=_make)
