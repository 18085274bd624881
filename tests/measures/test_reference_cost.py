"""The reference cost of a task: whose median it is, and what never happens to it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.measures.reference_cost import Success, reference_cost
from evalkit.measures.token_efficiency import comparable, token_efficiency

COSTS = st.lists(st.integers(0, 10**6).map(float), min_size=1, max_size=9)
COHORTS = st.dictionaries(st.sampled_from("abcde"), COSTS, min_size=1)


def cohort(agents) -> list[Success]:
    return [Success(agent, cost) for agent, costs in agents.items() for cost in costs]


def test_it_is_the_least_median_and_not_the_cheapest_success():
    found = reference_cost(cohort({"a": [100, 900, 1000, 1100, 1200], "b": [1500.0] * 5}), "output_tokens")
    assert (found.cost, found.agent, found.successes, found.agents) == (1000, "a", 5, 2)
    assert not found.provisional


def test_it_is_provisional_where_the_agent_that_sets_it_has_few_successes():
    assert reference_cost(cohort({"a": [300.0] * 4, "b": [900.0] * 5}), "output_tokens").provisional
    assert not reference_cost(cohort({"a": [300.0] * 5, "b": [900.0]}), "output_tokens").provisional


def test_of_equal_agents_the_one_with_more_successes_sets_it():
    found = reference_cost(cohort({"a": [300.0], "b": [300.0] * 5}), "output_tokens")
    assert (found.agent, found.provisional) == ("b", False)


def test_nobody_solved_it():
    assert reference_cost([], "output_tokens") is None


@pytest.mark.parametrize(
    ("basis", "cost"), [("output_tokens", 50), ("cost_usd", 0.0001), ("agent_s", 1), ("reasoning_tokens", 0)]
)
def test_it_is_never_below_its_floor(basis, cost):
    assert reference_cost([Success("a", 0.0)], basis).cost == cost


def test_calls_are_those_of_the_agent_that_sets_it():
    found = reference_cost(
        [Success("a", 100, 3), Success("a", 120, 5), Success("a", 140, 9), Success("b", 900, 1)],
        "output_tokens",
    )
    assert found.calls == 5


@given(COHORTS, COSTS, st.integers(0, 10**6))
def test_adding_an_agent_never_raises_anybodys_efficiency(agents, further, cost):
    before = reference_cost(cohort(agents), "output_tokens").cost
    after = reference_cost(cohort({**agents, "new": further}), "output_tokens").cost
    old, new = (
        token_efficiency(comparable("output_tokens", cost, reference), passed=True)
        for reference in (before, after)
    )
    assert new <= old


@given(COHORTS)
def test_at_least_half_of_the_successes_of_the_agent_that_sets_it_are_worth_1(agents):
    found = reference_cost(cohort(agents), "output_tokens")
    worth = [
        token_efficiency(comparable("output_tokens", cost, found.cost), passed=True)
        for cost in agents[found.agent]
    ]
    assert 2 * sum(value == 1 for value in worth) >= len(worth)


@given(COHORTS, st.randoms())
def test_the_order_of_trials_does_not_matter(agents, dice):
    trials = cohort(agents)
    shuffled = trials.copy()
    dice.shuffle(shuffled)
    assert reference_cost(shuffled, "output_tokens") == reference_cost(trials, "output_tokens")


@given(COHORTS)
def test_doubling_every_epoch_leaves_the_cost(agents):
    trials = cohort(agents)
    assert reference_cost(trials * 2, "output_tokens").cost == reference_cost(trials, "output_tokens").cost


@given(st.floats(50, 1e6))
def test_the_first_agent_ever_to_solve_a_task_is_worth_1(cost):
    found = reference_cost([Success("a", cost)], "output_tokens")
    assert found.provisional
    assert token_efficiency(comparable("output_tokens", cost, found.cost), passed=True) == 1
