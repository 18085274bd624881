"""Survival curves of many draws at once."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.stats.survival import survival
from evalkit.stats.survival_draws import survival_draws

WAITED = st.lists(
    st.tuples(st.integers(1, 9).map(float), st.booleans(), st.integers(0, 3)), min_size=1, max_size=20
)


def draw(waited: list[tuple[float, bool, int]], weights: list[list[int]]):
    times, happened, tasks = zip(*waited, strict=True)
    return survival_draws(
        np.array(times), np.array(happened), np.array(tasks), np.array(weights, dtype=float)
    )


@given(WAITED, st.lists(st.integers(0, 3), min_size=4, max_size=4))
def test_each_draw_is_what_its_times_give_alone(waited: list[tuple[float, bool, int]], weights: list[int]):
    drawn = [(time, happened) for time, happened, task in waited for _ in range(weights[task])]
    found = draw(waited, [weights])
    if not drawn:
        assert math.isnan(found.medians[0])
        assert math.isnan(found.restricted_means[0])
        return
    alone = survival(
        [time for time, happened in drawn if happened],
        [time for time, happened in drawn if not happened],
        horizon=max(time for time, _ in drawn),
    )
    assert alone is not None
    assert found.medians[0] == pytest.approx(math.nan if alone.median is None else alone.median, nan_ok=True)
    assert found.restricted_means[0] == pytest.approx(alone.restricted_mean)


def test_what_never_happened_has_no_median():
    found = draw([(3.0, False, 0), (5.0, False, 1)], [[1, 1]])
    assert math.isnan(found.medians[0])
    assert found.restricted_means[0] == 5


def test_what_happened_at_once_took_no_time():
    found = draw([(0.0, True, 0), (0.0, True, 1)], [[1, 1]])
    assert (found.medians[0], found.restricted_means[0]) == (0, 0)
