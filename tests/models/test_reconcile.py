"""Do token counts mean the same whatever a provider includes in them?"""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.models.reconcile import MOST_TOKENS, cost, count, reconcile
from evalkit.models.usage import Usage
from evalkit.models.wire.usage_fields import anthropic_usage, chat_usage, gemini_usage

maybe = st.none() | st.integers(min_value=0, max_value=10**6)
anything = st.none() | st.integers() | st.floats() | st.text(max_size=3) | st.booleans()


def test_input_excludes_what_the_cache_held() -> None:
    usage = reconcile(
        input_tokens=100, output_tokens=5, cache_read_tokens=60, cache_write_tokens=30, total_tokens=105
    )
    assert (usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens) == (10, 60, 30)


def test_input_stays_where_the_provider_leaves_the_cache_out() -> None:
    assert (
        reconcile(input_tokens=10, output_tokens=5, cache_read_tokens=60, cache_in_input=False).input_tokens
        == 10
    )


def test_input_stays_as_it_is_where_no_cache_is_mentioned() -> None:
    assert reconcile(input_tokens=10, output_tokens=5) == Usage(input_tokens=10, output_tokens=5)


def test_the_total_can_show_that_the_cache_is_outside_the_input() -> None:
    usage = reconcile(input_tokens=10, output_tokens=5, cache_read_tokens=4, total_tokens=19)
    assert (usage.input_tokens, usage.cache_read_tokens) == (10, 4)


def test_more_cache_than_input_leaves_the_input_unknown() -> None:
    assert reconcile(input_tokens=10, output_tokens=5, cache_read_tokens=60).input_tokens is None


def test_output_includes_thinking_that_the_provider_keeps_outside() -> None:
    usage = reconcile(
        input_tokens=34, output_tokens=469, reasoning_tokens=787, total_tokens=1290, reasoning_in_output=False
    )
    assert (usage.output_tokens, usage.reasoning_tokens) == (1256, 787)


def test_the_total_can_show_that_thinking_is_outside() -> None:
    usage = reconcile(input_tokens=10, output_tokens=5, reasoning_tokens=100, total_tokens=115)
    assert (usage.output_tokens, usage.reasoning_tokens) == (105, 100)


def test_the_total_can_show_that_thinking_is_inside() -> None:
    usage = reconcile(
        input_tokens=10, output_tokens=50, reasoning_tokens=40, total_tokens=60, reasoning_in_output=False
    )
    assert (usage.output_tokens, usage.reasoning_tokens) == (50, 40)


def test_tokens_that_nobody_names_leave_thinking_and_output_unknown() -> None:
    usage = reconcile(input_tokens=10, output_tokens=5, reasoning_tokens=3, total_tokens=999)
    assert (usage.input_tokens, usage.output_tokens, usage.reasoning_tokens) == (10, None, None)


def test_hidden_thinking_in_the_total_alone_is_not_lost_in_the_output() -> None:
    assert reconcile(input_tokens=10, output_tokens=5, total_tokens=115).output_tokens is None


def test_a_total_that_is_too_small_leaves_only_the_thinking_unknown() -> None:
    usage = reconcile(input_tokens=10, output_tokens=5, reasoning_tokens=3, total_tokens=2)
    assert (usage.output_tokens, usage.reasoning_tokens) == (5, None)


def test_more_thinking_than_output_is_unknown() -> None:
    usage = reconcile(input_tokens=43, output_tokens=10, reasoning_tokens=11, total_tokens=53)
    assert (usage.output_tokens, usage.reasoning_tokens) == (10, None)


def test_more_thinking_than_output_leaves_both_unknown_without_a_total() -> None:
    usage = reconcile(input_tokens=43, output_tokens=10, reasoning_tokens=11)
    assert (usage.output_tokens, usage.reasoning_tokens) == (None, None)


@pytest.mark.parametrize(("shown", "expected"), [(True, None), (False, 0)])
def test_a_reported_zero_is_believed_only_where_no_thinking_came_back(
    shown: bool, expected: int | None
) -> None:
    usage = reconcile(
        input_tokens=1, output_tokens=2, reasoning_tokens=0, total_tokens=3, thinking_shown=shown
    )
    assert usage.reasoning_tokens == expected
    assert usage.output_tokens == 2


def test_all_output_spent_on_thinking_is_the_thinking() -> None:
    usage = reconcile(
        input_tokens=15, output_tokens=None, reasoning_tokens=2, total_tokens=17, reasoning_in_output=False
    )
    assert (usage.output_tokens, usage.reasoning_tokens) == (2, 2)


def test_a_missing_output_never_becomes_the_thinking_without_proof() -> None:
    usage = reconcile(input_tokens=15, output_tokens=None, reasoning_tokens=2, reasoning_in_output=False)
    assert (usage.output_tokens, usage.reasoning_tokens) == (None, 2)


def test_shown_thinking_without_a_count_leaves_an_output_that_excludes_it_unknown() -> None:
    usage = reconcile(input_tokens=15, output_tokens=5, reasoning_in_output=False, thinking_shown=True)
    assert (usage.output_tokens, usage.reasoning_tokens) == (None, None)


def test_nothing_reported_is_nothing_known() -> None:
    assert reconcile(input_tokens=None, output_tokens=None) == Usage()


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        # Totals of real logs: reasoning outside the output, inside it, and caches outside the input.
        ((5249, 100, 29_700, None, None, 35_049), (5249, 29_800, 29_700)),
        ((5955, 29_244, 28_544, None, None, 35_199), (5955, 29_244, 28_544)),
        ((609, 10_660, 3_394, 239_400, 27_692, 278_361), (609, 10_660, 3_394)),
    ],
)
def test_counts_from_elsewhere_need_no_convention_where_they_have_a_total(
    counts: tuple[int | None, ...], expected: tuple[int, int, int]
) -> None:
    read_in, out, thought, cache_read, cache_write, total = counts
    usage = reconcile(
        input_tokens=read_in,
        output_tokens=out,
        reasoning_tokens=thought,
        cache_read_tokens=cache_read,
        cache_write_tokens=cache_write,
        total_tokens=total,
    )
    assert (usage.input_tokens, usage.output_tokens, usage.reasoning_tokens) == expected


@given(maybe, maybe, maybe, maybe, maybe, maybe, st.booleans(), st.booleans(), st.booleans())
def test_what_is_known_always_fits_together(
    read_in: int | None,
    out: int | None,
    thought: int | None,
    cache_read: int | None,
    cache_write: int | None,
    total: int | None,
    cache_inside: bool,
    thought_inside: bool,
    shown: bool,
) -> None:
    usage = reconcile(
        input_tokens=read_in,
        output_tokens=out,
        reasoning_tokens=thought,
        cache_read_tokens=cache_read,
        cache_write_tokens=cache_write,
        total_tokens=total,
        cache_in_input=cache_inside,
        reasoning_in_output=thought_inside,
        thinking_shown=shown,
    )
    if usage.output_tokens is not None and usage.reasoning_tokens is not None:
        assert usage.reasoning_tokens <= usage.output_tokens
    assert usage.input_tokens is None or usage.input_tokens >= 0
    assert usage.reasoning_tokens in {None, thought}
    assert (usage.cache_read_tokens, usage.cache_write_tokens) == (cache_read, cache_write)
    if read_in is None:
        assert usage.input_tokens is None
    if out is None and thought is None:
        assert usage.output_tokens is None


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6))
def test_one_generation_counts_the_same_however_it_is_reported(
    read_in: int, cached: int, said: int, thought: int
) -> None:
    total = read_in + cached + said + thought
    outside = reconcile(
        input_tokens=read_in,
        output_tokens=said,
        reasoning_tokens=thought,
        cache_read_tokens=cached,
        total_tokens=total,
        cache_in_input=False,
        reasoning_in_output=False,
    )
    inside = reconcile(
        input_tokens=read_in + cached,
        output_tokens=said + thought,
        reasoning_tokens=thought,
        cache_read_tokens=cached,
        total_tokens=total,
    )
    assert outside == inside


@given(anything, anything, anything, anything)
def test_counts_of_any_type_never_raise(first: object, second: object, third: object, fourth: object) -> None:
    raw = {
        "prompt_tokens": first,
        "completion_tokens": second,
        "completion_tokens_details": {"reasoning_tokens": third},
        "total_tokens": fourth,
        "cost": third,
    }
    usage = chat_usage(raw, thinking_shown=False)
    assert usage.input_tokens in {None, first}


@pytest.mark.parametrize("value", [-1, 2**64, MOST_TOKENS + 1, 1.5, 7.0, "12", True, None, math.nan, [], {}])
def test_what_is_no_count_is_unknown(value: object) -> None:
    assert count(value) is None


@pytest.mark.parametrize("value", [-0.1, math.inf, math.nan, "0.1", True, None, 10**400])
def test_what_is_no_amount_of_money_is_unknown(value: object) -> None:
    assert cost(value) is None


def test_a_cost_is_reported_only_where_the_provider_says_one() -> None:
    assert chat_usage({"prompt_tokens": 1}, thinking_shown=False).reported_cost_usd is None
    assert chat_usage({"cost": 0}, thinking_shown=False).reported_cost_usd == 0
    assert chat_usage({"cost": 0.25}, thinking_shown=False).reported_cost_usd == 0.25


def test_the_cost_with_a_key_of_ones_own_includes_what_the_provider_took() -> None:
    raw = {"cost": 0.25, "is_byok": True, "cost_details": {"upstream_inference_cost": 0.5}}
    assert chat_usage(raw, thinking_shown=False).reported_cost_usd == 0.75
    assert chat_usage({"cost": 0.25, "is_byok": True}, thinking_shown=False).reported_cost_usd is None


def test_deepseek_names_its_cache_otherwise() -> None:
    raw = {
        "prompt_tokens": 563,
        "completion_tokens": 116,
        "total_tokens": 679,
        "prompt_cache_hit_tokens": 512,
    }
    usage = chat_usage(raw, thinking_shown=False)
    assert (usage.input_tokens, usage.cache_read_tokens) == (51, 512)


def test_a_gateway_may_keep_anthropics_names() -> None:
    raw = {
        "prompt_tokens": 9,
        "completion_tokens": 5,
        "total_tokens": 14,
        "cache_read_input_tokens": 2,
        "cache_creation_input_tokens": 7,
    }
    usage = chat_usage(raw, thinking_shown=False)
    assert (usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens) == (0, 2, 7)


def test_counts_may_stand_outside_their_details() -> None:
    raw = {
        "prompt_tokens": 9,
        "completion_tokens": 5,
        "total_tokens": 14,
        "cached_tokens": 2,
        "reasoning_tokens": 3,
        "completion_tokens_details": None,
    }
    usage = chat_usage(raw, thinking_shown=True)
    assert (usage.input_tokens, usage.cache_read_tokens, usage.reasoning_tokens) == (7, 2, 3)


def test_openrouter_counts_cache_writes_into_the_prompt() -> None:
    raw = {
        "prompt_tokens": 100,
        "completion_tokens": 1,
        "total_tokens": 101,
        "prompt_tokens_details": {"cached_tokens": 20, "cache_write_tokens": 70},
    }
    usage = chat_usage(raw, thinking_shown=False)
    assert (usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens) == (10, 20, 70)


def test_anthropic_without_a_split_is_unknown_with_and_without_thinking() -> None:
    raw = {"input_tokens": 5, "output_tokens": 6, "cache_read_input_tokens": 7}
    for shown in (True, False):
        usage = anthropic_usage(raw, thinking_shown=shown)
        assert usage == Usage(input_tokens=5, output_tokens=6, cache_read_tokens=7)


def test_google_counts_what_its_own_tools_brought_in_as_input() -> None:
    raw = {
        "promptTokenCount": 10,
        "toolUsePromptTokenCount": 20,
        "cachedContentTokenCount": 4,
        "candidatesTokenCount": 5,
        "thoughtsTokenCount": 6,
        "totalTokenCount": 41,
    }
    usage = gemini_usage(raw, thinking_shown=True)
    assert (usage.input_tokens, usage.cache_read_tokens, usage.output_tokens) == (26, 4, 11)
