"""Retries that wait as they were asked to, and those that do not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from evalkit.measures.action import actions
from evalkit.measures.episode import episodes
from evalkit.measures.repeating import hasty_retries, is_retry_storm
from evalkit.trajectory.step import Act

START = datetime(2026, 1, 1, tzinfo=UTC)


def limited(step: int, at: float | None, **more) -> Act:
    """A call of half a second that was told to slow down, `at` seconds from the start."""
    return Act(
        step=step,
        tool="fetch",
        started_at=None if at is None else START + timedelta(seconds=at),
        **{"arguments": "{}", "error_kind": "rate_limited", "duration_s": 0.5, **more},
    )


def judged(*acts: Act, wait: float = 2.0):
    (episode,) = episodes(actions(acts, waits={acts[0].step: wait}))
    return hasty_retries(episode), is_retry_storm(episode)


@pytest.mark.parametrize(
    ("again_at", "is_hasty"), [(0.6, True), (2.4, True), (2.5, False), (9, False), (None, False)]
)
def test_the_wait_counts_from_the_end_of_the_failed_call(again_at, is_hasty):
    steps, storm = judged(limited(0, 0.0), limited(1, again_at, error_kind=None))
    assert steps == ((1,) if is_hasty else ())
    assert storm == is_hasty


def test_how_long_a_call_took_must_be_known():
    assert judged(limited(0, 0.0, duration_s=None), limited(1, 0.1)) == ((), False)


def test_where_nothing_was_asked_for_nothing_is_hasty():
    (episode,) = episodes(actions([limited(0, 0.0), limited(1, 0.5)]))
    assert not is_retry_storm(episode)


def test_something_else_in_between_is_no_retry():
    other = limited(1, 0.6, arguments='{"page":2}')
    found = episodes(actions([limited(0, 0.0), other, limited(2, 5.0)], waits={0: 2.0}))
    assert [hasty_retries(episode) for episode in found] == [(), ()]
