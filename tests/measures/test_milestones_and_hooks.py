"""What closes an episode besides an action, and what else says that one failed."""

from __future__ import annotations

import json

import pytest

from evalkit.measures.action import actions
from evalkit.measures.episode import episodes
from evalkit.measures.failure_rule import failure_rule
from evalkit.measures.milestone import milestones
from evalkit.measures.shell_line import answers_with_1
from evalkit.trajectory.step import Act, Event


def call(number: int, line: str, exit_code: int = 0) -> Act:
    return Act(step=number, tool="bash", arguments=json.dumps({"command": line}), exit_code=exit_code)


def checkpoint(step: int, **detail) -> Event:
    return Event(step=step, event="checkpoint", detail=json.dumps(detail))


def test_a_milestone_closes_every_episode_that_is_open_then():
    seen = actions([call(0, "python3 a.py", 1), call(1, "python3 b.py", 1), call(3, "python3 c.py", 1)])
    first, second, third = episodes(seen, milestones=[2])
    assert (first.closed_at, second.closed_at, third.closed_at) == (2, 2, None)
    assert first.by_milestone
    assert not first.abandoned
    assert third.abandoned


def test_a_milestone_after_the_last_call_counts_too():
    (episode,) = episodes(actions([call(0, "python3 a.py", 1)]), milestones=[5])
    assert episode.closed_at == 5


def test_a_milestone_before_the_failure_closes_nothing():
    (episode,) = episodes(actions([call(3, "python3 a.py", 1)]), milestones=[1])
    assert not episode.recovered


def test_a_milestone_is_reached_the_first_time_that_it_passes():
    events = [
        checkpoint(1, checks={"unit": False}),
        checkpoint(2, checks={"unit": True, "other": True}),
        checkpoint(3, checks={"unit": True}),
        checkpoint(4, stage="integration", passed=True),
        Event(step=5, event="checkpoint", detail="{"),
    ]
    assert milestones(events, ("unit", "integration")) == (2, 4)
    assert milestones(events, ()) == ()


def test_a_hook_is_asked_last():
    def says_error(act: Act) -> bool:
        return (act.observation or "").startswith("Error")

    told = Act(step=0, tool="book", arguments="{}", observation="Error: no seats")
    assert failure_rule(told) is None
    assert failure_rule(told, hooks=(says_error,)) == "hook"
    assert failure_rule(call(0, "ls x", 2), hooks=(says_error,)) == "exit_code"
    assert actions([told], hooks=(says_error,))[0].failure == "hook"


@pytest.mark.parametrize(
    ("line", "answers"),
    [
        ("grep x f", True),
        ("cat f | sudo grep 'a;b|c' ", True),
        ("python3 x.py; diff a b", True),
        ("python3 x.py | grep ok", True),
        ("cd /app && cat f && grep x f", True),
        ("[ -f a ] && [ -f b ]", True),
        ("echo looking && grep x f", True),
        ("! grep x f", True),
        ("FOO=1 timeout 5 cmp a b", True),
        ("grep x f > out", True),
        ("if [ -f x ]", True),
        ("python3 x.py && grep ok out", False),
        ("make test && diff a b", False),
        ("grep x f && python3 x.py", False),
        ("grep x f | wc -l", False),
        ("echo grep", False),
        ("", False),
    ],
)
def test_whose_exit_code_1_is_an_answer(line, answers):
    assert answers_with_1(line) == answers
