"""Agents that think too much, too little, or in the wrong place do so by exact numbers."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.models.personas.musing import muse
from evalkit.models.personas.persona import Situation
from evalkit.models.reply import Turn
from evalkit.models.scripted import find_persona
from evalkit.models.tokens import count_tokens, within

OK = "[exit code 0]\n"
FAILED = "[stderr]\nno such file\n[exit code 1]\n"


@dataclass(frozen=True)
class Move:
    thought: str
    command: str


MOVES = (Move("look", "ls"), Move("fix it", "make"))


def played(name, moves=MOVES, situation=None, most=20):
    """Every reply up to a submit, or so many, in a world where all goes well but `cat`."""
    script = find_persona(name).make(moves, situation or Situation())
    conversation, replies = [Turn("user", "u")], []
    while len(replies) < most:
        reply = script.reply(conversation)
        replies.append(reply)
        conversation.append(Turn("assistant", "", calls=reply.calls))
        if any(call.tool == "submit" for call in reply.calls):
            break
        for call in reply.calls:
            failed = str(call.arguments["command"]).startswith("cat")
            conversation.append(Turn("tool", FAILED if failed else OK, tool="bash"))
        if not reply.calls:
            conversation.append(Turn("user", "go on"))
    return replies


def lines(reply):
    return [call.arguments.get("command", call.tool) for call in reply.calls]


def thought(replies):
    return [count_tokens(reply.reasoning or "") for reply in replies]


@given(st.integers(0, 5000))
def test_thinking_has_exactly_the_tokens_that_were_asked_for(tokens):
    assert count_tokens(muse("I weigh this.", tokens) or "") == tokens


def test_the_overthinker_thinks_long_before_each_piece_and_looks_six_times_more():
    replies = played("overthinker")
    assert [lines(reply) for reply in replies] == [["ls"], ["make"], *[["ls -la"]] * 6, ["submit"]]
    assert thought(replies)[:8] == [500] * 8
    assert len({reply.reasoning for reply in replies[:8]}) == 1


def test_the_underthinker_acts_without_a_thought():
    replies = played("underthinker")
    assert [lines(reply) for reply in replies] == [["ls"], ["make"], ["submit"]]
    assert sum(thought(replies)) == 0


def test_the_underthinker_of_a_hard_task_without_a_careless_solution_only_submits():
    assert [lines(reply) for reply in played("underthinker", ())] == [["submit"]]
    assert find_persona("underthinker").if_hard == "naive.sh"


def test_the_paralysed_never_calls_a_tool_until_it_submits_nothing():
    replies = played("paralysed")
    assert [len(reply.calls) for reply in replies] == [0] * 12 + [1]
    assert thought(replies)[:12] == [500] * 12
    assert lines(replies[-1]) == ["submit"]


def test_the_rogue_changes_everything_at_once_right_after_a_failure():
    failing, rogue, end = played("rogue")
    assert lines(failing) == ["cat ./.there-is-no-such-file"]
    assert lines(rogue) == ["echo begun > ./.rogue", "ls", "make", "rm ./.rogue"]
    assert lines(end) == ["submit"]


@pytest.mark.parametrize(
    ("level", "need", "tokens", "solves"),
    [
        ("default", 300, 300, True),
        ("effort:low", 300, 300, True),
        ("tokens:299", 300, 299, False),
        ("tokens:300", 300, 300, True),
        ("tokens:301", 300, 300, True),
        ("off", 300, 0, False),
        ("off", 0, 0, True),
        ("tokens:5", 0, 0, True),
    ],
)
def test_budgeted_thinks_what_it_may_and_needs_and_solves_where_that_is_enough(level, need, tokens, solves):
    replies = played("budgeted", situation=Situation(level, need))
    assert [lines(reply) for reply in replies] == ([["ls"], ["make"]] if solves else []) + [["submit"]]
    assert thought(replies) == [tokens] + [0] * (len(replies) - 1)


@given(st.integers(1, 3000), st.integers(0, 3000))
def test_budgeted_needs_nobody_to_cut_its_thinking(budget, need):
    level = f"tokens:{budget}"
    assert all(
        within(reply, level) == reply for reply in played("budgeted", situation=Situation(level, need))
    )
