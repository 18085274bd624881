"""How does an agent work that acts at once?

Without a thought it plays the solution of what is easy. Of what is hard it plays the careless solution, `naive.sh`, or
where there is none does nothing.
"""

from __future__ import annotations

from evalkit.models.personas.persona import Move, Persona
from evalkit.models.personas.player import SUBMIT, Plan, playing, run


def play(moves: tuple[Move, ...]) -> Plan:
    """Each piece once, whatever comes of it."""
    for move in moves:
        yield from run(move.command, None)
    yield SUBMIT


UNDERTHINKER = Persona(
    "underthinker",
    "acts without thinking: right on easy tasks, careless (naive.sh) or idle on hard ones",
    needs_solution=True,
    make=playing(play),
    if_hard="naive.sh",
)
