"""What is an importer? One file of this package, for one format."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from evalkit.convert.converted import Converted
from evalkit.convert.notes import Notes
from evalkit.convert.source import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What whoever imports has to say himself, because no format does."""

    pass_reward: float = 1.0
    """A reward from which on a trial counts as passed, where the format has rewards only."""
    suite: str | None = None
    """A name for the suite, instead of the one that the format tells."""
    agent: str | None = None
    """An id for the agent, instead of the one that the format tells."""


class Importer(Protocol):
    """Reads one format. Its module says in a docstring what the format looks like, and what it can and cannot know."""

    name: str
    """As it is named on the command line."""

    def expects(self, name: str) -> bool:
        """Whether a file of this name (without `.gz`) can only be one of this format: it is a bad file where it is
        none.
        """
        ...

    def recognises(self, source: Source) -> bool:
        """Whether this is a file of this format, told from its name and its head. Raises Refused for what cannot be
        read.
        """
        ...

    def convert(self, source: Source, notes: Notes, options: Options) -> Iterator[Converted]:
        """Its trials, one after the other; Refused where there is nothing to be had.

        Files that belong to it (reports, metadata) are looked for beside it.
        """
        ...
