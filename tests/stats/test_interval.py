"""How sure a mean or a ratio over tasks is."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

from evalkit.stats.interval import (
    Interval,
    bounded_interval,
    bounded_ratio_interval,
    unbounded_interval,
)

SHARES = st.lists(st.one_of(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.floats(0, 1)), min_size=2, max_size=30)


def test_students_interval_by_hand():
    found = unbounded_interval(np.array([1.0, 2.0, 3.0]))
    assert found is not None
    assert (found.low, found.high) == pytest.approx(
        (2 - 4.302653 / math.sqrt(3), 2 + 4.302653 / math.sqrt(3))
    )


@pytest.mark.parametrize("values", [[], [4.0], [4.0, 4.0, 4.0]])
def test_nothing_tells_how_much_one_or_equal_amounts_could_differ(values):
    assert unbounded_interval(np.array(values)) is None


@pytest.mark.parametrize("n", [2, 5, 8, 59])
def test_tasks_that_all_passed_give_the_exact_bound(n):
    found = bounded_interval(np.ones(n), 0, 1)
    assert found is not None
    assert found == Interval(pytest.approx(0.025 ** (1 / n)), 1.0)


@pytest.mark.parametrize(("passed", "n"), [(1, 2), (1, 5), (5, 5), (3, 10), (50, 100), (1, 400), (399, 400)])
def test_of_shares_of_0_and_1_the_approximation_is_near_clopper_and_pearson(passed, n):
    parts = np.repeat([1.0, 0.0], [passed, n - passed])
    found = bounded_ratio_interval(parts, np.ones(n))
    assert found is not None
    assert 0.024 < beta.cdf(found.low, passed, n - passed + 1) < 0.0252
    exact = bounded_interval(parts, 0, 1)
    assert exact is not None
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high), abs=0.005)


def test_the_approximation_is_near_what_draws_of_weights_give():
    values = np.array([0.1, 0.3, 0.35, 0.6, 0.6, 0.75, 1.0])
    weights = np.random.default_rng(1).dirichlet(np.ones(len(values) + 1), 200_000)
    low = np.quantile(weights[:, :-1] @ values, 0.025)
    high = np.quantile(weights[:, :-1] @ values + weights[:, -1], 0.975)
    found = bounded_interval(values, 0, 1)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.003)


def test_another_range_only_moves_and_stretches_it():
    unit = bounded_interval(np.array([0.2, 0.4, 0.9]), 0, 1)
    other = bounded_interval(np.array([-0.6, -0.2, 0.8]), -1, 1)
    assert unit is not None
    assert other is not None
    assert (other.low, other.high) == pytest.approx((2 * unit.low - 1, 2 * unit.high - 1))


@given(SHARES)
def test_it_holds_the_mean_and_never_collapses(values: list[float]):
    found = bounded_interval(np.array(values), 0, 1)
    assert found is not None
    assert 0 <= found.low <= math.fsum(values) / len(values) <= found.high <= 1
    assert found.high - found.low > 0.01


@given(SHARES, st.randoms(use_true_random=False))
def test_order_changes_nothing(values: list[float], shuffler):
    shuffled = list(values)
    shuffler.shuffle(shuffled)
    assert bounded_interval(np.array(shuffled), 0, 1) == bounded_interval(np.array(values), 0, 1)


@given(SHARES)
def test_turning_shares_around_turns_the_interval_around(values: list[float]):
    found = bounded_interval(np.array(values), 0, 1)
    turned = bounded_interval(1 - np.array(values), 0, 1)
    assert found is not None
    assert turned is not None
    assert (turned.low, turned.high) == pytest.approx((1 - found.high, 1 - found.low), abs=0.005)


def test_a_ratio_that_is_the_same_at_every_task_still_has_an_interval():
    found = bounded_ratio_interval(np.array([2.0, 4.0, 6.0]), np.array([2.0, 4.0, 6.0]))
    assert found is not None
    assert found.high == 1
    assert 0.1 < found.low < 0.5


def test_a_ratio_of_nothing_has_none():
    assert bounded_ratio_interval(np.zeros(3), np.zeros(3)) is None


def test_tasks_without_a_whole_say_nothing():
    parts, wholes = np.array([1.0, 2.0, 0.0]), np.array([2.0, 3.0, 4.0])
    more = np.zeros(40)
    found = bounded_ratio_interval(np.concatenate([parts, more]), np.concatenate([wholes, more]))
    assert found == bounded_ratio_interval(parts, wholes)
    assert bounded_ratio_interval(np.array([1.0, 0.0]), np.array([1.0, 0.0])) is None


def test_a_part_beyond_its_whole_is_refused():
    with pytest.raises(ValueError, match="whole"):
        bounded_ratio_interval(np.array([2.0, 1.0]), np.array([1.0, 1.0]))


def _covers(n: int, epochs: int, mean: float, draw) -> float:
    """How often the interval holds the mean of all tasks of a kind."""
    random = np.random.default_rng(20)
    hits = 0
    for _ in range(300):
        found = bounded_interval(random.binomial(epochs, draw(random, n)) / epochs, 0, 1)
        hits += found is not None and found.low <= mean <= found.high
    return hits / 300


@pytest.mark.parametrize("n", [8, 20])
@pytest.mark.parametrize("epochs", [1, 4])
@pytest.mark.parametrize(
    ("mean", "draw"),
    [
        (1 / 1.6, lambda random, n: random.beta(1, 0.6, n)),
        (0.97, lambda random, n: np.full(n, 0.97)),
        (0.9, lambda random, n: (random.random(n) < 0.9) * 1.0),
    ],
    ids=["mixed", "easy", "some-broken"],
)
def test_it_holds_the_truth_95_times_of_100(n, epochs, mean, draw):
    assert _covers(n, epochs, mean, draw) >= 0.95 - 2 * math.sqrt(0.95 * 0.05 / 300)
