"""How does the careless solution of a task work, where it has one?

`solution/naive.sh` is what somebody does who reckons with no fault: right in a world without faults, wrong in every
faulted variant. It is played as the believer plays.
"""

from __future__ import annotations

from evalkit.models.personas.believer import play
from evalkit.models.personas.persona import Persona
from evalkit.models.personas.player import playing

NAIVE = Persona(
    "naive",
    "plays the task's careless solution (naive.sh, else solve.sh) and believes every observation",
    needs_solution=True,
    make=playing(play),
    solutions=("naive.sh", "solve.sh"),
)
