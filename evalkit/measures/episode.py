"""When did something go wrong, and when was it put right?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalkit.measures.action import Action, Intent


@dataclass(frozen=True, slots=True)
class Episode:
    """From the first failed action of an intent to the first later one of it that is ok, or to a milestone."""

    intent: Intent
    tries: tuple[Action, ...]
    """Every action of the intent in the episode, the first failure and one that closes it included."""
    closed_at: int | None = None
    """Step of the action that was ok, or of the milestone; None where there was neither."""

    @property
    def opened_at(self) -> int:
        """Step of the first failure."""
        return self.tries[0].step

    @property
    def attempts(self) -> tuple[int, ...]:
        """Steps of `tries`."""
        return tuple(action.step for action in self.tries)

    @property
    def recovered(self) -> bool:
        return self.closed_at is not None

    @property
    def by_milestone(self) -> bool:
        """A milestone closed it, and no action of its own."""
        return self.closed_at is not None and self.closed_at != self.tries[-1].step

    @property
    def abandoned(self) -> bool:
        """Nothing was tried again, and no milestone was reached either."""
        return len(self.tries) == 1 and not self.recovered


def episodes(actions: Sequence[Action], *, milestones: Sequence[int] = ()) -> tuple[Episode, ...]:
    """All episodes in the order in which they opened. An intent may have several, one after the other.

    `milestones` are the steps at which one was reached: there, every open episode is closed. Failing test commands open
    none: reproducing a bug is not a fault.
    """
    found: list[Episode | None] = []
    open_ones: dict[Intent, tuple[int, list[Action]]] = {}

    def close(intent: Intent, step: int | None) -> None:
        number, tries = open_ones.pop(intent)
        found[number] = Episode(intent, tuple(tries), step)

    reached = sorted(milestones)
    for action in actions:
        while reached and reached[0] < action.step:
            step = reached.pop(0)
            for intent in tuple(open_ones):
                close(intent, step)
        place = open_ones.get(action.intent)
        if place is not None:
            place[1].append(action)
            if action.failure is None:
                close(action.intent, action.step)
        elif action.failure is not None and action.intent.operation != "test":
            open_ones[action.intent] = (len(found), [action])
            found.append(None)
    for intent in tuple(open_ones):
        close(intent, reached[0] if reached else None)
    return tuple(episode for episode in found if episode is not None)


def recovery_rate(of: Sequence[Episode]) -> float | None:
    """Closed episodes / episodes, in [0, 1]. None where nothing failed."""
    return sum(episode.recovered for episode in of) / len(of) if of else None
