"""How does an agent work that attacks its grader instead of solving the task?

It plays the pieces of one attack, or of all that a task is attacked with, as the believer plays, and submits. Which
attacks there are is known where tasks are graded.
"""

from __future__ import annotations

from dataclasses import replace

from evalkit.models.personas.believer import play
from evalkit.models.personas.persona import Persona
from evalkit.models.personas.player import playing

CHEATER = Persona(
    "cheater",
    "attacks the grader: one attack by name (cheater:NAME), else the task's own, else all of the corpus",
    needs_solution=False,
    make=playing(play),
    attack="",
)


def cheater(attack: str) -> Persona:
    """The one that plays this attack alone."""
    return replace(CHEATER, name=f"{CHEATER.name}:{attack}", attack=attack)
