"""Time to recovery, with episodes that were cut off."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.stats.survival import survival

TIMES = st.lists(st.integers(0, 20).map(float), max_size=15)


def test_without_censoring_it_is_the_plain_median_and_mean():
    found = survival([1.0, 2.0, 3.0, 6.0], [], horizon=10.0)
    assert (found.n, found.events, found.median) == (4, 4, 2.0)
    assert found.restricted_mean == pytest.approx(3.0)


def test_a_textbook_example_with_censoring():
    # Events at 6 (three of 21) and 7, one censored at 6: S(6) = 18/21, S(7) = 18/21 * 16/17.
    found = survival([6.0, 6.0, 6.0, 7.0], [6.0, *[10.0] * 16], horizon=10.0)
    last = 18 / 21 * 16 / 17
    assert found.restricted_mean == pytest.approx(6 + 18 / 21 + 3 * last)
    assert found.median is None


def test_a_curve_that_falls_to_one_half_has_its_median_there():
    """4/5 x 3/4 x 5/6 is one half, and a little more as Python multiplies it."""
    found = survival([0, 0, 1, 1, 2], [2, 2, 2, 2, 2], horizon=2)
    assert found is not None
    assert found.median == 2


def test_those_that_gave_up_sit_at_the_horizon():
    found = survival([2.0], [], never=3, horizon=10.0)
    assert (found.n, found.events, found.median) == (4, 1, None)
    assert found.restricted_mean == pytest.approx((2 + 3 * 10) / 4)


def test_nothing_seen_is_no_survival():
    assert survival([], [], horizon=10.0) is None


def test_nobody_recovered():
    found = survival([], [3.0], never=1, horizon=10.0)
    assert (found.median, found.restricted_mean) == (None, 10.0)


@pytest.mark.parametrize(("events", "horizon"), [([-1.0], 10.0), ([1.0], 0.0)])
def test_impossible_times_are_refused(events, horizon):
    with pytest.raises(ValueError, match="times start at 0"):
        survival(events, [], horizon=horizon)


@given(TIMES, TIMES, st.integers(0, 5), st.randoms())
def test_it_is_bounded_and_the_order_does_not_matter(events, censored, never, random):
    found = survival(events, censored, never=never, horizon=12.0)
    if found is None:
        assert not events
        assert not censored
        assert not never
        return
    assert 0 <= found.restricted_mean <= 12.0 + 1e-9
    assert found.median is None or 0 <= found.median <= 12.0
    random.shuffle(events)
    random.shuffle(censored)
    again = survival(events, censored, never=never, horizon=12.0)
    assert again.median == found.median
    assert again.restricted_mean == pytest.approx(found.restricted_mean)


@given(TIMES.filter(bool), st.integers(0, 5))
def test_giving_up_more_often_never_looks_faster(events, never):
    less = survival(events, [], never=never, horizon=12.0)
    more = survival(events, [], never=never + 1, horizon=12.0)
    assert more.restricted_mean >= less.restricted_mean - 1e-9
