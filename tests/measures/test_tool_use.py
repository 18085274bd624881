"""Tool calls: invalid ones, redundant ones, loops, and how close they come to what was expected."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.measures.action import actions
from evalkit.measures.sequence_match import any_order_match, exact_match, in_order_match
from evalkit.measures.tool_use import invalid_calls, loop_score, redundant_calls, tool_error_rate
from evalkit.trajectory.step import Act

KEYS = st.lists(st.sampled_from("abc"), max_size=12)


def act(step: int, **fields) -> Act:
    return Act(step=step, tool="bash", **{"arguments": '{"command":"ls"}', **fields})


def test_failed_calls_among_all():
    acts = [act(0, exit_code=0), act(1, exit_code=2), act(2, error_kind="timeout")]
    assert tool_error_rate(actions(acts)) == (2, 3)
    assert tool_error_rate(()) == (0, 0)


def test_calls_that_could_not_be_made():
    acts = [
        act(0),
        act(1, arguments=None, arguments_raw="{"),
        act(2, error_kind="parsing"),
        act(3, exit_code=1),
    ]
    assert invalid_calls(acts) == (1, 2)


def test_a_call_that_shows_nothing_new_is_redundant():
    seen = {"workspace_digest": "a", "observation": "x"}
    acts = [
        act(0, **seen),
        act(1, **seen),
        act(2, **{**seen, "observation": "y"}),
        act(3, **{**seen, "workspace_digest": "b"}),
    ]
    assert redundant_calls(acts) == (1,)


def test_where_the_digest_is_unknown_nothing_is_redundant():
    assert redundant_calls([act(0, observation="x"), act(1, observation="x")]) == ()


@pytest.mark.parametrize(
    ("keys", "score"),
    [
        ("", 0),
        ("a", 0),
        ("ab", 0),
        ("aa", 2),
        ("abab", 4),
        ("ababa", 5),
        ("abcabc", 6),
        ("abcdabcd", 0),
        ("xaaay", 3),
        ("aba", 0),
    ],
)
def test_the_longest_loop(keys, score):
    assert loop_score(keys) == score


@given(KEYS)
def test_a_loop_is_never_longer_than_the_trial(keys):
    assert 0 <= loop_score(keys) <= len(keys)


@pytest.mark.parametrize(
    ("expected", "found", "in_order", "any_order"),
    [
        ("", "", 1, 1),
        ("a", "", 0, 0),
        ("", "a", 0, 0),
        ("abc", "abc", 1, 1),
        ("abc", "cba", 1 / 3, 1),
        ("ab", "axb", 0.8, 0.8),
    ],
)
def test_how_close_two_sequences_are(expected, found, in_order, any_order):
    assert in_order_match(expected, found) == pytest.approx(in_order)
    assert any_order_match(expected, found) == pytest.approx(any_order)
    assert exact_match(expected, found) == float(expected == found)


@given(KEYS, KEYS)
def test_matches_are_bounded_symmetric_and_ever_more_lenient(expected, found):
    strict, ordered, loose = (
        match(expected, found) for match in (exact_match, in_order_match, any_order_match)
    )
    assert 0 <= strict <= ordered <= loose <= 1
    assert in_order_match(found, expected) == pytest.approx(ordered)
    assert any_order_match(found, expected) == pytest.approx(loose)
