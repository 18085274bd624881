"""`evalkit models`: the table of thinking budgets, and what one model is sent."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from evalkit.cli.app import app
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
