"""How does an agent work that thinks and never acts?"""

from __future__ import annotations

from evalkit.models.personas.musing import muse
from evalkit.models.personas.persona import Move, Persona
from evalkit.models.personas.player import Plan, playing
from evalkit.models.reply import Reply

TOKENS = 500
"""Of each generation's thinking."""
GENERATIONS = 12
"""Then it submits nothing, where nobody has ended it before, as the loop `react` does after three without a call."""
_CIRCLE = (
    "Before I do anything I should consider what could go wrong, and what I should consider before that."
)


def play(_: tuple[Move, ...]) -> Plan:
    """Thoughts without a call."""
    for _number in range(GENERATIONS):
        yield Reply(reasoning=muse(_CIRCLE, TOKENS))


PARALYSED = Persona("paralysed", "thinks and never acts", needs_solution=False, make=playing(play))
