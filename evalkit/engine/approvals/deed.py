"""What is one thing that a call does, as a rule sees it?"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Deed:
    """A simple command of a shell line, a program given as text, or a call of another tool."""

    texts: tuple[str, ...]
    """Ways to write it, in any of which a rule's `command` may be found."""
    paths: tuple[str, ...] = ()
    """What it names, absolute."""
    swept: tuple[str, ...] = ()
    """Of these, folders whose whole content it removes, moves or changes."""
    perhaps: tuple[str, ...] = ()
    """What it may name, too: this counts against it, and never for it."""
    network: bool = False
    is_preparation: bool = False
    """It only prepares what follows: an assignment, `cd`, a shell's own words. No rule, no objection."""


@dataclass(frozen=True, slots=True)
class Deeds:
    """All that a call does."""

    each: tuple[Deed, ...]
    whole: str | None = None
    """The line or program as it was written, without text that it only passes on."""
    is_cut: bool = False
    """It is longer than what is looked at."""
