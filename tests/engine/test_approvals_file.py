"""A file of approvals: what it holds, and what is wrong with it, told with line and nearest key."""

from __future__ import annotations

import re

import pytest

from evalkit.engine.agent import make_agents
from evalkit.engine.approvals.policy import Approvals
from evalkit.engine.approvals.policy_file import load_approvals
from evalkit.engine.tool_settings import ToolSettings
from evalkit.errors import ConfigError

RULE = '[[rule]]\nname = "a"\ndecision = "deny"\ntool = "bash"\n'


@pytest.fixture
def read(tmp_path):
    """Read a file of this text."""

    def load(text, name="strict.toml"):
        (tmp_path / name).write_text(text)
        return load_approvals(tmp_path / name)

    return load


def test_an_empty_file_allows_everything_and_is_called_as_the_file(read):
    approvals = read("")
    assert (approvals.name, approvals.default, approvals.unattended, approvals.rule) == (
        "strict",
        "allow",
        "deny",
        (),
    )
    assert load_approvals(None) is None


def test_the_digest_is_that_of_what_the_rules_say(read):
    same = read('default = "allow"\n' + RULE)
    assert read(RULE).id == same.id
    assert read(RULE, "other.toml").id != same.id
    assert read(RULE.replace("deny", "ask")).digest != same.digest
    assert re.fullmatch(r"strict#[0-9a-f]{6}", same.id)
    assert Approvals.model_validate(same.parts) == same


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('defualt = "deny"', 1, "Did you mean default?"),
        ('default = "no"', 1, "should be 'allow', 'deny' or 'ask', not 'no'"),
        ('unattended = "ask"', 1, "should be 'allow' or 'deny'"),
        (RULE + 'comand = "x"', 5, "Did you mean command?"),
        (RULE.replace("bash", ""), 4, "at least 1 character"),
        (RULE + 'command = "("', 5, "not a valid regular expression"),
        (RULE + 'command = "(a+)+b"', 5, "can take forever"),
        (RULE + "network = false", 5, "should be true, or be left out"),
        (RULE + 'network = "yes"', 5, "should be a valid boolean"),
        (RULE.replace("deny", "forbid"), 3, "should be 'allow', 'deny' or 'ask'"),
        (RULE.replace('"a"', '"default"'), 2, "choose another name"),
        (RULE.replace('"a"', '"a b"'), 2, "letters, digits"),
        ('[[rule]]\nname = "a"\ndecision = "deny"', 1, "needs a tool, command, path or network"),
        ('[[rule]]\ndecision = "deny"\ntool = "x"', 1, "rule[0].name: this key is required"),
        (RULE.replace("decision", "decison"), 3, "unknown key rule[0].decison Did you mean decision?"),
        (RULE.replace("name", "nmae"), 2, "unknown key rule[0].nmae Did you mean name?"),
        (RULE.replace("decision", "colour").replace("name", "nam"), 2, "unknown key rule[0].nam Did you"),
        (RULE.replace("decision", "verdict"), 3, "unknown key rule[0].verdict"),
        (RULE + RULE, 6, "two rules are called 'a'"),
        (RULE + 'command = "api_key = sk-abcdefghijklmnopqrstuvwxyz123456"', 1, "looks like a secret"),
        ("rule = 1", 1, "should be a list"),
        ("[rule", 1, "not valid TOML"),
    ],
)
def test_a_mistake_names_the_line_and_what_was_meant(read, text, line, said):
    with pytest.raises(ConfigError) as caught:
        read(text)
    assert str(caught.value.where).endswith(f"strict.toml:{line}")
    assert said in f"{caught.value.message} {caught.value.hint}"


def test_a_file_name_that_is_no_name_asks_for_one(read):
    with pytest.raises(ConfigError, match="name: should be"):
        read(RULE, "my rules.toml")
    assert read('name = "mine"\n' + RULE, "my rules.toml").name == "mine"


def test_agents_differ_by_their_approvals_and_those_without_keep_their_digest(read):
    (plain,) = make_agents(["scripted/oracle"], [], ToolSettings())
    (held,) = make_agents(["scripted/oracle"], [], ToolSettings(), approvals=read(RULE))
    assert plain.id == "react/scripted/oracle"
    assert plain.digest == "2d36a55cbe014fdcefe3f9dfd51ddce49be6402473d298c0d4b91b58ec0d7789"
    assert held.id == f"react/scripted/oracle+approvals:{read(RULE).id}"
    assert held.digest != plain.digest


def test_tool_settings_without_a_word_on_denials_keep_their_id():
    assert ToolSettings(name="terse", errors="terse").id == "terse#3b4319"
    assert ToolSettings(name="terse", errors="terse", denials="terse").id != "terse#3b4319"
