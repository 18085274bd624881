"""When did something go wrong, and when was it put right?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalkit.measures.action import Action, Intent


@dataclass(frozen=True, slots=True)
class Episode:
    """From the first failed action of an intent to the first later one of it that is ok."""

    intent: Intent
    opened_at: int
    """Step of the first failure."""
    closed_at: int | None
    """Step of the action that was ok; None where there was none."""
    attempts: tuple[int, ...]
    """Steps of every action of the intent in the episode, the first failure and the closing one included."""

    @property
    def recovered(self) -> bool:
        return self.closed_at is not None

    @property
    def abandoned(self) -> bool:
        """Nothing was tried again."""
        return len(self.attempts) == 1


def episodes(actions: Sequence[Action]) -> tuple[Episode, ...]:
    """All episodes in the order in which they opened. An intent may have several, one after the other.

    Failing test commands open none: reproducing a bug is not a fault.
    """
    found: list[Episode | None] = []
    open_ones: dict[Intent, tuple[int, list[int]]] = {}
    for action in actions:
        place = open_ones.get(action.intent)
        if place is not None:
            place[1].append(action.step)
            if action.failure is None:
                number, attempts = open_ones.pop(action.intent)
                found[number] = Episode(action.intent, attempts[0], action.step, tuple(attempts))
        elif action.failure is not None and action.intent.operation != "test":
            open_ones[action.intent] = (len(found), [action.step])
            found.append(None)
    for intent, (number, attempts) in open_ones.items():
        found[number] = Episode(intent, attempts[0], None, tuple(attempts))
    return tuple(episode for episode in found if episode is not None)


def recovery_rate(of: Sequence[Episode]) -> float | None:
    """Closed episodes / episodes, in [0, 1]. None where nothing failed."""
    return sum(episode.recovered for episode in of) / len(of) if of else None
