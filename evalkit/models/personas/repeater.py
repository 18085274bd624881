"""How does an agent work that tries everything three times and changes nothing between?"""

from __future__ import annotations

from evalkit.models.personas.persona import Move, Persona
from evalkit.models.personas.player import Plan, playing, run

TIMES = 3


def play(moves: tuple[Move, ...]) -> Plan:
    """Each piece; one that visibly fails three times in all, with nothing between, then the next."""
    for move in moves:
        seen = yield from run(move.command, move.thought)
        for _ in range(TIMES - 1):
            if seen.failure is None:
                break
            seen = yield from run(move.command, "Again.")


REPEATER = Persona(
    "repeater",
    "runs what failed three times in all, with nothing between, then goes on",
    needs_solution=True,
    make=playing(play),
)
