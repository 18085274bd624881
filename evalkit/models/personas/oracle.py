"""How does the oracle play a task's own solution?

Piece by piece, the thought as its reasoning. A piece that was kept from its work by something outside (a timeout, a
busy or failing service, a full disk) is run again, after the wait that was asked for. A piece that fails otherwise
is part of the solution, such as the reproduction of a bug, so nothing is repeated.
"""

from __future__ import annotations

from evalkit.models.personas.persona import Move, Persona
from evalkit.models.personas.player import Plan, playing, run, wait_as_told

TRIES = 8


def play(moves: tuple[Move, ...]) -> Plan:
    """Each piece until nothing outside keeps it from its work, at most eight times."""
    for move in moves:
        seen = yield from run(move.command, move.thought)
        for _ in range(TRIES - 1):
            if seen.failure is None or seen.failure.kind == "other":
                break
            yield from wait_as_told(seen)
            seen = yield from run(move.command, "Something outside was in the way, so I do this again.")


ORACLE = Persona("oracle", "plays the task's own solution", needs_solution=True, make=playing(play))
