"""How does an agent work that takes every observation for the truth?

It never repeats a call and never asks twice: where a piece has a place for what was seen, it gets exactly that.
"""

from __future__ import annotations

from evalkit.models.personas.observation import Seen
from evalkit.models.personas.persona import Move, Persona
from evalkit.models.personas.player import Plan, believing, playing, run


def play(moves: tuple[Move, ...]) -> Plan:
    """Each piece once, with what the one before showed."""
    seen: Seen | None = None
    for move in moves:
        seen = yield from run(believing(move, seen), move.thought)


BELIEVER = Persona(
    "believer",
    "plays the solution once through and believes every observation",
    needs_solution=True,
    make=playing(play),
)
