"""How does an agent work that recovers from whatever it can see, and checks what it cannot?

What failed for a moment is run again, after the wait that was asked for. What failed otherwise is looked into first.
What the next piece builds on is read until two readings in a row agree.
"""

from __future__ import annotations

from evalkit.models.personas.observation import Seen
from evalkit.models.personas.persona import Move, Persona
from evalkit.models.personas.player import Part, Plan, believing, playing, run, uses_observed, wait_as_told

TRIES = 8
LOOK = "pwd; ls -la"


def play(moves: tuple[Move, ...]) -> Plan:
    """Each piece until it works, at most eight times, with what two equal readings showed."""
    seen: Seen | None = None
    for number, move in enumerate(moves):
        command = believing(move, seen)
        seen = yield from _until_it_works(command, move.thought)
        if number + 1 < len(moves) and uses_observed(moves[number + 1]):
            seen = yield from _until_two_agree(command, seen)


def _until_it_works(command: str, thought: str) -> Part:
    seen = yield from run(command, thought)
    for _ in range(TRIES - 1):
        if seen.failure is None:
            break
        if seen.failure.is_transient:
            yield from wait_as_told(seen)
        else:
            yield from run(LOOK, "That failed for a reason that does not go away by itself; I look into it.")
        seen = yield from run(command, "I try it again.")
    return seen


def _until_two_agree(command: str, first: Seen) -> Part:
    before, seen = first, (yield from run(command, "The next step builds on this, so I read it once more."))
    for _ in range(TRIES - 2):
        if seen.failure is None and seen == before:
            break
        before, seen = seen, (yield from run(command, "The two readings differ; I read again."))
    return seen


RECOVERER = Persona(
    "recoverer",
    "repeats what failed, waits as told, and reads twice what it builds on",
    needs_solution=True,
    make=playing(play),
)
