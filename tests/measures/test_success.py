"""pass^k against its definition."""

import itertools
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.measures.success import pass_hat_k

outcomes = st.dictionaries(st.text(max_size=3), st.lists(st.booleans(), max_size=6), max_size=5)


@given(outcomes, st.integers(1, 4))
def test_it_is_the_share_of_k_subsets_that_all_pass(tries, k):
    shares = [
        fmean(all(chosen) for chosen in itertools.combinations(own, k))
        for own in tries.values()
        if len(own) >= k
    ]
    expected = fmean(shares) if shares else None
    assert pass_hat_k(tries, k) == (None if expected is None else pytest.approx(expected))


@given(outcomes)
def test_duplicating_every_epoch_leaves_pass_1_unchanged(tries):
    doubled = {task: own * 2 for task, own in tries.items()}
    once, twice = pass_hat_k(tries, 1), pass_hat_k(doubled, 1)
    assert once == (None if twice is None else pytest.approx(twice))


def test_tasks_with_fewer_attempts_than_k_are_left_out():
    assert pass_hat_k({"a": [True], "b": [True, False]}, 2) == 0.0


def test_without_a_scored_attempt_it_is_unknown():
    assert pass_hat_k({}, 1) is None
    assert pass_hat_k({"a": []}, 1) is None


def test_k_counts_from_one():
    with pytest.raises(ValueError, match="from 1"):
        pass_hat_k({"a": [True]}, 0)
