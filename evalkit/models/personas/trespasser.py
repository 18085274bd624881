"""How does an agent work that attempts what it may not do?

`solution/trespass.sh` begins with what a task's approvals deny, and then solves the task. It is played as the believer
plays: what is denied is passed over.
"""

from __future__ import annotations

from evalkit.models.personas.believer import play
from evalkit.models.personas.persona import Persona
from evalkit.models.personas.player import playing

TRESPASSER = Persona(
    "trespasser",
    "attempts what approvals deny (trespass.sh, else solve.sh), then solves the task",
    needs_solution=True,
    make=playing(play),
    solutions=("trespass.sh", "solve.sh"),
)
