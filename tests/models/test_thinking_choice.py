"""What a model cannot take is refused before anything is spent, or the nearest is taken."""

from __future__ import annotations

import pytest

from evalkit.errors import UsageError
from evalkit.models.name import parse_model
from evalkit.models.sampling import Sampling
from evalkit.models.thinking import Thinking, parse_thinking
from evalkit.models.thinking_choice import choose


def chosen(model: str, asked: str, *, nearest: bool = False, **sampling) -> Thinking:
    return choose(parse_model(model), parse_thinking(asked), Sampling(**sampling), nearest=nearest)


@pytest.mark.parametrize(
    ("model", "asked", "takes"),
    [
        (
            "gemini/gemini-2.5-pro",
            "off",
            "default, dynamic, low, medium, high, or a number of tokens: 128 to 32768.",
        ),
        ("gemini/gemini-2.5-flash", "24577", "a number of tokens: 1 to 24576."),
        ("gemini/gemini-3-flash-preview", "2048", "default, off, dynamic, minimal, low, medium, high"),
        ("anthropic/claude-sonnet-4-5", "1023", "a number of tokens: 1024 or more."),
        ("anthropic/claude-sonnet-4-5", "dynamic", "default, off, low, medium, high"),
        ("anthropic/claude-opus-4-6", "xhigh", "low, medium, high, max"),
        ("anthropic/claude-opus-4-7", "2048", "default, off, on, dynamic, low, medium, high, xhigh, max"),
        ("anthropic/claude-mythos-5", "off", "default, on, dynamic"),
        ("anthropic/claude-3-5-sonnet-20241022", "low", "default"),
        ("openai/o3", "off", "default, dynamic, low, medium, high"),
        ("openai/gpt-5.1", "minimal", "default, off, dynamic, low, medium, high"),
        ("openai/gpt-4o", "low", "default"),
        ("deepseek/deepseek-reasoner", "low", "default, off, on, dynamic, high, max"),
        ("moonshot/kimi-k2-thinking", "off", "default, dynamic"),
        ("openai-compatible/MiMo-7B-RL", "off", "default, dynamic, or a number of tokens: 1 or more."),
    ],
)
def test_a_level_that_does_not_exist_is_refused_with_those_that_do(model, asked, takes):
    with pytest.raises(UsageError, match="cannot be given the thinking budget") as refused:
        chosen(model, asked)
    assert takes in str(refused.value.hint)
    assert "--thinking-nearest would take" in str(refused.value.hint)


def test_a_model_of_which_nothing_is_known_takes_no_budget_but_the_default():
    with pytest.raises(UsageError, match="not known what it takes"):
        chosen("cohere/command-a", "low", nearest=True)
    assert chosen("cohere/command-a", "default") == Thinking("default")


@pytest.mark.parametrize(
    ("model", "asked", "name"),
    [
        ("anthropic/claude-opus-4-6", "xhigh", "effort:xhigh~high"),
        ("gemini/gemini-2.5-pro", "off", "off~tokens:128"),
        ("gemini/gemini-2.5-flash", "99999", "tokens:99999~24576"),
        ("anthropic/claude-sonnet-4-5", "100", "tokens:100~1024"),
        ("anthropic/claude-sonnet-4-5", "dynamic", "dynamic~effort:medium"),
        ("openai/o3", "off", "off~effort:low"),
        ("openai/gpt-5-mini", "8000", "tokens:8000~effort:medium"),
        ("openai/gpt-5-mini", "on", "on~dynamic"),
        ("deepseek/deepseek-reasoner", "minimal", "effort:minimal~high"),
        ("moonshot/kimi-k2.5", "high", "effort:high~on"),
        ("openai/gpt-4o", "high", "effort:high~default"),
        ("anthropic/claude-opus-4-7", "max", "effort:max"),
        ("openai-compatible/MiMo-7B-RL", "off", "off~dynamic"),
        ("dashscope/qwen3-235b-a22b-thinking-2507", "off", "off~tokens:1"),
    ],
)
def test_the_nearest_is_taken_where_that_is_good_enough_and_the_name_says_both(model, asked, name):
    thinking = chosen(model, asked, nearest=True)
    assert str(thinking) == name
    assert thinking.asked == parse_thinking(asked).asked


@pytest.mark.parametrize(("asked", "most"), [("2048", 2048), ("2048", 1000), ("high", 24576)])
def test_a_budget_must_be_below_the_tokens_of_an_answer_and_none_is_raised(asked, most):
    with pytest.raises(UsageError, match=f"in an answer of {most}") as refused:
        chosen("anthropic/claude-sonnet-4-5", asked, max_tokens=most)
    assert "--max-tokens" in str(refused.value.hint)
    assert chosen("anthropic/claude-sonnet-4-5", asked, max_tokens=32000).level == parse_thinking(asked).asked


@pytest.mark.parametrize(
    "model",
    [
        "gemini/gemini-2.5-flash",
        "openrouter/qwen/qwen3-8b",
        "dashscope/qwen-plus",
        "openai-compatible/Qwen3-8B",
        "inspect/anthropic/claude-sonnet-4-5",
    ],
)
def test_no_model_can_think_with_all_the_tokens_of_an_answer(model):
    with pytest.raises(UsageError, match="cannot think with 4000 tokens") as refused:
        chosen(model, "4000", max_tokens=4000)
    assert "--max-tokens 8096" in str(refused.value.hint)
    assert chosen(model, "4000", max_tokens=4001).level == "tokens:4000"


def test_the_nearest_level_does_not_depend_on_how_the_level_was_written():
    for one, other in (
        ("minimal", "effort:minimal"),
        ("700", "tokens:700"),
        ("none", "off"),
        ("auto", "dynamic"),
    ):
        assert chosen("openai/o3", one, nearest=True) == chosen("openai/o3", other, nearest=True)


def test_without_a_bound_of_ones_own_the_models_own_counts():
    assert chosen("anthropic/claude-sonnet-4-5", "8192").level == "tokens:8192"
    with pytest.raises(UsageError, match="in an answer of"):
        chosen("anthropic/claude-sonnet-4-5", "900000")
    with pytest.raises(UsageError, match="its longest") as refused:
        chosen("anthropic/claude-sonnet-4-5", "900000", nearest=True)
    assert "--max-tokens" not in str(refused.value.hint)
    with pytest.raises(UsageError, match="not known how many tokens an answer"):
        chosen("anthropic/claude-sonnet-4-5-of-tomorrow", "8192")


@pytest.mark.parametrize(
    ("model", "asked", "temperature"),
    [
        ("anthropic/claude-sonnet-4-5", "2048", 0.2),
        ("anthropic/claude-opus-4-7", "high", 1.0),
        ("openai/gpt-5.2", "low", 0.0),
        ("deepseek/deepseek-chat", "on", 0.5),
    ],
)
def test_a_temperature_that_thinking_forbids_is_refused(model, asked, temperature):
    with pytest.raises(UsageError, match="takes no temperature") as refused:
        chosen(model, asked, temperature=temperature)
    assert "Leave --temperature out" in str(refused.value.hint)


def test_a_temperature_goes_where_nothing_is_thought_or_where_it_is_allowed():
    assert chosen("openai/gpt-5.1", "off", temperature=0.5).level == "off"
    assert chosen("anthropic/claude-sonnet-4-5", "2048", temperature=1.0).level == "tokens:2048"
    assert chosen("gemini/gemini-2.5-flash", "2048", temperature=0.5).level == "tokens:2048"


def test_an_open_reasoner_is_bounded_by_one_number_not_by_two():
    assert chosen("openai-compatible/MiMo-7B-RL", "500").level == "tokens:500"
    with pytest.raises(UsageError, match="two numbers are given"):
        chosen("openai-compatible/MiMo-7B-RL", "500", max_tokens=900)


def test_scripted_agents_take_every_level():
    for asked in ("off", "on", "dynamic", "1", "2048", "minimal", "max"):
        assert chosen("scripted/oracle", asked).taken is None


@pytest.mark.parametrize("model", ["inspect/google/gemini-2.5-flash", "inspect/openai-api/vllm/Qwen3-8B"])
def test_inspects_words_for_providers_are_known_too(model):
    assert chosen(model, "off").level == "off"
