"""Rates of success against their definitions, and against published numbers."""

import itertools
import json
from collections import defaultdict
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.measures.success import outcome_agreement, pass_at_k, pass_hat_k

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


@given(outcomes, st.integers(1, 4))
def test_pass_at_k_is_the_share_of_k_subsets_with_a_pass(tries, k):
    shares = [
        fmean(any(chosen) for chosen in itertools.combinations(own, k))
        for own in tries.values()
        if len(own) >= k
    ]
    expected = fmean(shares) if shares else None
    assert pass_at_k(tries, k) == (None if expected is None else pytest.approx(expected))


@given(outcomes)
def test_agreement_is_the_share_of_pairs_that_end_alike(tries):
    shares = [
        fmean(one == other for one, other in itertools.permutations(own, 2))
        for own in tries.values()
        if len(own) > 1
    ]
    expected = fmean(shares) if shares else None
    assert outcome_agreement(tries) == (None if expected is None else pytest.approx(expected))


def test_tau_benchs_published_numbers_come_out(shared_data):
    episodes = json.loads((shared_data / "tau_bench" / "gpt-4o-airline.json").read_text())
    known = json.loads((shared_data / "expected.json").read_text())["values"]
    tries = defaultdict(list)
    for episode in episodes:
        tries[str(episode["task_id"])].append(episode["reward"] >= 1.0)
    for name, measure in (("pass_hat_k", pass_hat_k), ("pass_at_k", pass_at_k)):
        expected = known[f"tau_bench/gpt-4o-airline/{name}"]["value"]
        assert [measure(tries, k) for k in range(1, 5)] == pytest.approx(expected, abs=1e-6)
