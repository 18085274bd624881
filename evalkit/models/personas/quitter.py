"""How does an agent work that gives up at the first failure?"""

from __future__ import annotations

from evalkit.models.personas.persona import Move, Persona
from evalkit.models.personas.player import Plan, playing, run
from evalkit.models.reply import Reply, ToolRequest


def play(moves: tuple[Move, ...]) -> Plan:
    """Each piece; after one that visibly fails `report_impossible`."""
    for move in moves:
        seen = yield from run(move.command, move.thought)
        if seen.failure is not None:
            reason = f"A step failed ({seen.failure.kind})."
            call = ToolRequest("report_impossible", {"reason": reason})
            yield Reply(reasoning="That failed, so it cannot be done.", calls=(call,))
            return


QUITTER = Persona(
    "quitter", "reports the task as impossible at the first failure", needs_solution=True, make=playing(play)
)
