"""Was a failed action repeated for a good reason?

Trying again after a passing failure is right, up to a point. Doing the very same again in the very same place is not.
"""

from __future__ import annotations

from collections.abc import Iterator

from evalkit.measures.action import Action
from evalkit.measures.episode import Episode

STORM = 5
"""Retries in one episode beyond which they are a storm."""


def futile_repeats(episode: Episode) -> tuple[int, ...]:
    """Steps of the failed actions that repeat an earlier one of their episode with nothing changed in between.

    The same key and the same workspace digest as the latest earlier action of that key, whose failure was not
    transient. Where a digest is unknown, nobody can say that nothing changed, so it is no futile repeat.
    """
    return tuple(
        action.step
        for before, action in _repeats(episode)
        if action.failure is not None and _is_unchanged(before, action)
    )


def retries(episode: Episode) -> tuple[int, ...]:
    """Steps of the actions that repeat an earlier one of their episode after a transient failure of it."""
    return tuple(action.step for before, action in _repeats(episode) if before.transient)


def hasty_retries(episode: Episode) -> tuple[int, ...]:
    """Steps of the retries that began before the time had passed which the failure asked to wait.

    From the end of the failed call to the beginning of the retry. Where one of these is not known, or no time was asked
    for, nobody can say that it was hasty.
    """
    return tuple(
        action.step for before, action in _repeats(episode) if before.transient and _is_hasty(before, action)
    )


def is_retry_storm(episode: Episode) -> bool:
    """Whether the episode has more retries than patience allows, or one that does not wait as it was asked to."""
    return len(retries(episode)) > STORM or bool(hasty_retries(episode))


def _repeats(episode: Episode) -> Iterator[tuple[Action, Action]]:
    """Each action with the latest earlier one of the same key."""
    latest: dict[str, Action] = {}
    for action in episode.tries:
        before = latest.get(action.key)
        if before is not None:
            yield before, action
        latest[action.key] = action


def _is_unchanged(before: Action, action: Action) -> bool:
    if before.transient or before.failure is None:
        return False
    return action.workspace_digest is not None and before.workspace_digest == action.workspace_digest


def _is_hasty(before: Action, action: Action) -> bool:
    ended, began = before.ended_at, action.started_at
    if before.retry_after_s is None or ended is None or began is None:
        return False
    return (began - ended).total_seconds() < before.retry_after_s
