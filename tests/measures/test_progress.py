"""Graded states, progress while acting, and costs up to one of them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.measures.checkpoints import State, first_passed, graded_states
from evalkit.measures.progressing import achieved_then_lost, progress
from evalkit.measures.spending import cost_of, cost_to_pass, cost_until
from evalkit.trajectory.step import Act, Event, Think
from evalkit.trajectory.trial import Trial

NAMES = ("a", "b", "c", "d")
ROW = Trial(run_id="r", trial_id="t", suite="s", task_id="k", epoch=1, agent="a", status="passed")


def worked(*tokens: int | None) -> list[Think | Act]:
    """Generations of so many tokens, each with one call: step 2n and 2n + 1."""
    steps: list[Think | Act] = []
    for amount in tokens:
        steps.append(Think(step=len(steps), output_tokens=amount, reasoning_tokens=amount, duration_s=2.0))
        steps.append(Act(step=len(steps), think_step=len(steps) - 1, tool="bash", duration_s=1.0))
    return steps


def state(step: int, passing: str) -> State:
    checks = {name: name in passing for name in NAMES}
    return State(step, all(checks.values()), None, checks)


def checkpoint(step: int, **detail: object) -> Event:
    return Event(step=step, event="checkpoint", detail=json.dumps(detail))


def test_only_graded_states_count_in_order_of_their_calls():
    events = [
        checkpoint(9, of_step=5, deliverables="d", reward=1.0, passed=True, checks={"a": True}),
        checkpoint(8, of_step=3, deliverables="d", reward=0.25, passed=False, checks={"a": False}),
        checkpoint(7, of_step=1, deliverables="d", reward=None, passed=None, checks=None, error="no grader"),
        checkpoint(6, stage="unit", passed=True),
        Event(step=10, event="submit", detail="{}"),
    ]
    assert graded_states(events) == (
        State(3, passed=False, reward=0.25, checks={"a": False}),
        State(5, passed=True, reward=1.0, checks={"a": True}),
    )


@pytest.mark.parametrize(
    "detail", ["{", "[]", '{"of_step": 3, "passed": 1}', '{"of_step": -1, "passed": true}']
)
def test_what_says_nothing_of_a_state_is_none(detail):
    assert graded_states([Event(step=4, event="checkpoint", detail=detail)]) == ()


def test_progress_by_hand():
    """10, 20, 30 and 40 tokens; two checks pass after the first call, one by the second, all four at the end."""
    found = progress(
        worked(10, 20, 30, 40), [state(1, "ab"), state(3, "a")], at_end=dict.fromkeys(NAMES, True)
    )
    assert found.points == ((0.0, 0.0), (0.1, 0.5), (0.3, 0.25), (1.0, 1.0))
    assert found.auc == pytest.approx(0.2 * 0.5 + 0.7 * 0.25)
    assert found.lost == 0.25
    assert found.longest_stall == pytest.approx(0.9)


def test_checks_that_pass_at_the_start_are_no_progress():
    found = progress(worked(50, 50), [state(1, "ab")], at_start=("a",))
    assert found.points == ((0.0, 0.25), (0.5, 0.5), (1.0, 0.5))
    assert found.longest_stall == 0.5


def test_there_is_no_progress_without_checks_or_tokens():
    assert progress(worked(10), []) is None
    assert progress(worked(10), [State(1, passed=True)]) is None
    assert progress(worked(None), [state(1, "a")]) is None
    assert progress(worked(0), [state(1, "a")]) is None


@given(st.lists(st.tuples(st.integers(1, 50), st.text("abcd", max_size=4)), min_size=1, max_size=6))
def test_progress_is_bounded(calls):
    states = [state(2 * n + 1, passing) for n, (_, passing) in enumerate(calls)]
    found = progress(worked(*(tokens for tokens, _ in calls)), states)
    assert 0 <= found.auc <= 1 + 1e-12
    assert 0 <= found.longest_stall <= 1
    assert found.lost >= 0


def test_everything_achieved_and_then_lost():
    states = [state(1, "abcd"), state(3, "a")]
    assert achieved_then_lost(states, passed=False, at_end={"a": True, "b": False}) == (1,)
    assert achieved_then_lost(states, passed=True, at_end={"a": True}) == ()
    assert achieved_then_lost([State(1, passed=True)], passed=False) == (1,)
    assert achieved_then_lost([State(1, passed=False)], passed=False) == ()
    assert achieved_then_lost([], passed=False) is None


def test_costs_up_to_a_call():
    steps = worked(10, 20, 30)
    assert cost_until(steps, "output_tokens", 3) == 30
    assert cost_until(steps, "agent_s", 3) == 6
    assert cost_until(steps, "cost_usd") is None
    assert cost_until([], "output_tokens") is None


def test_the_trials_own_column_comes_before_the_sum_of_its_steps():
    assert cost_of(ROW, worked(10, 20), "output_tokens") == 30
    row = Trial(**{name: getattr(ROW, name) for name in ROW.__slots__} | {"output_tokens": 35})
    assert cost_of(row, worked(10, 20), "output_tokens") == 35


def test_it_would_have_passed_after_the_second_call():
    steps, states = worked(10, 20, 30), [state(1, "a"), state(3, "abcd"), state(5, "abcd")]
    assert first_passed(states) == 3
    assert cost_to_pass(ROW, steps, states, "output_tokens", passed=True) == 30
    assert cost_to_pass(ROW, steps, states[:1], "output_tokens", passed=True) == 60
    assert cost_to_pass(ROW, steps, states, "output_tokens", passed=False) is None
    assert cost_to_pass(ROW, steps, (), "output_tokens", passed=True) is None


@given(st.lists(st.integers(0, 100), min_size=1, max_size=6), st.data())
def test_splitting_a_generation_changes_no_cost(tokens, data):
    """One generation becomes two of the same tokens together, the first without a call."""
    steps, place = worked(*tokens), data.draw(st.integers(0, len(tokens) - 1))
    first = data.draw(st.integers(0, tokens[place]))
    split = [
        *steps[: 2 * place],
        Think(step=2 * place, output_tokens=first),
        *(
            type(step)(**{**{n: getattr(step, n) for n in _fields(step)}, "step": step.step + 1})
            for step in steps[2 * place :]
        ),
    ]
    rest = split[2 * place + 1]
    split[2 * place + 1] = Think(step=rest.step, output_tokens=tokens[place] - first)
    passing = data.draw(st.integers(0, len(tokens) - 1))
    before = [State(2 * passing + 1, passed=True)]
    after = [State(2 * passing + 1 + (passing >= place), passed=True)]
    for one, other in (
        (cost_of(ROW, steps, "output_tokens"), cost_of(ROW, split, "output_tokens")),
        (
            cost_to_pass(ROW, steps, before, "output_tokens", passed=True),
            cost_to_pass(ROW, split, after, "output_tokens", passed=True),
        ),
    ):
        assert one == other


def _fields(step: Think | Act) -> tuple[str, ...]:
    return ("output_tokens",) if isinstance(step, Think) else ("tool", "think_step")
