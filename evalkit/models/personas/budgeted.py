"""How does an agent work whose success depends on its thinking budget alone?

It thinks once, in the beginning: as many tokens as the task needs, or as it may, if that is less. With enough it plays
the solution, with less it submits nothing. So the success over the budget, and what it costs, are known beforehand.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from evalkit.models.personas.musing import muse
from evalkit.models.personas.persona import Move, Persona, Situation
from evalkit.models.personas.player import SUBMIT, UNKNOWN, Plan, Player, run
from evalkit.models.thinking import tokens_in

_WORDS = "I weigh what the task asks for."


@dataclass(frozen=True, slots=True)
class _Budgeted:
    tokens: int
    solves: bool

    def __call__(self, moves: tuple[Move, ...]) -> Plan:
        thinking = muse(_WORDS, self.tokens)
        for move in moves if self.solves else ():
            yield from run(move.command, thinking)
            thinking = None
        yield replace(SUBMIT, reasoning=thinking)


def make(moves: tuple[Move, ...], situation: Situation = UNKNOWN, /) -> Player:
    """`off` is none; every level but a number of tokens is as much as it takes."""
    need, level = situation.needed_tokens, situation.thinking
    most = 0 if level == "off" else tokens_in(level)
    tokens = need if most is None else min(most, need)
    return Player(_Budgeted(tokens, solves=tokens >= need), moves)


BUDGETED = Persona(
    "budgeted",
    "keeps to its thinking budget exactly, and solves a task where that is what the task needs",
    needs_solution=True,
    make=make,
)
