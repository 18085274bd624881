"""A call costs what the price list says, or nobody knows."""

import socket
from datetime import UTC, datetime, time
from decimal import Decimal

import pytest

from evalkit.models import litellm_setup
from evalkit.models.price_entry import read_entry
from evalkit.models.prices import (
    cost_of,
    cost_usd,
    find_price,
    max_output_tokens,
    price_source,
)
from evalkit.models.rates import Window
from evalkit.models.usage import Usage

BEDROCK_SONNET = "anthropic.claude-sonnet-4-5-20250929-v1:0"


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


# Calculated by hand from the rates of the table


def test_gpt_5_pays_less_for_what_it_reads_from_the_cache(table):
    listed = table["gpt-5"]
    usage = Usage(input_tokens=1_200, cache_read_tokens=8_000, output_tokens=700, reasoning_tokens=600)
    assert cost_usd(price_of("gpt-5", "openai"), usage) == total(
        (1_200, listed["input_cost_per_token"]),
        (8_000, listed["cache_read_input_token_cost"]),
        (700, listed["output_cost_per_token"]),
    )
    assert listed["cache_read_input_token_cost"] < listed["input_cost_per_token"]


def test_claude_pays_apart_for_reading_and_for_writing_the_cache(table):
    listed = table["claude-sonnet-4-5"]
    usage = Usage(input_tokens=10, cache_read_tokens=20_000, cache_write_tokens=3_000, output_tokens=500)
    assert cost_usd(price_of("claude-sonnet-4-5", "anthropic"), usage) == total(
        (10, listed["input_cost_per_token"]),
        (20_000, listed["cache_read_input_token_cost"]),
        (3_000, listed["cache_creation_input_token_cost"]),
        (500, listed["output_cost_per_token"]),
    )


@pytest.mark.parametrize(("fresh", "suffix"), [(1_000, ""), (1_001, "_above_200k_tokens")])
def test_claude_is_dearer_in_all_tokens_once_the_input_passes_200k_with_its_cache(table, fresh, suffix):
    listed = table[BEDROCK_SONNET]
    usage = Usage(
        input_tokens=fresh, cache_read_tokens=150_000, cache_write_tokens=49_000, output_tokens=2_000
    )
    assert cost_usd(price_of(BEDROCK_SONNET, "bedrock"), usage) == total(
        (fresh, listed[f"input_cost_per_token{suffix}"]),
        (150_000, listed[f"cache_read_input_token_cost{suffix}"]),
        (49_000, listed[f"cache_creation_input_token_cost{suffix}"]),
        (2_000, listed[f"output_cost_per_token{suffix}"]),
    )


@pytest.mark.parametrize(("fresh", "suffix"), [(200_000, ""), (200_001, "_above_200k_tokens")])
def test_gemini_pro_is_dearer_above_200k(table, fresh, suffix):
    listed = table["gemini/gemini-2.5-pro"]
    usage = Usage(input_tokens=fresh, output_tokens=9_000, reasoning_tokens=8_000)
    assert cost_usd(price_of("gemini-2.5-pro", "gemini"), usage) == total(
        (fresh, listed[f"input_cost_per_token{suffix}"]), (9_000, listed[f"output_cost_per_token{suffix}"])
    )


def test_gemini_flash_bills_thoughts_once(table):
    listed = table["gemini/gemini-2.5-flash"]
    assert listed["output_cost_per_reasoning_token"] == listed["output_cost_per_token"]
    usage = Usage(input_tokens=5_000, output_tokens=3_000, reasoning_tokens=2_500)
    expected = total((5_000, listed["input_cost_per_token"]), (3_000, listed["output_cost_per_token"]))
    price = price_of("gemini/gemini-2.5-flash")
    assert cost_usd(price, usage) == expected
    assert cost_usd(price, Usage(input_tokens=5_000, output_tokens=3_000)) == expected


def test_deepseek_pays_a_hit_less_and_a_miss_in_full(table):
    listed = table["deepseek/deepseek-chat"]
    price = price_of("deepseek-chat", "deepseek")
    missed = total((4_000, listed["input_cost_per_token"]))
    hit = total((6_000, listed["cache_read_input_token_cost"]), (500, listed["output_cost_per_token"]))
    usage = Usage(input_tokens=4_000, cache_read_tokens=6_000, output_tokens=500)
    assert cost_usd(price, usage) == pytest.approx(missed + hit, rel=1e-12)


def test_a_miss_that_is_counted_as_a_write_is_not_free(table):
    assert table["deepseek/deepseek-chat"]["cache_creation_input_token_cost"] == 0
    price = price_of("deepseek-chat", "deepseek")
    written = Usage(input_tokens=0, cache_write_tokens=4_000, output_tokens=0)
    assert cost_usd(price, written) == cost_usd(price, Usage(input_tokens=4_000, output_tokens=0))


def test_a_separate_price_for_reasoning_is_billed_for_reasoning_alone(table):
    listed = table["dashscope/qwen-turbo"]
    assert listed["output_cost_per_reasoning_token"] != listed["output_cost_per_token"]
    usage = Usage(input_tokens=100, output_tokens=1_000, reasoning_tokens=400)
    assert cost_usd(price_of("dashscope/qwen-turbo"), usage) == total(
        (100, listed["input_cost_per_token"]),
        (600, listed["output_cost_per_token"]),
        (400, listed["output_cost_per_reasoning_token"]),
    )


def test_ranges_are_tiers_in_which_every_token_is_billed_alike(table):
    low, high = table["dashscope/qwen-flash"]["tiered_pricing"][:2]
    edge = int(low["range"][1])
    price = price_of("dashscope/qwen-flash")
    for tokens, tier in ((0, low), (edge, low), (edge + 1, high), (10**8, high)):
        usage = Usage(input_tokens=tokens, output_tokens=50)
        expected = total((tokens, tier["input_cost_per_token"]), (50, tier["output_cost_per_token"]))
        assert cost_usd(price, usage) == expected


def test_off_peak_hours_are_cheaper_and_hold_only_for_a_known_moment(table):
    listed = table["deepseek/deepseek-flash"]
    off_peak = listed["off_peak_pricing"]
    price = price_of("deepseek-flash", "deepseek")
    usage = Usage(input_tokens=1_000, cache_read_tokens=2_000, output_tokens=3_000)

    def expected(rates):
        kinds = ("input_cost_per_token", "cache_read_input_token_cost", "output_cost_per_token")
        return total(*zip((1_000, 2_000, 3_000), (rates[kind] for kind in kinds), strict=True))

    monday, saturday = datetime(2026, 11, 30, 8, tzinfo=UTC), datetime(2026, 11, 28, 8, tzinfo=UTC)
    assert cost_usd(price, usage, at=saturday) == expected(off_peak)
    assert cost_usd(price, usage, at=monday) == cost_usd(price, usage) == expected(listed)


def test_every_price_is_the_one_that_litellm_calculates(table):
    from litellm.litellm_core_utils.llm_cost_calc.utils import generic_cost_per_token
    from litellm.types.utils import CompletionTokensDetailsWrapper, PromptTokensDetailsWrapper
    from litellm.types.utils import Usage as TheirUsage

    at = datetime(2026, 11, 28, 20, tzinfo=UTC)
    compared = 0
    for entry in dict(table):
        provider = table[entry].get("litellm_provider")
        price = find_price(entry, provider)
        if price is None or price.entry != entry:
            continue
        compared += 1
        for fresh, read, written in ((3_000, 500, 0), (190_000, 10_001, 0), (300_000, 9, 0), (1_000, 0, 99)):
            usage = Usage(
                input_tokens=fresh,
                cache_read_tokens=read,
                cache_write_tokens=written,
                output_tokens=90,
                reasoning_tokens=40,
            )
            sent = fresh + read + written
            theirs = TheirUsage(
                prompt_tokens=sent,
                completion_tokens=90,
                total_tokens=sent + 90,
                prompt_tokens_details=PromptTokensDetailsWrapper(
                    cached_tokens=read, cache_creation_tokens=written
                ),
                completion_tokens_details=CompletionTokensDetailsWrapper(reasoning_tokens=40),
            )
            expected = sum(
                generic_cost_per_token(entry, theirs, provider, model_info=table[entry], current_time=at)
            )
            ours = cost_usd(price, usage, at=at)
            assert ours is not None
            if written:  # a rate for writes below that for input is a gap in the table
                assert ours >= expected * (1 - 1e-9), entry
            else:
                assert ours == pytest.approx(expected, rel=1e-9), entry
    assert compared > 2_000


# What nobody knows


@pytest.mark.parametrize(
    ("model", "provider"),
    [
        ("no-such-model", "openai"),
        ("no-such-model", None),
        ("gpt-5", "hosted_vllm"),
        ("gpt-5", "litellm_proxy"),
        ("huggingface/meta-llama/Llama-3.3-70B-Instruct", None),
        ("ollama/not-in-the-table:8b", None),
        ("github_copilot/gpt-4o", None),
        ("perplexity/sonar", None),
    ],
)
def test_a_price_that_the_list_does_not_state_is_unknown(model, provider):
    assert find_price(model, provider) is None


def test_an_entry_without_a_price_for_input_or_output_is_unknown():
    assert read_entry("m", {"mode": "chat", "input_cost_per_token": 1e-6}, "list") is None
    nulls = {"mode": "chat", "input_cost_per_token": None, "output_cost_per_token": None}
    assert read_entry("m", nulls, "list") is None
    assert (
        read_entry("m", {"tiered_pricing": [{"input_cost_per_token": 1e-6, "range": [0, 9]}]}, "list") is None
    )


def test_nulls_in_the_table_are_an_unknown_price(table):
    assert "input_cost_per_token" not in table["github_copilot/gpt-4o"]
    assert find_price("gpt-4o", "github_copilot") is None


def test_a_local_model_is_free_and_a_zero_that_fills_a_gap_is_not(table):
    free = price_of("ollama/llama2")
    assert cost_usd(free, Usage(input_tokens=10**6, output_tokens=10**6)) == 0
    assert find_price("ollama/gpt-oss:20b-cloud") is None  # runs on somebody else's machine
    assert find_price("zai/glm-4.7-flash") is not None  # its provider's price page is cited
    gap = table["deepseek-v3-2-251201"]
    assert gap["input_cost_per_token"] == gap["output_cost_per_token"] == 0
    assert find_price("deepseek-v3-2-251201", "volcengine") is None


@pytest.mark.parametrize(
    "usage",
    [
        Usage(output_tokens=5),
        Usage(input_tokens=5),
        Usage(input_tokens=-1, output_tokens=5),
        Usage(input_tokens=5, output_tokens=5, cache_read_tokens=-1),
    ],
)
def test_without_both_counts_there_is_no_cost(usage):
    assert cost_usd(price_of("gpt-5"), usage) is None


def test_hidden_reasoning_at_its_own_price_has_no_cost():
    price = price_of("dashscope/qwen-turbo")
    assert cost_usd(price, Usage(input_tokens=1, output_tokens=5)) is None
    assert cost_usd(price, Usage(input_tokens=1, output_tokens=5, reasoning_tokens=6)) is None


def test_the_provider_s_own_figure_wins():
    price = price_of("gpt-5")
    usage = Usage(input_tokens=1_000, output_tokens=10, reported_cost_usd=0.25)
    told = cost_of(price, usage)
    assert (told.usd, told.source) == (0.25, "provider")
    assert cost_of(None, usage) == told


@pytest.mark.parametrize("reported", [None, float("nan"), float("inf"), -1.0])
def test_without_a_usable_figure_the_list_decides(reported):
    price = price_of("gpt-5")
    usage = Usage(input_tokens=1_000, output_tokens=10, reported_cost_usd=reported)
    cost = cost_of(price, usage)
    assert (cost.usd, cost.source) == (cost_usd(price, usage), price_source())


def test_an_unknown_cost_has_no_source():
    for cost in (cost_of(None, Usage(input_tokens=1, output_tokens=1)), cost_of(price_of("gpt-5"), None)):
        assert (cost.usd, cost.source) == (None, None)


# How a model is found


@pytest.mark.parametrize(
    ("model", "provider", "entry"),
    [
        ("gpt-5", None, "gpt-5"),
        ("openai/gpt-5", None, "gpt-5"),
        ("openai/gpt-5", "openai", "gpt-5"),
        ("anthropic/claude-sonnet-4-5", None, "claude-sonnet-4-5"),
        ("gemini-2.5-flash", "gemini", "gemini/gemini-2.5-flash"),
        ("gemini-2.5-flash", "vertex_ai", "gemini-2.5-flash"),
        ("llama2", "ollama_chat", "ollama/llama2"),
        ("ollama_chat/llama2", None, "ollama/llama2"),
        (f"bedrock/{BEDROCK_SONNET}", None, BEDROCK_SONNET),
    ],
)
def test_a_model_is_found_with_and_without_its_prefix(model, provider, entry):
    assert price_of(model, provider).entry == entry


def test_the_longest_answer_is_the_table_s(table):
    assert max_output_tokens("gpt-5", "openai") == table["gpt-5"]["max_output_tokens"]
    assert max_output_tokens("github_copilot/gpt-4o") == table["github_copilot/gpt-4o"]["max_output_tokens"]
    assert max_output_tokens("no-such-model", "openai") is None


def test_no_look_up_leaves_the_machine(monkeypatch):
    from litellm.types.utils import LlmProvidersSet

    attempts = []
    for name in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, name, lambda *arguments: attempts.append(arguments))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *arguments, **options: attempts.append(arguments) or [])
    for provider in sorted(LlmProvidersSet):
        find_price("some-model-2026-01-01", provider)
        find_price(f"{provider}/some-model")
        max_output_tokens(f"{provider}/owner/some-model")
    assert attempts == []


def test_fireworks_reads_its_cache_at_its_usual_discount(table):
    listed = next(
        entry
        for name, entry in table.items()
        if name.startswith("fireworks_ai/")
        and entry.get("input_cost_per_token")
        and entry.get("mode") == "chat"
        and "cache_read_input_token_cost" not in entry
    )
    name = next(name for name, entry in table.items() if entry is listed)
    rates = price_of(name).rates_for(1)
    assert 0 < rates.cache_read < rates.input


def test_reasoning_that_is_priced_like_output_rises_with_it():
    entry = {
        "input_cost_per_token": 1e-6,
        "output_cost_per_token": 2e-6,
        "output_cost_per_reasoning_token": 2e-6,
        "input_cost_per_token_above_128k_tokens": 2e-6,
        "output_cost_per_token_above_128k_tokens": 4e-6,
    }
    price = read_entry("m", entry, "list")
    assert price is not None
    assert price.rates_for(128_000).reasoning == 2e-6
    assert price.rates_for(128_001).reasoning == 4e-6


def test_xai_s_longer_tier_begins_at_the_threshold_itself():
    entry = {
        "litellm_provider": "xai",
        "input_cost_per_token": 1e-6,
        "output_cost_per_token": 2e-6,
        "input_cost_per_token_above_128k_tokens": 3e-6,
    }
    price = read_entry("m", entry, "list")
    assert price is not None
    assert [price.rates_for(tokens).input for tokens in (127_999, 128_000)] == [1e-6, 3e-6]


@pytest.mark.parametrize(
    ("window", "inside", "outside"),
    [
        (Window(start=time(16, 30), end=time(0, 30)), "2026-11-30T00:29", "2026-11-30T00:30"),
        (Window(start=time(4), end=time(6)), "2026-11-30T04:00", "2026-11-30T06:00"),
        (Window(start=time(0), end=time(0), weekdays=frozenset({6})), "2026-11-28T12:00", "2026-11-29T12:00"),
    ],
)
def test_a_window_has_a_start_and_no_end(window, inside, outside):
    assert window.contains(datetime.fromisoformat(inside).replace(tzinfo=UTC))
    assert not window.contains(datetime.fromisoformat(outside).replace(tzinfo=UTC))


def test_an_entry_that_nobody_expected_does_no_harm():
    odd = {
        "mode": "chat",
        "input_cost_per_token": 1e-6,
        "output_cost_per_token": 2e-6,
        "output_cost_per_token_above_200k_tokens": "dear",
        "off_peak_pricing": {
            "input_cost_per_token": 5e-7,
            "windows": ["noon", {"hours_utc": "noon-later"}, None],
        },
    }
    price = read_entry("m", odd, "list")
    assert price is not None
    assert price.off_peak_windows == ()
    assert cost_usd(price, Usage(input_tokens=300_000, output_tokens=0), at=datetime.now(UTC)) == 0.3
