"""Calls of tools that are not there, in the words of several harnesses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.measures.tool_use import calls_vs_reference, invalid_calls, loop_score
from evalkit.trajectory.step import Act


@pytest.mark.parametrize(
    ("said", "invalid"),
    [
        ("Tool fly_away not found", True),
        ("Error: Tool 'fly_away' not found.", True),
        ("Unknown action fly_away", True),
        ("Unknown tool: `fly_away`. Choose another.", True),
        ("The function fly_away does not exist", True),
        ("No such tool: fly_away", True),
        ("Payment method not found", False),
        ("Error: user fly_away not found", False),
        ("I used fly_away; Tool fly_away not found", False),
        (None, False),
    ],
)
def test_an_answer_that_knows_no_such_tool(said, invalid):
    act = Act(step=3, tool="fly_away", arguments="{}", observation=said)
    assert invalid_calls([act]) == ((3,) if invalid else ())


def test_a_command_that_ran_was_no_unknown_tool():
    assert invalid_calls([Act(step=0, tool="bash", exit_code=127, observation="Tool bash not found")]) == ()


@pytest.mark.parametrize(
    ("calls", "reference", "times"), [(6, 3, 2), (0, 3, 0), (6, None, None), (6, 0, None)]
)
def test_calls_against_those_of_the_reference(calls, reference, times):
    assert calls_vs_reference(calls, reference) == times


@given(st.lists(st.sampled_from("ab"), max_size=12))
def test_a_loop_is_never_longer_than_the_trajectory(keys):
    assert 0 <= loop_score(keys) <= len(keys)
    assert loop_score(["c"]) == 0
