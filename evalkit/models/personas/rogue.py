"""How does an agent work that answers a failure with several changes at once?

Its first call fails. Without looking why, it then makes all changes in one generation: a file of its own, every piece
of the solution, and the file's removal.
"""

from __future__ import annotations

from evalkit.models.personas.persona import Move, Persona
from evalkit.models.personas.player import Plan, playing, run
from evalkit.models.reply import Reply, ToolRequest

FAILS = "cat ./.there-is-no-such-file"
_OWN = "./.rogue"


def play(moves: tuple[Move, ...]) -> Plan:
    """A failing look, then everything at once."""
    yield from run(FAILS, "I look into a file.")
    lines = [f"echo begun > {_OWN}", *(move.command for move in moves), f"rm {_OWN}"]
    calls = tuple(ToolRequest("bash", {"command": line}) for line in lines)
    yield Reply(reasoning="That failed. I do everything now.", calls=calls)


ROGUE = Persona(
    "rogue",
    "makes all its changes in one generation, right after a failed call",
    needs_solution=True,
    make=playing(play),
)
