"""What does one command do to one resource?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from evalkit.measures.own_doing import OwnDoing
from evalkit.measures.shell_script import Ran
from evalkit.trajectory.effect import Change, Channel


@dataclass(frozen=True, slots=True)
class Touched:
    """One resource, named as in the effects of a trial; of files it may be a folder or a pattern."""

    channel: Channel
    resource: str
    change: Change
    outside: bool = False
    """Whether it is on another machine, so that nothing happens to it without a network."""


Find: TypeAlias = Callable[[Ran, OwnDoing, str], Iterator[Touched]]
"""What a command does, given what was done before it, and what its call has printed."""


def files(own: Ran, doing: OwnDoing, words: tuple[str, ...], change: Change) -> Iterator[Touched]:
    """The paths that these words name, but those that the trial has made itself."""
    for word in words:
        path = own.path(word)
        if path is not None and not path.startswith("/dev/") and not doing.has_made(path):
            yield Touched("file", path, change)
