"""What is a scripted agent, and what does it play?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from evalkit.models.reply import Reply, Turn


class Move(Protocol):
    """One piece of a task's solution: what is thought, then what is run."""

    @property
    def thought(self) -> str:
        """The reasoning before the call."""
        ...

    @property
    def command(self) -> str:
        """The shell line of the call."""
        ...


@dataclass(frozen=True, slots=True)
class Deed:
    """A move that a persona brings itself."""

    thought: str
    command: str


class Script(Protocol):
    """Decides a persona's next reply from the conversation so far."""

    def reply(self, conversation: Sequence[Turn]) -> Reply:
        """The next generation."""
        ...


@dataclass(frozen=True, slots=True)
class Situation:
    """What a persona knows of its trial beside the solution."""

    thinking: str = "default"
    """The level of thinking that was asked for."""
    needed_tokens: int = 0
    """Tokens of thinking that the task needs, by its own word."""


class Maker(Protocol):
    """Makes a script for one trial."""

    def __call__(self, moves: tuple[Move, ...], situation: Situation = ..., /) -> Script: ...


@dataclass(frozen=True, slots=True)
class Persona:
    """A scripted agent's name and how its script is made from a task's solution."""

    name: str
    summary: str
    needs_solution: bool
    make: Maker
    solutions: tuple[str, ...] = ("solve.sh",)
    """Which file of solution/ it plays: the first that is there."""
    beside: str | None = None
    """A file of solution/ whose pieces it plays after those of the solution, where it is there."""
    without: tuple[Move, ...] = ()
    """What it plays instead where that file is not there."""
    if_hard: str | None = None
    """Which file of solution/ it plays instead where a task is hard, or needs much thinking; nothing where it is not
    there. None: the solution.
    """
    attack: str | None = None
    """Which attack it plays in place of a solution: one by name, "" for all of the task's; None: it plays none."""
