"""Sweeps over levels of thinking, and advice what to think with, on curves worked out by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.measures.routing import Candidate, advise
from evalkit.measures.standing import Judged
from evalkit.measures.sweep import Level, marginal_return, sweep
from evalkit.stats.lower_bound import lower_bound
from evalkit.stats.permutation import sign_flip_p


def judged(moved: Sequence[float]) -> Judged:
    low = lower_bound(np.array(moved), -1.0)
    assert low is not None
    return Judged(p_below=sign_flip_p(moved, side="less"), lowest=low)


def level(name: str, passed: int, tokens: float, tasks: int = 20) -> Level:
    """Solves the first `passed` tasks; each costs the same."""
    return Level(
        name=name,
        success={f"t{task:02}": float(task < passed) for task in range(tasks)},
        tokens={f"t{task:02}": tokens for task in range(tasks)},
    )


CURVE = (level("off", 5, 200), level("512", 12, 700), level("2048", 18, 1700), level("8192", 18, 6700))


def test_a_known_curve_has_its_marginal_returns_and_its_sufficient_budget():
    told = sweep(CURVE, judged)
    assert told is not None
    assert [one.success for one in told.levels] == [0.25, 0.6, 0.9, 0.9]
    assert [one.marginal for one in told.levels] == [None, pytest.approx(0.7), pytest.approx(0.3), 0.0]
    assert told.enough is not None
    assert told.enough.name == "2048"
    assert told.best == 2
    assert [one.excess for one in told.levels] == [None, None, 0.0, pytest.approx(1 - 1700 / 6700)]
    assert not told.inverse


def test_tokens_beyond_the_sufficient_budget_are_a_tax_on_what_both_solve():
    told = sweep(CURVE, judged)
    assert told is not None
    assert [one.tax for one in told.levels] == [0, 0, 0, 18 * 5000]
    assert told.solved_by_none == 2
    assert [one.unsolved_spend for one in told.levels] == [400, 1400, 3400, 13400]
    assert [len(one.lost) for one in told.levels] == [13, 6, 0, 0]
    assert told.levels[1].lost[0] == "t12"


def test_a_lower_level_within_the_margin_and_not_significantly_below_is_sufficient():
    told = sweep((level("low", 19, 100), level("high", 20, 1000)), judged)
    assert told is not None
    assert told.enough is not None
    assert told.enough.name == "low"
    assert told.levels[0].standing.difference == pytest.approx(-0.05)
    assert told.levels[0].standing.verdict == "as good"
    assert not told.levels[0].standing.non_inferior


def test_a_level_that_is_far_below_but_not_significantly_is_not_sufficient():
    told = sweep((level("low", 3, 100, tasks=5), level("high", 5, 1000, tasks=5)), judged)
    assert told is not None
    assert told.levels[0].standing.verdict == "unclear"
    assert told.enough is not None
    assert told.enough.name == "high"


def test_non_inferiority_is_told_apart_and_takes_59_tasks_for_5_points():
    for tasks, shown in ((58, False), (59, True)):
        told = sweep((level("low", tasks, 100, tasks), level("high", tasks, 1000, tasks)), judged)
        assert told is not None
        assert told.enough is not None
        assert told.enough.name == "low"
        # the best of equals is the smallest, so the larger one is what has to be shown
        assert told.levels[1].standing.non_inferior is shown


def test_more_thinking_that_makes_it_significantly_worse_is_inverse_scaling():
    told = sweep((level("low", 18, 100), level("high", 10, 5000)), judged)
    assert told is not None
    assert told.inverse
    assert told.levels[1].marginal == pytest.approx(-0.4 / 4.9)
    small = sweep((level("low", 18, 100), level("high", 16, 5000)), judged)
    assert small is not None
    assert not small.inverse


def test_tokens_that_do_not_grow_have_no_marginal_return():
    assert marginal_return((1000, 0.5), (1000, 0.9)) is None
    assert marginal_return((1000, 0.5), (900, 0.9)) is None


def test_only_tasks_that_are_known_at_all_levels_count():
    told = sweep((level("low", 10, 100), level("high", 10, 1000, tasks=10)), judged)
    assert told is not None
    assert len(told.tasks) == 10
    assert told.levels[0].success == 1


def test_one_level_and_levels_without_a_task_in_common_are_no_sweep():
    assert sweep((level("low", 10, 100),), judged) is None
    assert sweep((level("low", 0, 100, tasks=0), level("high", 10, 1000)), judged) is None


def test_where_nothing_is_solved_no_budget_is_sufficient():
    told = sweep((level("low", 0, 100), level("high", 0, 1000)), judged)
    assert told is not None
    assert told.enough is None
    assert [one.excess for one in told.levels] == [None, None]
    assert told.solved_by_none == 20


SHARE = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])
AMOUNT = st.integers(0, 5000).map(float)


@st.composite
def levels(draw: st.DrawFn) -> tuple[Level, ...]:
    tasks = [f"t{task}" for task in range(draw(st.integers(1, 8)))]
    return tuple(
        Level(
            name=str(place),
            success={task: draw(SHARE) for task in tasks},
            tokens={task: draw(AMOUNT) for task in tasks},
        )
        for place in range(draw(st.integers(2, 4)))
    )


@given(levels())
def test_whatever_the_curve_its_parts_stay_within_their_bounds(drawn: tuple[Level, ...]):
    told = sweep(drawn, judged)
    assert told is not None
    if told.sufficient is not None and told.enough is not None:
        assert told.sufficient <= told.best
        assert told.enough.success >= told.levels[told.best].success - told.margin - 1e-9
        assert told.enough.tax == 0
    else:
        assert not any(one.success for one in told.levels)
    for place, one in enumerate(told.levels):
        assert one.tax >= 0
        assert one.unsolved_spend <= math.fsum(drawn[place].tokens.values()) + 1e-6
        assert one.excess is None or one.excess <= 1
        assert not one.lost or place < (told.sufficient or 0)


@given(levels())
def test_the_order_of_tasks_never_matters(drawn: tuple[Level, ...]):
    turned = tuple(
        Level(
            name=own.name,
            success=dict(reversed(own.success.items())),
            tokens=dict(reversed(own.tokens.items())),
        )
        for own in drawn
    )
    assert sweep(turned, judged) == sweep(drawn, judged)


def candidate(own: Level) -> Candidate:
    return Candidate(name=own.name, success=own.success, cost=own.tokens)


def test_where_the_cheapest_cannot_be_told_from_the_best_it_is_advised():
    told = advise([candidate(level("slow", 20, 5000)), candidate(level("fast", 20, 100))], judged)
    assert (told.agent, told.best, told.n, told.is_cheapest) == ("fast", "fast", 20, True)


def test_where_the_cheap_one_is_significantly_worse_the_next_is_advised():
    told = advise([candidate(one) for one in CURVE], judged)
    assert told.agent == "2048"
    assert not told.is_cheapest
    assert told.worse == ("off", "512")
    assert (told.success, told.best_success, told.cost) == (0.9, 0.9, 1700)


def test_where_the_data_cannot_tell_nothing_is_advised():
    unclear = advise([candidate(level("fast", 4, 100, 6)), candidate(level("slow", 6, 900, 6))], judged)
    assert (unclear.agent, unclear.silence) == (None, "a cheaper agent may or may not be worse")
    few = advise([candidate(level("fast", 4, 100, 4)), candidate(level("slow", 4, 900, 4))], judged)
    assert (few.agent, few.silence, few.n) == (None, "too few tasks", 4)
    none = advise([candidate(level("fast", 0, 100)), candidate(level("slow", 0, 900))], judged)
    assert (none.agent, none.silence) == (None, "nobody solves any")


@given(levels())
def test_advice_never_names_an_agent_that_is_significantly_worse(drawn: tuple[Level, ...]):
    told = advise([candidate(own) for own in drawn], judged)
    if told.agent is not None:
        assert told.standing is not None
        assert told.standing.p_below > 0.05 or told.standing.verdict == "best"
        assert (told.best_success or 0) - (told.success or 0) <= 0.05 + 1e-9
