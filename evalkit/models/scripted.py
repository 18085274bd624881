"""Which scripted agents are there?

A persona plays on any task that has a solution, needs no key and no network, and always does the same.
Personas are ground truth for scorers: their behaviour is known exactly. `docs/scripted-agents.md` describes them.
"""

from __future__ import annotations

import difflib

from evalkit.errors import UsageError
from evalkit.models.personas.believer import BELIEVER
from evalkit.models.personas.budgeted import BUDGETED
from evalkit.models.personas.cheater import CHEATER, cheater
from evalkit.models.personas.hint_needer import HINT_NEEDER
from evalkit.models.personas.litterer import LITTERER
from evalkit.models.personas.naive import NAIVE
from evalkit.models.personas.nop import NOP
from evalkit.models.personas.oracle import ORACLE
from evalkit.models.personas.overthinker import OVERTHINKER
from evalkit.models.personas.paralysed import PARALYSED
from evalkit.models.personas.persona import Persona
from evalkit.models.personas.quitter import QUITTER
from evalkit.models.personas.recoverer import RECOVERER
from evalkit.models.personas.repeater import REPEATER
from evalkit.models.personas.rogue import ROGUE
from evalkit.models.personas.stormer import STORMER
from evalkit.models.personas.trespasser import TRESPASSER
from evalkit.models.personas.underthinker import UNDERTHINKER
from evalkit.models.personas.vandal import VANDAL

PERSONAS: tuple[Persona, ...] = (
    ORACLE,
    NOP,
    NAIVE,
    RECOVERER,
    REPEATER,
    QUITTER,
    STORMER,
    BELIEVER,
    HINT_NEEDER,
    TRESPASSER,
    VANDAL,
    LITTERER,
    CHEATER,
    OVERTHINKER,
    UNDERTHINKER,
    PARALYSED,
    ROGUE,
    BUDGETED,
)


def find_persona(name: str) -> Persona:
    """The persona with this name; `cheater:NAME` is the cheater with one attack.

    Raises UsageError with the nearest one for a name that is not known. Whether the attack exists is known only where
    the tasks are.
    """
    for persona in PERSONAS:
        if persona.name == name:
            return persona
    begin, _, attack = name.partition(":")
    if begin == CHEATER.name and attack:
        return cheater(attack)
    names = [persona.name for persona in PERSONAS]
    near = difflib.get_close_matches(begin, names, n=1)
    tail = f":{attack}" if attack and near == [CHEATER.name] else ""
    guess = f"Did you mean scripted/{near[0]}{tail}? " if near else ""
    known = ", ".join(f"scripted/{known}" for known in names)
    raise UsageError(
        f"there is no scripted agent '{name}'", hint=f"{guess}Known: {known}, scripted/cheater:ATTACK."
    )
