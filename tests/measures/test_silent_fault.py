"""How a wrong value spreads."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.measures.action import actions
from evalkit.measures.fault_strike import Strike
from evalkit.measures.silent_fault import changes, spread
from evalkit.trajectory.step import Act

STRIKE = Strike(0, "f", "wrong_value", loud=False, visible=True, canary="48213")
LINES = ["cat prices", "ls", "echo 48213 > out", "cat out", "python3 sum.py", "echo 17 > out"]


def shell(step: int, line: str, digest: str | None = None) -> Act:
    return Act(
        step=step,
        tool="bash",
        arguments=json.dumps({"command": line}),
        exit_code=0,
        workspace_digest=digest,
    )


def of(acts, strike=STRIKE, answer=None):
    return spread(strike, acts, actions(acts), answer=answer, effects=())


@pytest.mark.parametrize(
    ("act", "before", "does"),
    [
        (shell(1, "cat f"), None, False),
        (shell(1, "echo x > f"), None, True),
        (shell(1, "python3 x.py"), None, True),
        (shell(1, "python3 x.py", "a"), "a", False),
        (shell(1, "cat f", "b"), "a", True),
        (shell(1, "curl http://h/a", "a"), "a", False),
        (shell(1, "curl -sX POST http://h/a", "a"), "a", True),
        (shell(1, "curl --data-binary @f http://h/a", "a"), "a", True),
        (Act(step=1, tool="get_order", arguments="{}"), None, False),
        (Act(step=1, tool="cancel_order", arguments="{}"), None, True),
        (Act(step=1, tool="submit", arguments="{}"), None, False),
    ],
)
def test_what_changes_something(act, before, does):
    (action,) = actions([act])
    assert changes(act, action, before) == does


@pytest.mark.parametrize(
    ("text", "carries"),
    [
        ("48213", True),
        ("it costs 48,213 a year", True),
        ("(48213)", True),
        ("148213", False),
        ("482131", False),
        ("x48213", True),
        ("", False),
        (None, False),
    ],
)
def test_a_number_counts_where_no_further_digit_is_next_to_it(text, carries):
    assert of([shell(0, "cat prices")], answer=text).in_answer == carries


@pytest.mark.parametrize(("kind", "canary"), [("schema_drift", "kumemi"), ("garbled", "48213")])
def test_a_word_and_what_was_written_over_bytes_count_wherever_they_are(kind, canary):
    strike = Strike(0, "f", kind, loud=False, visible=True, canary=canary)
    assert of([shell(0, "cat prices")], strike, answer=f"4{canary}7").in_answer


def test_looking_at_what_one_has_written_is_no_other_source():
    calls = ["cat prices", "sort rates > sums.csv", "cat sums.csv", "cat rates.bak"]
    assert of([shell(number, line) for number, line in enumerate(calls)]).other_reading == (3,)


def test_the_struck_call_itself_spreads_nothing():
    assert not of([shell(0, "echo 48213 > f")]).propagated


def test_a_strike_at_a_call_that_is_not_there_is_harmless():
    assert not of([shell(7, "cat prices")]).detected(traced=True)


@given(st.lists(st.sampled_from(LINES), max_size=8))
def test_what_spread_was_not_detected(lines):
    seen = of([shell(number, line) for number, line in enumerate(["cat prices", *lines])])
    assert not (seen.propagated and seen.detected(traced=True))
    assert seen.propagated == ("echo 48213 > out" in lines)
    assert bool(seen.reread) == ("cat prices" in lines)
