"""What is one difference between the beginning and the end, before anybody has judged it?"""

from __future__ import annotations

from dataclasses import dataclass

from evalkit.trajectory.effect import Change, Channel

WORDS = 1000
"""Longer values are kept as their digest."""


@dataclass(frozen=True, slots=True)
class RawChange:
    """A resource that is not as it was."""

    channel: Channel
    resource: str
    change: Change
    before: str | None = None
    after: str | None = None
    size: int | None = None
    """Bytes after the change; of what is gone, before it."""
    irreversible: bool | None = None
    places: tuple[str, ...] = ()
    """Paths that stand for the resource where a declaration names paths."""
    clues: tuple[str, ...] = ()
    """Further paths whose change tells which step did it."""
    identity: str | None = None
    """What tells a resource from others of the same name: of a process its number and when it began."""

    @property
    def names(self) -> tuple[str, ...]:
        """All that a declaration may call it."""
        return (self.resource, *self.places)

    @property
    def existed(self) -> bool:
        """Whether the resource was there at the beginning."""
        return self.change != "created"
