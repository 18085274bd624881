"""Scripted personas do exactly what they say."""

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
    ],
)
def test_thinking_budgets_are_read(text, asked):
    assert parse_thinking(text).asked == asked


@pytest.mark.parametrize("text", ["", "-5", "lots", "1.5", "٣"])
def test_what_is_no_thinking_budget_is_refused(text):
    with pytest.raises(UsageError):
        parse_thinking(text)
