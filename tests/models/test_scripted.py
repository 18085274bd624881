"""Scripted personas do exactly what they say."""

from contextlib import suppress
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.errors import UsageError
from evalkit.models.name import is_served_by, parse_model
from evalkit.models.reply import Reply, ToolRequest, Turn
from evalkit.models.scripted import find_persona
from evalkit.models.thinking import parse_thinking
from evalkit.models.tokens import count_reply, count_tokens


@dataclass(frozen=True)
class Move:
    thought: str
    command: str


MOVES = (Move("look", "ls"), Move("fix it", "sed -i s/a/b/ f"))


def conversation(assistant_turns):
    turns = [Turn("system", "s"), Turn("user", "u")]
    for _ in range(assistant_turns):
        turns += [Turn("assistant", ""), Turn("tool", "ok", tool="bash")]
    return turns


def test_the_oracle_plays_piece_by_piece_with_the_thought_as_its_reasoning():
    script = find_persona("oracle").make(MOVES)
    assert script.reply(conversation(0)) == Reply(
        reasoning="look", calls=(ToolRequest("bash", {"command": "ls"}),)
    )
    assert script.reply(conversation(1)).reasoning == "fix it"


def test_the_oracle_submits_after_the_last_piece():
    assert find_persona("oracle").make(MOVES).reply(conversation(2)).calls[0].tool == "submit"


def test_nop_submits_at_once():
    assert find_persona("nop").make(()).reply(conversation(0)).calls[0].tool == "submit"


def test_a_misspelt_persona_is_answered_with_the_nearest():
    with pytest.raises(UsageError, match="Did you mean scripted/oracle"):
        find_persona("orcale")


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("ü", 1), ("üüü", 2)]
)
def test_tokens_are_a_quarter_of_the_utf8_bytes_rounded_up(text, tokens):
    assert count_tokens(text) == tokens


@given(st.text(), st.text())
def test_a_generation_counts_reasoning_inside_output(reasoning, text):
    counted = count_reply([Turn("user", text)], Reply(reasoning=reasoning, text=text))
    assert counted.reasoning == count_tokens(reasoning)
    assert counted.output == counted.reasoning + count_tokens(text)
    assert counted.input == count_tokens(text)


def test_calls_count_as_visible_output():
    quiet = count_reply([], Reply(reasoning="think"))
    acting = count_reply([], Reply(reasoning="think", calls=(ToolRequest("bash", {"command": "ls -la"}),)))
    assert acting.reasoning == quiet.reasoning
    assert acting.output > quiet.output


@pytest.mark.parametrize("name", ["oracle", "scripted/", "/x", "", "inspect/openai"])
def test_a_model_name_without_a_route_is_refused(name):
    with pytest.raises(UsageError):
        parse_model(name)


def test_any_other_provider_goes_through_litellm():
    model = parse_model("openrouter/anthropic/claude-sonnet-4.5")
    assert (model.route, model.provider) == ("litellm", "openrouter")
    assert str(model) == model.name == "openrouter/anthropic/claude-sonnet-4.5"


@pytest.mark.parametrize(
    ("asked", "served", "same"),
    [
        ("openai/gpt-5-mini", "gpt-5-mini-2025-08-07", True),
        ("openrouter/anthropic/claude-sonnet-4.5", "anthropic/claude-4.5-sonnet-20250929", True),
        ("openai-compatible/smollm2", "/models/SmolLM2-135M.gguf", True),
        ("deepseek/deepseek-reasoner", "deepseek-v4-flash", False),
        ("openai/gpt-5", "gpt-5-mini", True),
        ("openai/gpt-5-mini", "gpt-5", False),
    ],
)
def test_which_names_in_a_response_can_be_the_model_asked_for(asked, served, same):
    assert is_served_by(asked, served) is same


def test_inspects_own_providers_are_named_whole():
    model = parse_model("inspect/openai/gpt-5")
    assert (model.route, model.name, str(model)) == ("inspect", "openai/gpt-5", "inspect/openai/gpt-5")


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("default", "default"),
        ("0", "off"),
        ("OFF", "off"),
        ("-1", "dynamic"),
        ("high", "effort:high"),
        ("2048", "tokens:2048"),
        (" Effort:HIGH ", "effort:high"),
        ("tokens:2048", "tokens:2048"),
        ("tokens:0", "off"),
        ("none", "off"),
        ("disabled", "off"),
        ("enabled", "on"),
        ("adaptive", "dynamic"),
        ("auto", "dynamic"),
        ("999999999", "tokens:999999999"),
    ],
)
def test_thinking_budgets_are_read(text, asked):
    assert parse_thinking(text).asked == asked


@pytest.mark.parametrize(
    "text", ["", "lots", "1.5", "٣", "1e3", "1_000", "+5", "2k", "effort:", "effort:5", "nan"]
)
def test_what_is_no_thinking_budget_is_refused(text):
    with pytest.raises(UsageError, match="is no thinking budget") as refused:
        parse_thinking(text)
    assert "minimal, low, medium, high, xhigh, max" in str(refused.value.hint)


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("-5", "only -1 has a meaning of its own"),
        ("000", "write 1000, not 1,000"),
        ("0500", "write 1000, not 1,000"),
        ("9999999999", "The largest number is 999999999"),
        ("tokens:N", "Write a number in place of N"),
        ("N", "Write a number in place of N"),
        ("1024..32000", "several stand in a list: 1024,32000"),
        ("1024 to 32000", "several stand in a list: 1024,32000"),
        ("medum", "Did you mean medium?"),
        ("effort:hihg", "Did you mean high?"),
        ("deflault", "Did you mean default?"),
    ],
)
def test_what_was_nearly_a_thinking_budget_is_refused_with_advice(text, advice):
    with pytest.raises(UsageError) as refused:
        parse_thinking(text)
    assert advice in str(refused.value.hint)


@given(st.text(max_size=12) | st.from_regex(r"(tokens:|effort:)?[-+]?[0-9]{0,12}", fullmatch=True))
def test_whatever_is_given_as_a_budget_is_one_or_is_refused_and_one_is_read_as_it_is_printed(text):
    budget = None
    with suppress(UsageError):
        budget = parse_thinking(text)
    assert budget is None or parse_thinking(str(budget)) == budget
