"""No call costs more than its worst case, and what is affordable is the most that fits."""

import sys
from dataclasses import replace
from datetime import UTC, datetime, time
from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.models import litellm_setup
from evalkit.models.prices import (
    PROVIDER_PROMPT_TOKENS,
    affordable_output_tokens,
    cost_usd,
    find_price,
    worst_case_usd,
)
from evalkit.models.rates import Price, Rates, Tier, Window
from evalkit.models.usage import Usage


@pytest.fixture(scope="module")
def table():
    return litellm_setup.load().model_cost


def total(*parts):
    """The sum of tokens times rates, in decimal numbers."""
    return float(sum(tokens * Decimal(str(rate)) for tokens, rate in parts))


def price_of(model, provider=None):
    price = find_price(model, provider)
    assert price is not None
    return price


def rates():
    return st.integers(0, 200_000).map(lambda nano: float(f"{nano}e-9"))


@st.composite
def prices(draw):
    def draw_rates():
        return Rates(**{name: draw(rates()) for name in Rates.__slots__})

    edges = sorted(draw(st.sets(st.integers(1, 20_000), max_size=2)))
    whole_day = Window(start=time(0), end=time(0))
    tiers = tuple(
        Tier(
            above_tokens=edge,
            rates=draw_rates(),
            off_peak=draw_rates() if draw(st.booleans()) else None,
        )
        for edge in (0, *edges)
    )
    return Price(entry="m", source="list", tiers=tiers, off_peak_windows=(whole_day,))


@st.composite
def calls(draw):
    """A price, a request's size, its `max_output_tokens`, and a usage that these allow, often to the full."""
    size, limit = draw(st.integers(0, 30_000)), draw(st.integers(0, 10_000))
    most = size + PROVIDER_PROMPT_TOKENS
    cuts = sorted(draw(st.tuples(*[st.sampled_from([0, most]) | st.integers(0, most)] * 3)))
    parts = [after - before for before, after in pairwise((0, *cuts))]
    output = draw(st.just(limit) | st.integers(0, limit))
    usage = Usage(
        input_tokens=parts[0],
        cache_read_tokens=parts[1],
        cache_write_tokens=parts[2],
        output_tokens=output,
        reasoning_tokens=draw(st.sampled_from([0, output]) | st.integers(0, output)),
    )
    return draw(prices()), size, limit, usage


@given(calls(), st.sampled_from([None, datetime(2026, 11, 30, tzinfo=UTC)]))
def test_no_call_costs_more_than_its_worst_case(call, at):
    price, size, limit, usage = call
    cost = cost_usd(price, usage, at=at)
    assert cost is not None
    assert cost <= worst_case_usd(price, size, limit)


@given(prices(), st.integers(0, 30_000), st.integers(0, 30_000), st.integers(0, 10**6), st.integers(0, 10**6))
def test_a_larger_request_never_has_a_smaller_worst_case(price, size, more, limit, longer):
    small = worst_case_usd(price, size, limit)
    assert (
        small
        <= worst_case_usd(price, size + more, limit)
        <= worst_case_usd(price, size + more, limit + longer)
    )


@given(prices(), st.integers(0, 30_000), st.floats(0, 1_000))
def test_what_is_affordable_is_the_most_that_fits(price, size, budget):
    tokens = affordable_output_tokens(price, size, budget)
    if worst_case_usd(price, size, 0) > budget:
        assert tokens == 0
    else:
        assert worst_case_usd(price, size, tokens) <= budget
        assert tokens == sys.maxsize or worst_case_usd(price, size, tokens + 1) > budget


@given(prices(), st.integers(0, 30_000), st.integers(0, 10**6))
def test_the_price_of_so_many_tokens_affords_so_many(price, size, limit):
    affordable = affordable_output_tokens(price, size, worst_case_usd(price, size, limit))
    assert affordable in (limit, sys.maxsize)


def test_the_worst_case_is_all_input_written_to_the_longest_cache_and_all_output(table):
    listed = table["claude-sonnet-4-5"]
    assert worst_case_usd(price_of("claude-sonnet-4-5"), 9_000, 4_096) == total(
        (9_000 + PROVIDER_PROMPT_TOKENS, listed["cache_creation_input_token_cost_above_1hr"]),
        (4_096, listed["output_cost_per_token"]),
    )


def test_a_tier_counts_once_so_much_input_can_reach_it(table):
    listed = table["gemini/gemini-2.5-pro"]
    price = price_of("gemini/gemini-2.5-pro")
    below, above = 200_000 - PROVIDER_PROMPT_TOKENS, 200_001 - PROVIDER_PROMPT_TOKENS
    assert worst_case_usd(price, below, 10) == total(
        (200_000, listed["input_cost_per_token"]), (10, listed["output_cost_per_token"])
    )
    assert worst_case_usd(price, above, 10) == total(
        (200_001, listed["input_cost_per_token_above_200k_tokens"]),
        (10, listed["output_cost_per_token_above_200k_tokens"]),
    )


def test_an_off_peak_rate_that_is_dearer_counts():
    cheap = Rates(
        input=1e-6, cache_read=1e-6, cache_write=1e-6, cache_write_dearest=1e-6, output=1e-6, reasoning=1e-6
    )
    dear = replace(cheap, input=3e-6)
    price = Price(entry="m", source="list", tiers=(Tier(above_tokens=0, rates=cheap, off_peak=dear),))
    assert worst_case_usd(price, 0, 0) == total((PROVIDER_PROMPT_TOKENS, 3e-6))


def test_a_sum_half_way_between_two_floats_is_not_affordable():
    one = Rates(
        input=0.0, cache_read=0.0, cache_write=0.0, cache_write_dearest=0.0, output=1.0, reasoning=1.0
    )
    price = Price(entry="m", source="list", tiers=(Tier(above_tokens=0, rates=one),))
    assert affordable_output_tokens(price, 0, 2.0**53 + 2) == 2**53 + 2


def test_a_free_model_affords_everything():
    assert affordable_output_tokens(price_of("ollama/llama2"), 10**6, 0.0) == sys.maxsize
