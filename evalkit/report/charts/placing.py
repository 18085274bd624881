"""Where beside their points do labels stand, so that none covers another?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_HEIGHT = 13.0
_GAP = 8.0
_FAR = (12.0, 20.0, 32.0, 46.0, 60.0, 74.0)


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def middle(self) -> float:
        """Its height's."""
        return (self.top + self.bottom) / 2

    def meets(self, other: Box) -> bool:
        """Whether the two have room in common."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )

    def within(self, other: Box) -> bool:
        """Whether nothing of it sticks out."""
        return (
            self.left >= other.left
            and self.right <= other.right
            and self.top >= other.top
            and self.bottom <= other.bottom
        )


def placed(
    points: Sequence[tuple[float, float, float]], taken: Sequence[Box], avoided: Sequence[Box], inside: Box
) -> list[Box | None]:
    """For each point (x, y) and its label's width, in this order, the label's place; None where there is none free.

    It is inside, and meets nothing that is taken, nor an earlier label. The nearest that meets nothing that is to be
    avoided goes before nearer ones that do.
    """
    boxes = list(taken)
    found: list[Box | None] = []
    for x, y, across in points:
        free = [
            box
            for box in _near(x, y, across)
            if box.within(inside) and not any(box.meets(other) for other in boxes)
        ]
        clear = [box for box in free if not any(box.meets(other) for other in avoided)]
        best = next(iter([*clear, *free]), None)
        if best is not None:
            boxes.append(best)
        found.append(best)
    return found


def _near(x: float, y: float, across: float) -> list[Box]:
    beside = (x + _GAP, x - _GAP - across)
    above_and_below = [by for far in _FAR for by in (-far, far)]
    places = [
        *((left, y) for left in beside),
        *((left, y + by) for by in above_and_below[:4] for left in beside),
        *((x - across / 2, y + by) for by in (-16.0, 16.0)),
        *((left, y + by) for by in above_and_below[4:] for left in beside),
    ]
    return [Box(left, middle - _HEIGHT / 2, left + across, middle + _HEIGHT / 2) for left, middle in places]
