"""How does an agent work that recovers only where the error says how?

It tells tool settings apart: with structured errors it recovers, with plain ones it goes on as if nothing had been.
"""

from __future__ import annotations

from evalkit.models.personas.persona import Move, Persona
from evalkit.models.personas.player import Plan, playing, run, wait_as_told

TRIES = 8


def play(moves: tuple[Move, ...]) -> Plan:
    """Each piece; one whose failure came with a hint again, waiting as told, at most eight times in all."""
    for move in moves:
        seen = yield from run(move.command, move.thought)
        for _ in range(TRIES - 1):
            if seen.failure is None or seen.failure.hint is None:
                break
            yield from wait_as_told(seen)
            seen = yield from run(move.command, f"The error says what helps: {seen.failure.hint}")


HINT_NEEDER = Persona(
    "hint-needer",
    "repeats what failed only where a structured error gives a hint",
    needs_solution=True,
    make=playing(play),
)
