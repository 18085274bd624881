"""Was a failed action repeated for a good reason?

Trying again after a passing failure is right, up to a point. Doing the very same again in the very same place is not.
"""

from __future__ import annotations

from collections.abc import Sequence

from evalkit.measures.action import Action
from evalkit.measures.episode import Episode

STORM = 5
"""Retries in one episode beyond which they are a storm."""


def futile_repeats(episode: Episode, actions: Sequence[Action]) -> tuple[int, ...]:
    """Steps of the failed actions that repeat an earlier one of their episode with nothing changed in between.

    The same key and the same workspace digest as the latest earlier action of that key, whose failure was not
    transient. Where a digest is unknown, nobody can say that nothing changed, so it is no futile repeat.
    """
    inside = set(episode.attempts)
    latest: dict[str, Action] = {}
    futile: list[int] = []
    for action in actions:
        if action.step not in inside:
            continue
        before = latest.get(action.key)
        if action.failure is not None and before is not None and _is_unchanged(before, action):
            futile.append(action.step)
        latest[action.key] = action
    return tuple(futile)


def retries(episode: Episode, actions: Sequence[Action]) -> tuple[int, ...]:
    """Steps of the actions that repeat an earlier one of their episode after a transient failure of it."""
    inside = set(episode.attempts)
    latest: dict[str, Action] = {}
    found: list[int] = []
    for action in actions:
        if action.step not in inside:
            continue
        before = latest.get(action.key)
        if before is not None and before.transient:
            found.append(action.step)
        latest[action.key] = action
    return tuple(found)


def is_retry_storm(episode: Episode, actions: Sequence[Action]) -> bool:
    """Whether the episode has more retries than patience allows."""
    return len(retries(episode, actions)) > STORM


def _is_unchanged(before: Action, action: Action) -> bool:
    if before.transient or before.failure is None:
        return False
    return action.workspace_digest is not None and before.workspace_digest == action.workspace_digest
