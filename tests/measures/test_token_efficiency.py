"""Token efficiency, its parts, and what always holds for them."""

from __future__ import annotations

import math
from typing import get_args

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from evalkit.measures.spending import Basis
from evalkit.measures.token_efficiency import (
    FLOORS,
    Costs,
    comparable,
    hidden_bounds,
    overspend,
    overthinking_auc,
    path_efficiency,
    split,
    stopping_efficiency,
    token_efficiency,
    waste,
)

AMOUNTS = st.floats(0, 1e7)
TOKENS = st.integers(0, 10**6)
BASES = st.sampled_from(get_args(Basis))


@st.composite
def costs(draw, basis=BASES) -> Costs:
    """A trial that would have passed at some time, and a reference."""
    cost = draw(AMOUNTS)
    until = draw(st.none() | st.floats(0, cost))
    return comparable(draw(basis), cost, draw(AMOUNTS), until)


def test_the_worked_example_of_outcome_efficiency():
    """arXiv 2412.21187: the first right answer took 39 of 901 tokens, an outcome efficiency of 4.3 %."""
    assert stopping_efficiency(39, 901, passed=True) == pytest.approx(0.043, abs=0.0005)


def test_a_success_by_hand():
    """1,000 tokens, of which 400 until it would have passed; 200 are known to be enough."""
    own = comparable("output_tokens", 1000, 200, 400)
    assert token_efficiency(own, passed=True) == 0.2
    assert stopping_efficiency(400, 1000, passed=True) == 0.4
    assert path_efficiency(own) == 0.5
    assert overthinking_auc(own, passed=True) == 1 - 1000 / 3200
    assert overspend(own) == pytest.approx(math.log(5))
    parts = waste(own)
    assert parts.total == pytest.approx(math.log(5))
    assert parts.getting_there == pytest.approx(math.log(2))
    assert parts.not_stopping == pytest.approx(math.log(2.5))
    assert split(parts.not_stopping, 450, 600) == pytest.approx((0.75 * math.log(2.5), 0.25 * math.log(2.5)))


def test_a_failure_has_no_efficiency_at_all():
    own = comparable("output_tokens", 1000, 200)
    assert token_efficiency(own, passed=False) == 0
    assert stopping_efficiency(None, 1000, passed=False) == 0
    assert overthinking_auc(own, passed=False) == 0


def test_without_checkpoints_nobody_knows_when_to_have_stopped():
    assert stopping_efficiency(None, 1000, passed=True) is None
    own = comparable("output_tokens", 1000, 200)
    assert path_efficiency(own) is None
    assert waste(own).getting_there is None
    assert waste(own).total == pytest.approx(math.log(5))


@pytest.mark.parametrize(("basis", "floor"), [("output_tokens", 50), ("cost_usd", 0.0001), ("agent_s", 1)])
def test_below_the_floor_all_costs_are_the_same(basis, floor):
    own = comparable(basis, floor / 10, floor / 100)
    assert token_efficiency(own, passed=True) == 1
    assert overspend(own) == 0


def test_thinking_tokens_are_padded_as_there_can_be_none():
    """(L + 50) / (max(C, L) + 50)."""
    own = comparable("reasoning_tokens", 150, 0)
    assert token_efficiency(own, passed=True) == 50 / 200
    assert token_efficiency(comparable("reasoning_tokens", 0, 0), passed=True) == 1


@given(costs(), st.booleans())
def test_every_part_is_bounded(own, passed):
    assert 0 <= token_efficiency(own, passed=passed) <= 1
    assert 0 <= overthinking_auc(own, passed=passed) < 1
    assert path_efficiency(own) is None or 0 < path_efficiency(own) <= 1


@given(AMOUNTS, st.floats(0, 1), st.booleans())
def test_stopping_efficiency_is_bounded(cost, share, passed):
    assert 0 <= stopping_efficiency(cost * share, cost, passed=passed) <= 1


@given(costs())
def test_a_failure_is_worth_0(own):
    assert token_efficiency(own, passed=False) == overthinking_auc(own, passed=False) == 0


@given(costs(), st.booleans())
def test_it_is_1_exactly_for_a_success_that_costs_no_more_than_the_reference(own, passed):
    assert (token_efficiency(own, passed=passed) == 1) == (passed and own.cost <= own.reference)


@given(BASES, AMOUNTS, AMOUNTS, AMOUNTS, st.booleans())
def test_spending_more_never_raises_it(basis, cost, more, reference, passed):
    before, after = comparable(basis, cost, reference), comparable(basis, cost + more, reference)
    assert token_efficiency(after, passed=passed) <= token_efficiency(before, passed=passed)


@given(TOKENS, st.integers(1, 10**6), TOKENS)
def test_above_the_reference_every_token_more_lowers_it(cost, more, reference):
    before = comparable("output_tokens", cost, reference)
    after = comparable("output_tokens", cost + more, reference)
    assume(after.cost > after.reference)
    assert token_efficiency(after, passed=True) < token_efficiency(before, passed=True)


@given(
    st.sampled_from(["output_tokens", "cost_usd", "agent_s"]),
    st.floats(1, 1e5),
    st.floats(1, 1e5),
    st.floats(1, 1e3),
)
def test_the_scale_does_not_matter_above_the_floor(basis, cost, reference, scale):
    floor = FLOORS[basis]
    once = comparable(basis, floor * cost, floor * reference)
    again = comparable(basis, floor * cost * scale, floor * reference * scale)
    assert token_efficiency(once, passed=True) == pytest.approx(token_efficiency(again, passed=True))
    assert overspend(once) == pytest.approx(overspend(again), abs=1e-9)


@given(BASES, AMOUNTS, AMOUNTS, AMOUNTS, AMOUNTS)
def test_waste_at_the_end_does_not_change_the_path(basis, until, rest, more, reference):
    before = comparable(basis, until + rest, reference, until)
    after = comparable(basis, until + rest + more, reference, until)
    assert path_efficiency(before) == path_efficiency(after)


@given(costs(), st.floats(0, 1), st.floats(0, 1))
def test_waste_adds_up(own, thinking_before, thinking_after):
    assume(own.to_pass is not None)
    parts = waste(own)
    assert parts.total == pytest.approx(-math.log(token_efficiency(own, passed=True)), abs=1e-9)
    assert parts.getting_there + parts.not_stopping == pytest.approx(parts.total, abs=1e-9)
    assert min(parts.getting_there, parts.not_stopping) >= 0
    whole = [
        *split(parts.getting_there, thinking_before * 100, 100),
        *split(parts.not_stopping, thinking_after * 100, 100),
    ]
    assert sum(whole) == pytest.approx(parts.total, abs=1e-9)


def test_waste_cannot_be_split_where_thinking_was_not_counted():
    assert split(1.0, None, 100) is None
    assert split(None, 50, 100) is None
    assert split(0.0, 0, 0) == (0, 0)


@given(st.integers(50, 10**6), TOKENS, TOKENS, TOKENS, st.integers(0, 10**6), st.booleans())
def test_bounds_for_hidden_thinking_contain_the_truth(reference, least, more, hidden, spare, passed):
    visible = least + more // 2
    truth = token_efficiency(comparable("output_tokens", visible + hidden, reference), passed=passed)
    low, high = hidden_bounds(reference, (least, least + more), hidden + spare, passed=passed)
    assert 0 <= low <= truth <= high <= 1
    assert hidden_bounds(reference, (least, least + more), None, passed=passed) == (0.0, high)


def test_bounds_by_hand():
    """100 to 120 visible tokens and at most 280 hidden ones, where 200 are known to be enough."""
    assert hidden_bounds(200, (100, 120), 280, passed=True) == (0.5, 1.0)
