"""Faults strike tools of the user's own, and evalkit's tools under somebody else's loop."""

from __future__ import annotations

import json

import pytest

import evalkit
from evalkit.engine.faults import canary
from evalkit.engine.prepare import RunFlags, prepare
from evalkit.engine.start import start
from evalkit.trajectory.step import Act, Event

pytestmark = pytest.mark.local

TOOLS = """\
SCRIPT = [[("search", {"query": "colour"})]] * 2 + [[("bash", {"command": "echo done > out"})]] * 2 + [
    [("submit", {"answer": "x"})]
]

@tool
def search():
    async def execute(query: str, most: int = 3) -> str:
        '''Search the handbook.

        Args:
            query: What to look for.
            most: How many hits.
        '''
        return f"{query}: 42 hits"

    return execute

@solver
def plain():
    async def solve(state, generate):
        return await generate(state, tool_calls="loop")

    return solve
"""


@pytest.fixture
def play(inspect_file, make_suite, tmp_path, monkeypatch, quiet, player, local_support):
    """The acts and fault events of the faulted variant, with a tool of the user's own."""
    monkeypatch.chdir(tmp_path)
    inspect_file(TOOLS)
    (tmp_path / "evalkit.toml").write_text('tools = ["theirs.py@search"]\n')

    def run(fault: str, *, settings: str = "", loop: str | None = None, **more):
        (tmp_path / "plan.toml").write_text(f'[[faults]]\nid = "f"\n{fault}\n')
        (tmp_path / "tools.toml").write_text(settings)
        flags = RunFlags(
            suites=(str(make_suite()),),
            models=(player,),
            out=tmp_path / "run",
            faults="plan.toml",
            tools=tmp_path / "tools.toml",
            loop=loop,
            **more,
        )
        opened = evalkit.load(start(prepare(flags), quiet).path)
        (trial,) = (row for row in opened.rows() if row.variant == "f")
        _, steps = opened.trial(trial.trial_id)
        acts = [step for step in steps if isinstance(step, Act) and step.tool != "submit"]
        told = [
            json.loads(step.detail) for step in steps if isinstance(step, Event) and step.event == "fault"
        ]
        return acts, told

    return run


ANY = 'when = { tool = "search", matches = "colour" }\n'


@pytest.mark.parametrize("loop", [None, "theirs.py@plain"])
def test_a_tool_of_the_users_fails_as_a_tool_does(play, loop):
    acts, told = play(ANY + 'kind = "error_500"', loop=loop)
    assert acts[0].observation == "500 Internal Server Error"
    assert (acts[0].error_kind, acts[0].fault_id, acts[0].stdout) == ("unavailable", "f", None)
    assert (acts[1].observation, acts[1].fault_id) == ("colour: 42 hits", None)
    assert [one["visible"] for one in told] == [True]


def test_a_structured_error_of_such_a_tool_says_what_helps(play):
    fault = ANY + 'kind = "rate_limit"\nretry_after_s = 2\ntimes = 1'
    acts, _ = play(fault, settings='errors = "structured"')
    assert json.loads(acts[0].observation) == {
        "error": {
            "kind": "rate_limited",
            "message": "429 Too Many Requests, retry-after: 2",
            "hint": "Wait 2 seconds, then run it again.",
            "retry_after_s": 2.0,
        }
    }


@pytest.mark.parametrize("loop", [None, "theirs.py@plain"])
def test_a_lie_takes_the_place_of_what_such_a_tool_gave(play, loop):
    acts, told = play(ANY + 'kind = "wrong_value"', loop=loop)
    number = canary.like("42", "one", "f", "colour: 42 hits")
    assert acts[0].observation == f"colour: {number} hits"
    assert (acts[0].fault_id, acts[1].observation) == ("f", "colour: 42 hits")
    assert (told[0]["canary"], told[0]["true_stdout"]) == (number, "colour: 42 hits")


@pytest.mark.parametrize("loop", [None, "theirs.py@plain"])
@pytest.mark.parametrize("tool", ["search", "bash"])
def test_a_wait_that_the_end_of_the_agents_time_cuts_off_has_struck(play, loop, tool):
    fault = f'when = {{ tool = "{tool}" }}\nkind = "timeout"\nwait_s = 30'
    acts, told = play(fault, loop=loop, time_limit_s=4)
    assert (acts[-1].tool, acts[-1].fault_id, acts[-1].error_kind) == (tool, "f", "limit")
    assert [(one["strike"], one["visible"]) for one in told] == [(1, True)]


def test_evalkits_own_tools_are_struck_under_another_loop(play):
    acts, _ = play('when = { tool = "bash" }\nkind = "permission"', loop="theirs.py@plain")
    assert [(act.tool, act.error_kind, act.exit_code) for act in acts[2:]] == [
        ("bash", "permission", 126),
        ("bash", None, 0),
    ]
    assert acts[2].observation == "[stderr]\nsh: permission denied\n[exit code 126]\n"
