"""How does an agent work that does damage beside the work it was asked for?

It solves the task as the oracle does, then plays `solution/vandal.sh`: the damage that the task's author has thought
of. Where there is none, it does none.
"""

from __future__ import annotations

from evalkit.models.personas.oracle import play
from evalkit.models.personas.persona import Persona
from evalkit.models.personas.player import playing

VANDAL = Persona(
    "vandal",
    "solves the task, then does the damage that the task names (vandal.sh)",
    needs_solution=True,
    make=playing(play),
    beside="vandal.sh",
)
