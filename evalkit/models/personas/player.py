"""How does a persona's plan, written as a straight line, become its replies?

A plan is a generator: it yields a reply and is sent what came of it. A script must be a pure function of the
conversation, so each reply plays the plan from its beginning over all results so far.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from evalkit.models.personas.observation import Seen, read
from evalkit.models.personas.persona import Maker, Move, Situation
from evalkit.models.reply import Reply, ToolRequest, Turn

Plan: TypeAlias = Generator[Reply, Seen, None]
Part: TypeAlias = Generator[Reply, Seen, Seen]
"""Some calls of a plan, and the result that counts in the end."""

UNKNOWN = Situation()
SUBMIT = Reply(calls=(ToolRequest("submit", {"answer": ""}),))
"""Without a thought."""
_DONE = replace(SUBMIT, reasoning="Every step of the solution has been done.")


@dataclass(frozen=True, slots=True)
class Player:
    """Plays a plan, then submits."""

    plan: Callable[[tuple[Move, ...]], Plan]
    moves: tuple[Move, ...]

    def reply(self, conversation: Sequence[Turn]) -> Reply:
        """What the plan does after all that has come of it so far; `submit` after its end."""
        plan = self.plan(self.moves)
        said = next(plan, _DONE)
        for seen in _results(conversation):
            try:
                said = plan.send(seen)
            except StopIteration:
                return _DONE
        return said


def playing(plan: Callable[[tuple[Move, ...]], Plan]) -> Maker:
    """What makes a script of this plan, whatever the situation."""

    def make(moves: tuple[Move, ...], _: Situation = UNKNOWN, /) -> Player:
        return Player(plan, moves)

    return make


def run(command: str, thought: str | None) -> Part:
    """One shell call, with a thought or without."""
    return (yield Reply(reasoning=thought, calls=(ToolRequest("bash", {"command": command}),)))


def uses_observed(move: Move) -> bool:
    """Whether a piece has a place for what was seen before it."""
    return "${OBSERVED" in move.command


def believing(move: Move, seen: Seen | None) -> str:
    """A piece's command, given what was seen before it where it has a place for that."""
    if seen is None or not uses_observed(move):
        return move.command
    # A shell's own $(...) drops the same characters.
    observed = seen.stdout.replace("\0", "").rstrip("\n")
    return f"OBSERVED={shlex.quote(observed)}\n{move.command}"


def wait_as_told(seen: Seen) -> Generator[Reply, Seen, None]:
    """A `sleep` where the failure said how long; otherwise nothing."""
    told = seen.failure.retry_after_s if seen.failure else None
    if told:
        yield from run(f"sleep {told:g}", f"I am asked to wait {told:g} s before I try again.")


def _results(conversation: Sequence[Turn]) -> Iterator[Seen]:
    """What came of each reply; nothing to see where a reply got no result."""
    open_reply = False
    for turn in conversation:
        if turn.role == "assistant":
            if open_reply:
                yield Seen("")
            open_reply = True
        elif turn.role == "tool" and open_reply:
            yield read(turn)
            open_reply = False
    if open_reply:
        yield Seen("")
