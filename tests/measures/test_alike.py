"""How alike several attempts are: their ways, their answers, their states."""

from __future__ import annotations

import itertools
from collections import Counter
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.measures.revisiting import state_revisits
from evalkit.measures.similarity import edit_distance, edit_similarity, path_similarity
from evalkit.measures.voting import comparable, majority_at_k

WORDS = st.lists(st.sampled_from("abc"), max_size=9)
VOTES = st.lists(st.tuples(st.sampled_from("xyz"), st.booleans()), min_size=1, max_size=7)
PATHS = st.lists(WORDS.map(" ".join), max_size=4)


def by_table(one, other) -> int:
    """Levenshtein's distance, by its table."""
    row = list(range(len(other) + 1))
    for above, item in enumerate(one, start=1):
        fresh = [above]
        for place, second in enumerate(other):
            fresh.append(min(row[place + 1] + 1, fresh[place] + 1, row[place] + (item != second)))
        row = fresh
    return row[-1]


@given(WORDS, WORDS)
def test_the_edit_distance_is_that_of_the_table(one, other):
    assert edit_distance(one, other) == by_table(one, other)


@given(WORDS, WORDS)
def test_similarity_is_bounded_symmetric_and_1_for_the_same(one, other):
    assert 0 <= edit_similarity(one, other) <= 1
    assert edit_similarity(one, other) == edit_similarity(other, one)
    assert (edit_similarity(one, other) == 1) == (one == other)


def test_ways_that_differ_by_one_call_in_four():
    assert path_similarity({"k": ["a b c d", "a b d"]}) == 0.75
    assert path_similarity({"k": ["a b"], "l": []}) is None


@given(st.dictionaries(st.text(max_size=2), PATHS, max_size=3), st.randoms())
def test_the_order_of_tasks_and_trials_does_not_matter(paths, random):
    before = path_similarity(paths)
    tasks = list(paths.items())
    random.shuffle(tasks)
    shuffled = {task: random.sample(own, len(own)) for task, own in tasks}
    assert path_similarity(shuffled) == (None if before is None else pytest.approx(before))


def by_subsets(votes, k) -> float:
    """The majority's credit over all subsets, one by one."""
    shares = []
    right = {answer: fmean(ok for other, ok in votes if other == answer) for answer, _ in votes}
    for chosen in itertools.combinations(votes, k):
        given_by = Counter(answer for answer, _ in chosen)
        most = max(given_by.values())
        shares.append(fmean(right[answer] for answer, times in given_by.items() if times == most))
    return fmean(shares)


@given(VOTES, st.integers(1, 7))
def test_a_majority_is_counted_as_over_all_subsets(votes, k):
    expected = pytest.approx(by_subsets(votes, k)) if k <= len(votes) else None
    assert majority_at_k({"k": votes}, k) == expected


@given(VOTES)
def test_a_majority_of_one_is_success(votes):
    assert majority_at_k({"k": votes}, 1) == pytest.approx(fmean(ok for _, ok in votes))


def test_answers_that_tie_share_the_credit():
    assert majority_at_k({"k": [("4", True), ("5", False)]}, 2) == 0.5
    assert majority_at_k({"k": [("4", True), ("4", True), ("5", False)]}, 3) == 1
    assert majority_at_k({}, 1) is None


def test_k_counts_from_one():
    with pytest.raises(ValueError, match="from 1"):
        majority_at_k({}, 0)


def test_sixteen_different_answers_are_counted_at_once():
    votes = [(str(number), number == 0) for number in range(16)]
    assert majority_at_k({"k": votes}, 8) == pytest.approx(1 / 16)


def test_what_does_not_matter_in_an_answer():
    assert comparable("  Forty\n two. ") == comparable("forty two") == "forty two"


@pytest.mark.parametrize(
    ("digests", "revisits"),
    [("", None), ("aaa", 0), ("ab", 0), ("aba", 1), ("abab", 2), ("a-a", 0), ("-", None), ("ab-a", 1)],
)
def test_how_often_a_state_is_returned_to(digests, revisits):
    assert state_revisits(None if digest == "-" else digest for digest in digests) == revisits


@given(st.lists(st.sampled_from([None, "a", "b", "c"]), max_size=20))
def test_revisits_are_fewer_than_calls_and_standing_still_adds_none(digests):
    revisits = state_revisits(digests)
    assert revisits is None or 0 <= revisits < len(digests)
    assert state_revisits([digest for digest in digests for _ in range(2)]) == revisits
