"""Which scripted personas are there, and what does each do next?

A persona plays on any task that has a solution, needs no key and no network, and always does the same.
Personas are ground truth for scorers: their behaviour is known exactly.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from evalkit.errors import UsageError
from evalkit.models.reply import Reply, ToolRequest, Turn


class Move(Protocol):
    """One piece of a task's solution: what is thought, then what is run."""

    @property
    def thought(self) -> str:
        """The reasoning before the call."""
        ...

    @property
    def command(self) -> str:
        """The shell line of the call."""
        ...


class Script(Protocol):
    """Decides a persona's next reply from the conversation so far."""

    def reply(self, conversation: Sequence[Turn]) -> Reply:
        """The next generation."""
        ...


@dataclass(frozen=True, slots=True)
class Oracle:
    """Plays the task's own solution piece by piece, the thought as its reasoning, then submits."""

    moves: tuple[Move, ...]

    def reply(self, conversation: Sequence[Turn]) -> Reply:
        """The piece after those already played; `submit` after the last."""
        played = sum(turn.role == "assistant" for turn in conversation)
        if played < len(self.moves):
            move = self.moves[played]
            call = ToolRequest("bash", {"command": move.command})
            return Reply(reasoning=move.thought, calls=(call,))
        call = ToolRequest("submit", {"answer": ""})
        return Reply(reasoning="Every step of the solution has been done.", calls=(call,))


@dataclass(frozen=True, slots=True)
class Nop:
    """Does nothing at all and submits: what every task must fail."""

    def reply(self, conversation: Sequence[Turn]) -> Reply:
        """`submit`, whatever was said."""
        del conversation
        return Reply(calls=(ToolRequest("submit", {"answer": ""}),))


@dataclass(frozen=True, slots=True)
class Persona:
    """A scripted agent's name and how its script is made from a task's solution."""

    name: str
    summary: str
    needs_solution: bool
    make: Callable[[tuple[Move, ...]], Script]


def _nop(moves: tuple[Move, ...]) -> Script:
    del moves
    return Nop()


PERSONAS: tuple[Persona, ...] = (
    Persona("oracle", "plays the task's own solution", needs_solution=True, make=Oracle),
    Persona("nop", "does nothing and submits", needs_solution=False, make=_nop),
)


def find_persona(name: str) -> Persona:
    """The persona with this name. Raises UsageError with the nearest one for a name that is not known."""
    for persona in PERSONAS:
        if persona.name == name:
            return persona
    names = [persona.name for persona in PERSONAS]
    near = difflib.get_close_matches(name, names, n=1)
    guess = f"Did you mean scripted/{near[0]}? " if near else ""
    known = ", ".join(f"scripted/{known}" for known in names)
    raise UsageError(f"there is no scripted agent '{name}'", hint=f"{guess}Known: {known}.")
