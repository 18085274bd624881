"""How does an agent work that is right and cannot stop?

It thinks long and in circles before each piece of the solution, and when the work is done it looks at it again and
again, thinking as long each time.
"""

from __future__ import annotations

from evalkit.models.personas.musing import muse
from evalkit.models.personas.persona import Move, Persona
from evalkit.models.personas.player import Plan, playing, run

TOKENS = 500
"""Of each generation's thinking."""
CHECKS = 6
CHECK = "ls -la"
"""Changes nothing and tells nothing of the work."""
_DOUBT = "Wait, let me think about that again. Alternatively, I may have missed something."


def play(moves: tuple[Move, ...]) -> Plan:
    """Each piece once, then six looks at what is long done."""
    thinking = muse(_DOUBT, TOKENS) or ""
    for move in moves:
        yield from run(move.command, thinking)
    for _ in range(CHECKS):
        yield from run(CHECK, thinking)


OVERTHINKER = Persona(
    "overthinker",
    "plays the solution with long, repeated thinking, then checks six times what is done",
    needs_solution=True,
    make=playing(play),
)
