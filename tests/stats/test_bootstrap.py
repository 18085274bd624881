"""Drawing tasks again."""

from __future__ import annotations

import numpy as np
import pytest

from evalkit.stats.bootstrap import (
    drawn_tasks,
    percentile_interval,
    shares_difference_interval,
    sums_interval,
)


def ratio(sums):
    return sums[:, 0] / sums[:, 1]


def test_a_ratio_of_sums_has_the_interval_of_its_draws():
    random = np.random.default_rng(3)
    wholes = random.integers(1, 9, 200).astype(float)
    columns = np.column_stack([wholes * 2 + random.normal(0, 1, 200), wholes])
    found = sums_interval(columns, ratio)
    assert found is not None
    middle = columns[:, 0].sum() / columns[:, 1].sum()
    reach = 1.96 * np.std(columns[:, 0] - middle * wholes) / wholes.mean() / np.sqrt(200)
    assert (found.low, found.high) == pytest.approx((middle - reach, middle + reach), abs=0.005)


def test_the_same_tasks_in_another_order_give_the_same_interval():
    columns = np.random.default_rng(4).random((30, 2))
    assert sums_interval(columns[::-1], ratio) == sums_interval(columns, ratio)


def test_it_is_the_same_each_time():
    columns = np.random.default_rng(5).random((30, 2))
    assert sums_interval(columns, ratio) == sums_interval(columns, ratio)


@pytest.mark.parametrize(
    "columns",
    [[[1.0, 2.0]], [[1.0, 2.0], [1.0, 3.0], [5.0, 2.0], [4.0, 4.0]], [[1.0, 2.0]] * 9, [[1.0, 0.0]] * 9],
    ids=["one", "four", "equal", "undefined"],
)
def test_few_or_equal_or_undefined_tasks_have_no_interval(columns):
    assert sums_interval(np.array(columns), ratio) is None


def test_few_tasks_have_a_wider_interval_than_their_draws():
    estimates = np.linspace(0, 1, 1001)
    few, many = percentile_interval(estimates, 8), percentile_interval(estimates, 8_000)
    assert few is not None
    assert many is not None
    assert few.low < 0.01 < 0.02 < many.low


def test_an_interval_without_width_is_none():
    """As a median has that all but a few draws share."""
    assert percentile_interval(np.array([2.0] * 995 + [3.0] * 5), 8_000) is None


def test_draws_without_a_number_are_left_out():
    estimates = np.array([np.nan, np.inf, *np.linspace(0, 1, 101)])
    found = percentile_interval(estimates, 100_000)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((0.025, 0.975), abs=1e-4)


def test_each_draw_has_as_many_tasks_as_there_are():
    draws = list(drawn_tasks(7, 50, seed=1))
    assert len(draws) == 50
    assert {len(draw) for draw in draws} == {7}
    assert {int(task) for draw in draws for task in draw} == set(range(7))


def shares(random, n, some, rates):
    """What n tasks bring to two agents' rates: of one to three chances each, where a task gives any."""
    columns = []
    for rate in rates:
        wholes = np.where(random.random(n) < some, random.integers(1, 4, n), 0)
        columns += [random.binomial(wholes, rate), wholes]
    return np.array(columns, dtype=float).T


@pytest.mark.parametrize("some", [1, 0.3])
@pytest.mark.parametrize("rates", [(0.7, 0.7), (1, 0.05)])
def test_differences_of_shares_hold_the_truth_95_times_of_100(some, rates):
    random = np.random.default_rng(21)
    drawn = [shares_difference_interval(shares(random, 20, some, rates), draws=500) for _ in range(200)]
    hits = [found.low <= rates[1] - rates[0] <= found.high for found in drawn if found is not None]
    assert len(hits) > 150
    assert np.mean(hits) >= 0.95 - 2 * (0.95 * 0.05 / len(hits)) ** 0.5


def test_a_difference_of_shares_that_nothing_contradicts_still_has_an_interval():
    """What ten tasks leave open of one rate, they leave open of both."""
    columns = np.array([[0.0, 2.0, 2.0, 2.0]] * 10)
    found = shares_difference_interval(columns)
    assert found is not None
    assert found.high == 1
    assert found.low == pytest.approx(1 - 2 * (1 - 0.025 ** (1 / 10)), abs=0.02)
    turned = shares_difference_interval(columns[:, [2, 3, 0, 1]])
    assert turned is not None
    assert (turned.low, turned.high) == pytest.approx((-1, -found.low), abs=0.02)


def test_a_difference_of_shares_needs_two_tasks_on_each_side_that_tell():
    assert shares_difference_interval(np.array([[1.0, 1.0, 1.0, 2.0], [0.0, 0.0, 1.0, 2.0]])) is None
    with pytest.raises(ValueError, match="whole"):
        shares_difference_interval(np.array([[2.0, 1.0, 1.0, 2.0]] * 3))
