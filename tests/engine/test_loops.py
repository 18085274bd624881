"""Any solver of Inspect's can be the agent loop; our tools record as deep under it as under our own."""

from __future__ import annotations

import json

import pytest

from evalkit.engine.prepare import RunFlags, prepare
from evalkit.errors import UsageError
from evalkit.trajectory.step import Act, Event, Prompt

pytestmark = pytest.mark.local

WORK = '[("bash", {"command": "echo done > out; echo seen; echo err >&2; exit 3"})]'
SUBMIT = '[("submit", {"answer": "finished"})]'
LOOPS = """\
SCRIPT = [{script}]

@solver
def plain():
    async def solve(state, generate):
        return await generate(state, tool_calls="loop")

    return solve

@agent
def theirs():
    async def execute(state: AgentState) -> AgentState:
        state.output = await get_model().generate(state.messages)
        state.messages.append(state.output.message)
        return state

    return execute

@solver
def choosy(depth: int):
    return plain()

@solver
def react():
    return plain()
"""


@pytest.fixture
def run_loop(inspect_file, make_suite, run_suite, player):
    """Run one task with a loop; SCRIPT is what the model plays."""

    def run(loop: str, *script: str, **flags):
        path = inspect_file(LOOPS.replace("{script}", ", ".join(script)))
        named = loop if "/" in loop else f"{path}@{loop}"
        prepare_player(path)
        run = run_suite(make_suite(), player, loop=named, **flags)
        return run.trial(run.rows()[0].trial_id)

    return run


def prepare_player(path):
    """Inspect knows a model of somebody's own once its file has been read."""
    from evalkit.engine.inspect_objects import find

    find(f"{path}@plain", ("solver",))


@pytest.mark.parametrize("loop", ["plain", "inspect_ai/react", "inspect_ai/basic_agent"])
def test_our_tools_record_streams_exit_code_and_digest_under_any_loop(run_loop, loop):
    trial, steps = run_loop(loop, WORK, SUBMIT, '"bye"')
    act = next(step for step in steps if isinstance(step, Act))
    assert (act.tool, act.stdout, act.stderr, act.exit_code) == ("bash", "seen\n", "err\n", 3)
    assert (act.stdout_bytes, act.stdout_truncated, len(act.workspace_digest)) == (5, False, 64)
    assert "seen" in act.observation
    assert (act.call_index, steps[act.think_step].kind) == (0, "think")
    assert (trial.status, trial.error_message) == ("passed", None)
    assert (trial.depth, trial.stop_reason) == ("events", "submitted")


def test_the_row_and_the_agent_say_which_loop_it_was(run_loop, player):
    trial, _ = run_loop("plain", WORK, SUBMIT)
    assert (trial.agent_loop, trial.agent) == ("plain", f"plain/{player}")
    trial, _ = run_loop("inspect_ai/basic_agent", WORK, SUBMIT, out="second")
    assert (trial.agent_loop, trial.grader_mode) == ("inspect_ai/basic_agent", "sealed")


def test_a_loop_that_is_called_like_ours_does_not_pass_for_ours(run_loop):
    trial, _ = run_loop("react", WORK, SUBMIT)
    assert (trial.agent_loop, trial.depth) == ("theirs@react", "events")


def test_our_submit_ends_any_loop(run_loop):
    trial, steps = run_loop("plain", WORK, SUBMIT, WORK)
    assert (trial.stop_reason, trial.answer, trial.model_calls) == ("submitted", "finished", 2)
    assert [step.event for step in steps if isinstance(step, Event) and step.event != "planted"] == ["submit"]


def test_the_agent_is_told_the_instruction(run_loop):
    _, steps = run_loop("plain", SUBMIT)
    assert [(step.role, step.text) for step in steps if isinstance(step, Prompt)] == [
        ("user", "Write `done` into /app/out.\n")
    ]


def test_a_loop_without_tools_ends_with_what_it_says(run_loop):
    trial, steps = run_loop("theirs", '"I would rather not."')
    assert (trial.status, trial.stop_reason, trial.answer) == ("failed", "submitted", "I would rather not.")
    assert [step.kind for step in steps if step.kind != "event"] == ["prompt", "think"]


@pytest.mark.parametrize(
    ("flags", "stop", "calls"),
    [({"step_limit": 3}, "step_limit", 3), ({"token_limit": 40}, "token_limit", 3), ({}, "step_limit", 50)],
)
def test_our_limits_hold_any_loop(run_loop, flags, stop, calls):
    trial, _ = run_loop("plain", '[("bash", {"command": "true"})]', **flags)
    assert (trial.stop_reason, trial.model_calls, trial.status) == (stop, calls, "failed")


def test_time_holds_any_loop_and_what_was_going_on_is_kept(run_loop):
    trial, steps = run_loop("plain", '[("bash", {"command": "echo begun; sleep 60"})]', time_limit_s=2.0)
    assert (trial.stop_reason, trial.status) == ("time_limit", "failed")
    act = next(step for step in steps if isinstance(step, Act))
    assert (act.error_kind, act.stdout, act.observation) == ("limit", "begun\n", None)


def test_a_model_that_fails_under_any_loop_leaves_the_trial_unscored(run_loop):
    trial, _ = run_loop("plain", 'ValueError("no route")')
    assert (trial.status, trial.error_origin) == ("unscored", "model")
    assert "no route" in trial.error_message


def test_a_scripted_agent_plays_under_any_loop(make_suite, run_suite):
    (trial,) = run_suite(make_suite(), loop="inspect_ai/react").rows()
    assert (trial.status, trial.agent) == ("passed", "inspect_ai/react/scripted/oracle")


def test_a_resumed_run_refuses_a_loop_that_has_changed(run_loop, inspect_file, tmp_path):
    import evalkit
    from evalkit.engine.resume import remaining
    from evalkit.errors import NotComparable

    run_loop("plain", SUBMIT)
    run = evalkit.load(tmp_path / "run")
    assert remaining(run) == ()
    inspect_file(LOOPS.replace("{script}", '"other"'))
    with pytest.raises(NotComparable, match="is no longer what it was"):
        remaining(run)


@pytest.mark.parametrize(
    ("loop", "says", "hint"),
    [
        ("theirs.py@plane", "holds no solver 'plane'", "Did you mean plain?"),
        ("thiers.py@plain", "there is no file", "Did you mean theirs.py?"),
        ("theirs.py@choosy", "needs a value for depth", "Wrap it in a solver"),
        ("inspect_ai/raect", "has no solver 'inspect_ai/raect'", "Did you mean inspect_ai/react?"),
        ("no_such_package/loop", "'no_such_package' is not installed", "pip install no-such-package"),
        ("reakt", "no agent loop 'reakt'", "react"),
    ],
)
def test_a_loop_that_cannot_be_had_is_refused_before_the_run(
    inspect_file, make_suite, monkeypatch, tmp_path, loop, says, hint
):
    inspect_file(LOOPS.replace("{script}", SUBMIT))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=says) as raised:
        prepare(RunFlags(suites=(str(make_suite()),), loop=loop))
    assert hint in raised.value.hint


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("@task\ndef x(:\n", 2, "SyntaxError"),
        ("import not_there\n", 1, "'not_there', which is not installed"),
        ("\n\n1 / 0\n", 3, "ZeroDivisionError: division by zero"),
    ],
)
def test_a_file_that_does_not_load_is_named_with_its_line(make_suite, tmp_path, text, line, says):
    (tmp_path / "broken.py").write_text(text)
    with pytest.raises(UsageError, match=says) as raised:
        prepare(RunFlags(suites=(str(make_suite()),), loop=f"{tmp_path}/broken.py@x"))
    assert raised.value.where == f"{tmp_path}/broken.py:{line}"


def test_states_of_the_work_are_copied_under_any_loop(run_loop):
    work = '[("bash", {"command": "echo begun > out"})], [("bash", {"command": "echo done > out"})]'
    _, steps = run_loop("plain", work, SUBMIT, checkpoints=True)
    told = [
        json.loads(step.detail) for step in steps if isinstance(step, Event) and step.event == "checkpoint"
    ]
    acts = [step.step for step in steps if isinstance(step, Act) and step.tool == "bash"]
    assert [(one["of_step"], one["passed"]) for one in told] == [(acts[0], False), (acts[1], True)]
