"""Testing differences by flipping their signs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from evalkit.stats.permutation import sign_flip_p

GRID = st.lists(st.integers(-4, 4).map(lambda step: step / 4), max_size=9)


def by_hand(differences: list[float]) -> float:
    seen = abs(sum(differences))
    sums = [
        sum(sign * abs(d) for sign, d in zip(signs, differences, strict=True))
        for signs in itertools.product((-1, 1), repeat=len(differences))
    ]
    return sum(abs(total) >= seen - 1e-9 for total in sums) / len(sums)


@pytest.mark.parametrize(
    ("differences", "side", "p"),
    [
        ([], "both", 1),
        ([0, 0], "both", 1),
        ([0.5], "both", 1),
        ([-0.5], "less", 0.5),
        ([0.5], "less", 1),
        ([0.25] * 5, "both", 2 / 32),
        ([0.25] * 5, "greater", 1 / 32),
        ([0.25] * 5, "less", 1),
        ([1, -1], "both", 1),
    ],
)
def test_small_cases_by_hand(differences, side, p):
    assert sign_flip_p(differences, side=side) == pytest.approx(p)


@given(GRID)
def test_on_a_grid_it_is_what_counting_all_patterns_gives(differences: list[float]):
    assert sign_flip_p(differences) == pytest.approx(by_hand(differences))


@given(st.lists(st.floats(-1, 1).filter(lambda d: d == 0 or abs(d) > 1e-3), max_size=9))
def test_of_few_it_is_what_counting_all_patterns_gives(differences: list[float]):
    assert sign_flip_p(differences) == pytest.approx(by_hand(differences))


def test_of_many_off_the_grid_it_is_near_the_normal_ones():
    differences = np.random.default_rng(1).normal(0.2, 1, 60)
    expected = 2 * norm.sf(abs(differences.sum()) / np.sqrt((differences**2).sum()))
    assert sign_flip_p(differences) == pytest.approx(expected, abs=0.01)
    assert sign_flip_p(differences) == sign_flip_p(differences[::-1])


@given(st.lists(st.floats(-1, 1), min_size=17, max_size=25), st.randoms(use_true_random=False))
def test_order_and_unit_and_direction_never_matter(differences: list[float], shuffler):
    shuffled = [-8 * difference for difference in differences]
    shuffler.shuffle(shuffled)
    assert sign_flip_p(shuffled) == pytest.approx(sign_flip_p(differences), abs=0.01)


def test_without_a_difference_it_is_rarely_small():
    random = np.random.default_rng(2)
    small = sum(
        sign_flip_p((random.binomial(4, p) - random.binomial(4, p)) / 4) <= 0.05
        for p in random.beta(1, 0.6, (400, 20))
    )
    assert small / 400 <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 400)
