"""`evalkit models`: the table of thinking budgets, and what one model is sent."""

from __future__ import annotations

import json
import re

import pytest
from typer.testing import CliRunner

from evalkit.cli.app import app
from evalkit.models.name import parse_model
from evalkit.models.sampling import Sampling
from evalkit.models.thinking import parse_thinking
from evalkit.models.thinking_choice import choose
from evalkit.models.thinking_table import rows


def output(*words: str) -> str:
    done = CliRunner().invoke(app, ["models", *words])
    assert done.exit_code == 0, done.output
    return done.output


def test_the_table_names_every_family_with_its_source():
    text = " ".join(output().split())
    for row in rows():
        assert " ".join(row.name.split()) in text
    assert text.count("source:") == len(rows())


def test_one_model_says_what_each_level_sends():
    text = output("anthropic/claude-sonnet-4-5")
    assert "anthropic/claude-sonnet-4-5: Claude 4 - 4.5" in text
    assert '{"thinking": {"type": "enabled", "budget_tokens": "$N"}}' in text
    assert "interleaved-thinking-2025-05-14" in text
    assert "Source: https://platform.claude.com/" in text


@pytest.mark.parametrize(
    "name",
    [
        "scripted/oracle",
        "gemini/gemini-2.5-flash",
        "anthropic/claude-opus-4-6",
        "openai/gpt-5.1",
        "openrouter/qwen/qwen3-8b",
        "openai-compatible/MiMo-7B-RL",
    ],
)
def test_every_level_that_is_printed_is_one_that_can_be_given(name):
    model, sampling = parse_model(name), Sampling(max_tokens=None)
    head, levels, *_ = output(name).split("\n\n")
    takes = " ".join(head.split()).partition(" takes ")[2]
    words, _, numbers = takes.partition(", or a number of tokens: ")
    printed = {line.split()[0] for line in levels.splitlines() if not line.startswith(" ")}
    assert printed == {*words.split(", "), *(["N"] if numbers else [])}
    for level in [*words.split(", "), *re.findall("[0-9]+", numbers)]:
        assert choose(model, parse_thinking(level), sampling, nearest=False).taken is None
    for level in json.loads(output(name, "--json"))["levels"]:
        given = level.replace("N", "4096")
        assert str(choose(model, parse_thinking(given), sampling, nearest=False)) == given


def test_programs_get_the_same():
    told = json.loads(output("gemini/gemini-2.5-flash", "--json"))
    assert told["family"] == "Gemini 2.5 flash"
    assert told["levels"]["off"] == {"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}}
    assert told["tokens"] == {"least": 1, "most": 24576}
    families = json.loads(output("--json"))["families"]
    assert [one["family"] for one in families] == [row.name for row in rows()]


def test_openais_two_interfaces_are_told_apart():
    told = json.loads(output("openai/gpt-5-mini", "--json"))
    assert told["levels"]["effort:low"] == {"reasoning_effort": "low"}
    assert told["responses"]["effort:low"] == {"reasoning": {"effort": "low"}}
    assert "Responses" in output("openai/gpt-5-mini")


@pytest.mark.parametrize("name", ["cohere/command-a", "nonsense"])
def test_a_model_that_is_not_known_is_said_to_be_so(name):
    done = CliRunner().invoke(app, ["models", name])
    assert done.exit_code != 0


def test_a_model_that_is_not_known_has_no_family_for_programs():
    assert json.loads(output("cohere/command-a", "--json")) == {"model": "cohere/command-a", "family": None}
