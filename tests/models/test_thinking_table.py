"""The table of thinking budgets is a file: mistakes in it are named, and the first row that fits counts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.errors import ConfigError
from evalkit.models import thinking_table
from evalkit.models.name import parse_model
from evalkit.models.thinking_table import row_for, rows
from evalkit.models.thinking_wire import merged

ROW = '[[row]]\nname = "x"\nproviders = ["p"]\nmodels = ["*"]\nsource = "s"\n'


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Read a table that holds one row with something more."""

    def run(more: str):
        file = tmp_path / "thinking.toml"
        file.write_text(ROW + more)
        monkeypatch.setattr(thinking_table, "TABLE", file)
        return thinking_table.rows.__wrapped__()

    return run


def test_a_row_says_which_levels_there_are_least_first(read):
    (row,) = read(
        'off = { a = 0 }\neffort = { a = "$E" }\nefforts = ["high", "low"]\ntokens = { b = "$N" }\nmost = 9\n'
    )
    assert row.levels == ("default", "off", "effort:low", "effort:high", "tokens:N")
    assert row.piece("effort:high") == {"a": "high"}
    assert row.piece("tokens:7") == {"b": 7}
    assert (row.has("tokens:9"), row.has("tokens:10"), row.has("on")) == (True, False, False)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("ofF = {}\n", "unknown key"),
        ('efforts = ["low"]\n', "belong together"),
        ('effort = { a = "$E" }\nefforts = ["huge"]\n', "efforts"),
        ("effort_tokens = { low = 1 }\n", "needs tokens"),
    ],
)
def test_a_mistake_in_the_table_is_named_with_its_place(read, more, said):
    with pytest.raises(ConfigError, match=said) as refused:
        read(more)
    assert "thinking.toml" in str(refused.value.where)


def test_names_of_rows_are_unlike():
    names = [row.name for row in rows()]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("anthropic/claude-opus-4-20250514", "Claude 4 - 4.5"),
        ("anthropic/claude-sonnet-4-6", "Claude 4.6"),
        ("anthropic/claude-opus-5-5", "Claude that cannot be off"),
        ("anthropic/claude-haiku-5-5", "Claude 4.7 and later"),
        ("vertex_ai/claude-sonnet-4@20250514", "Claude 4 - 4.5"),
        ("bedrock/eu.anthropic.claude-3-7-sonnet-20250219-v1:0", "Claude 3.7 - 4.6 on Bedrock"),
        ("openai/chat/gpt-5-nano", "GPT-5"),
        ("openai/gpt-5.4-pro", "GPT-5.2 pro and later"),
        ("openai/gpt-5-chat-latest", "OpenAI without thinking"),
        ("inspect/google/gemini-2.5-flash-lite", "Gemini 2.5 flash-lite"),
        ("inspect/openai-api/sglang/Qwen/Qwen3-8B", "Qwen3 hybrid, SGLang and others"),
        ("scripted/oracle", "scripted agents"),
    ],
)
def test_a_models_name_leads_to_its_family(model, name):
    assert row_for(parse_model(model)).name == name


JSON = st.recursive(
    st.integers() | st.booleans() | st.text(max_size=3),
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(st.sampled_from("abc"), JSON, max_size=3)


@given(OBJECTS, OBJECTS)
def test_what_is_put_into_a_body_wins_and_putting_it_in_twice_changes_nothing(body, piece):
    once = merged(body, piece)
    assert merged(once, piece) == once
    assert set(once) == set(body) | set(piece)
    assert merged(body, {}) == body
