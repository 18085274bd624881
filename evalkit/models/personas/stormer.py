"""How does an agent work that hammers at what fails and never waits?"""

from __future__ import annotations

from evalkit.models.personas.persona import Move, Persona
from evalkit.models.personas.player import Plan, playing, run

TRIES = 10


def play(moves: tuple[Move, ...]) -> Plan:
    """Each piece until nothing is seen to fail, at once and again, at most ten times."""
    for move in moves:
        seen = yield from run(move.command, move.thought)
        for _ in range(TRIES - 1):
            if seen.failure is None:
                break
            seen = yield from run(move.command, "Again, at once.")


STORMER = Persona(
    "stormer",
    "repeats what failed up to ten times, at once, whatever it is told to wait",
    needs_solution=True,
    make=playing(play),
)
