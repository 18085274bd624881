"""Inspect's own tasks run as suites, and are recorded like any other."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from evalkit.engine.prepare import RunFlags, prepare
from evalkit.errors import NotComparable, UsageError
from evalkit.trajectory.step import Act, Event, Prompt, Think

SUMS = """\
SCRIPT = [[("add", {"a": 1, "b": 2})], "It is 3."]

@tool
def add() -> Tool:
    async def execute(a: int, b: int) -> int:
        '''Add two numbers.

        Args:
            a: The first.
            b: The second.
        '''
        return a + b

    return execute

@task
def sums(right: str = "3", n: int = 2) -> Task:
    samples = [Sample("What is 1 + 2?", target=right, id="first/one"), Sample("What is 2 + 2?", target="4", id=7)]
    return Task(
        dataset=MemoryDataset(samples[:n]),
        solver=[system_message("Be brief."), use_tools(add()), generate()],
        scorer=includes(),
        version=3,
    )
"""
ONE = """\
SCRIPT = ["done"]

@task
def one({parameters}) -> Task:
    return Task(dataset=MemoryDataset([Sample("Go.", target="done")]), {more})
"""


def one(more: str = "scorer=includes()", parameters: str = "") -> str:
    return ONE.format(more=more, parameters=parameters)


def test_each_sample_is_a_task_with_the_verdict_of_the_tasks_own_scorer(inspect_file, run_inspect):
    run = run_inspect(f"{inspect_file(SUMS)}@sums")
    rows = {trial.task_id.partition("-")[0]: trial for trial in run.rows()}
    assert {key: (trial.status, trial.reward) for key, trial in rows.items()} == {
        "first": ("passed", 1.0),
        "7": ("failed", 0.0),
    }
    first = rows["first"]
    assert first.rewards == {"includes": 1.0}
    assert (first.suite, first.grader_mode, first.stop_reason) == ("sums", "inspect", "submitted")
    assert (first.agent_loop, first.depth, first.sandbox) == ("task", "events", None)
    assert first.agent.startswith("task/inspect/player/")
    assert (first.model_calls, first.tool_calls, first.output_tokens) == (2, 1, 10)


def test_what_events_tell_is_recorded_and_what_they_do_not_is_null(inspect_file, run_inspect):
    run = run_inspect(f"{inspect_file(SUMS)}@sums", limit=1)
    _, steps = run.trial(run.rows()[0].trial_id)
    assert [step.kind for step in steps] == ["prompt", "prompt", "think", "act", "think"]
    assert [step.text for step in steps if isinstance(step, Prompt)] == ["Be brief.", "What is 1 + 2?"]
    (act,) = [step for step in steps if isinstance(step, Act)]
    assert (act.tool, json.loads(act.arguments), act.observation) == ("add", {"a": 1, "b": 2}, "3")
    assert (act.think_step, act.call_index, act.error_kind) == (2, 0, None)
    assert (act.stdout, act.stderr, act.exit_code, act.workspace_digest) == (None, None, None, None)
    think = steps[4]
    assert isinstance(think, Think)
    assert (think.text, think.output_tokens, think.model_served) == ("It is 3.", 5, "played")


def test_epochs_and_globs_choose_what_runs(inspect_file, run_inspect):
    run = run_inspect(f"{inspect_file(SUMS)}@sums", epochs=2, task="7")
    assert [(trial.task_id, trial.epoch) for trial in run.rows()] == [("7", 1), ("7", 2)]


def test_a_task_is_made_with_arguments(inspect_file, run_inspect):
    run = run_inspect(f"{inspect_file(SUMS)}@sums", task_arguments={"n": 1, "right": "It is"})
    assert [trial.status for trial in run.rows()] == ["passed"]


def test_the_command_line_reads_values_as_json_where_they_are(inspect_file, player, tmp_path):
    from typer.testing import CliRunner

    from evalkit.cli.app import app

    words = ["run", f"inspect:{inspect_file(SUMS)}@sums", "--model", player, "--dry-run", "--json"]
    done = CliRunner().invoke(app, [*words, "-T", "n=1", "-T", "right=It is"])
    assert [trial["task"].partition("-")[0] for trial in json.loads(done.stdout)["trials"]] == ["first"]


def test_a_dry_run_plans_without_running(inspect_file, player):
    prepared = prepare(RunFlags(suites=(f"inspect:{inspect_file(SUMS)}@sums",), models=(player,)))
    assert [trial.task.id.partition("-")[0] for trial in prepared.plan] == ["first", "7"]
    assert prepared.suites[0].version == "3"


def test_a_resumed_run_does_what_is_left(inspect_file, run_inspect, quiet):
    from evalkit.engine.start import resume

    path = inspect_file(SUMS.replace('"It is 3."]', 'ValueError("busy")]'))
    run = run_inspect(f"{path}@sums")
    assert [(trial.status, trial.error_origin) for trial in run.rows()] == [("unscored", "model")] * 2
    again = resume(Path(run.path), quiet).trials
    assert [(trial.attempt, trial.error_origin) for trial in again] == [(2, "model")] * 2


def test_a_scorer_that_fails_leaves_the_trial_unscored(inspect_file, run_inspect):
    text = """\
@scorer(metrics=[accuracy()])
def broken():
    async def score(state: TaskState, target: Target) -> Score:
        raise KeyError("no such file")

    return score
"""
    (trial,) = run_inspect(f"{inspect_file(text + one('scorer=broken()'))}@one").rows()
    assert (trial.status, trial.error_origin, trial.reward) == ("unscored", "grader", None)
    assert "the scorer broken failed: KeyError" in trial.error_message


@pytest.mark.parametrize(
    ("value", "status", "rewards"),
    [
        ("'C'", "passed", {"given": 1.0}),
        ("'P'", "failed", {"given": 0.5}),
        ("True", "passed", {"given": 1.0}),
        ("0.75", "failed", {"given": 0.75}),
        ("{'use': 'C', 'safe': 'I'}", "failed", {"given/use": 1.0, "given/safe": 0.0}),
        ("[1, 1]", "passed", {"given/0": 1.0, "given/1": 1.0}),
        ("'perhaps'", "unscored", None),
        ("float('nan')", "unscored", None),
    ],
)
def test_a_score_becomes_a_reward(inspect_file, run_inspect, value, status, rewards):
    text = f"""\
@scorer(metrics=[accuracy()])
def given():
    async def score(state: TaskState, target: Target) -> Score:
        return Score(value={value})

    return score
"""
    (trial,) = run_inspect(f"{inspect_file(text + one('scorer=given()'))}@one").rows()
    assert (trial.status, trial.rewards) == (status, rewards)
    assert trial.reward == (min(rewards.values()) if rewards else None)


def test_without_a_scorer_nobody_can_say(inspect_file, run_inspect):
    (trial,) = run_inspect(f"{inspect_file(one('metadata={}'))}@one").rows()
    assert (trial.status, trial.error_origin) == ("unscored", "task")
    assert "no scorer" in trial.error_message


def test_a_solver_that_fails_is_the_tasks_fault(inspect_file, run_inspect):
    text = """\
@solver
def broken():
    async def solve(state, generate):
        raise RuntimeError("not today")

    return solve
"""
    (trial,) = run_inspect(f"{inspect_file(text + one('solver=broken(), scorer=includes()'))}@one").rows()
    assert (trial.status, trial.error_origin) == ("unscored", "task")
    assert "RuntimeError: not today" in trial.error_message


def test_a_solver_may_ask_for_its_score_on_the_way(inspect_file, run_inspect):
    text = """\
from inspect_ai.scorer import score

@solver
def twice():
    async def solve(state, generate):
        state = await generate(state)
        (before,) = await score(state)
        assert before.value == "C"
        return state

    return solve
"""
    (trial,) = run_inspect(f"{inspect_file(text + one('solver=twice(), scorer=includes()'))}@one").rows()
    assert (trial.status, trial.error_message) == ("passed", None)


def test_set_up_and_clean_up_of_the_task_are_done(inspect_file, run_inspect, tmp_path):
    text = f"""\
from pathlib import Path

@solver
def ready():
    async def solve(state, generate):
        state.metadata["ready"] = True
        return state

    return solve

async def tidy(state):
    Path({str(tmp_path / "tidied")!r}).write_text(str(state.metadata["ready"]))
"""
    path = inspect_file(text + one("setup=ready(), cleanup=tidy, scorer=includes()"))
    (trial,) = run_inspect(f"{path}@one").rows()
    assert trial.status == "passed"
    assert (tmp_path / "tidied").read_text() == "True"


LOOPING = SUMS.replace(', "It is 3."]', "]")


@pytest.mark.parametrize(
    ("own", "flags", "stop", "calls"),
    [
        ("", {"step_limit": 3}, "step_limit", 3),
        ("turn_limit=2, ", {"step_limit": 3}, "step_limit", 2),
        ("message_limit=6, ", {}, "step_limit", 2),
        ("token_limit=40, ", {}, "token_limit", 3),
        ("", {"token_limit": 40}, "token_limit", 3),
    ],
)
def test_the_tasks_own_limits_hold_and_so_do_ours(inspect_file, run_inspect, own, flags, stop, calls):
    path = inspect_file(LOOPING.replace("version=3", own + "version=3"))
    trial, steps = (run := run_inspect(f"{path}@sums", limit=1, **flags)).trial(run.rows()[0].trial_id)
    assert (trial.stop_reason, trial.model_calls) == (stop, calls)
    assert trial.status == "failed"
    assert [step.event for step in steps if isinstance(step, Event)] == ["limit"]


def test_time_ends_the_agent_and_not_its_scoring(inspect_file, run_inspect):
    text = """\
import asyncio

@solver
def slow():
    async def solve(state, generate):
        state = await generate(state)
        await asyncio.sleep(60)
        return state

    return solve
"""
    path = inspect_file(text + one("solver=slow(), scorer=includes()"))
    (trial,) = run_inspect(f"{path}@one", time_limit_s=1.0).rows()
    assert (trial.status, trial.stop_reason) == ("passed", "time_limit")
    assert 1.0 <= trial.agent_s < 20


IN_SANDBOX = """\
SCRIPT = [[("bash", {"command": "cat given.txt made.txt; echo $((6 * 7)) > out; exit 3"})], "done"]

@scorer(metrics=[accuracy()])
def looks():
    async def score(state: TaskState, target: Target) -> Score:
        return Score(value=(await sandbox().read_file("out")).strip() == target.text)

    return score

@task
def boxed() -> Task:
    return Task(
        dataset=MemoryDataset([
            Sample("Go.", target="42", id="x", files={"given.txt": "given"}, setup="echo made > made.txt")
        ]),
        solver=[use_tools(bash()), generate()],
        scorer=looks(),
        sandbox="local",
    )
"""


@pytest.mark.local
def test_a_sample_with_a_sandbox_runs_in_ours(inspect_file, run_inspect, local_support):
    run = run_inspect(f"{inspect_file(IN_SANDBOX)}@boxed")
    trial, steps = run.trial(run.rows()[0].trial_id)
    assert (trial.status, trial.error_message) == ("passed", None)
    assert trial.sandbox == "local"
    assert trial.sandbox_runtime.startswith("bubblewrap ")
    assert trial.setup_s > 0
    (act,) = [step for step in steps if isinstance(step, Act)]
    assert "given" in act.observation
    assert "made" in act.observation
    assert act.exit_code is None


@pytest.mark.local
def test_the_code_of_the_task_with_its_answers_is_not_shown(inspect_file, run_inspect, local_support):
    if not os.access("/opt", os.W_OK):
        pytest.skip("only somebody who may write to /opt, which sandboxes show, can see what is hidden in it")
    seen = Path("/opt/evalkit-test-of-hidden-code")
    seen.mkdir()
    try:
        path = inspect_file(IN_SANDBOX.replace("cat given.txt", f"ls -A {seen}; cat given.txt"))
        run = run_inspect(f"{path.rename(seen / 'theirs.py')}@boxed")
    finally:
        shutil.rmtree(seen)
    act = next(step for step in run.trial(run.rows()[0].trial_id)[1] if isinstance(step, Act))
    assert "given" in act.observation
    assert "theirs.py" not in act.observation


@pytest.mark.local
def test_a_set_up_that_fails_is_the_tasks_fault(inspect_file, run_inspect, local_support):
    path = inspect_file(IN_SANDBOX.replace("echo made > made.txt", "echo no >&2; exit 5"))
    (trial,) = run_inspect(f"{path}@boxed").rows()
    assert (trial.status, trial.error_origin) == ("unscored", "task")
    assert trial.error_message.endswith("exit code 5: no")


@pytest.mark.local
def test_our_own_loop_works_on_a_sample(inspect_file, run_inspect, local_support):
    text = IN_SANDBOX.replace(
        '[("bash", {"command": "cat given.txt made.txt; echo $((6 * 7)) > out; exit 3"})], "done"',
        '[("bash", {"command": "echo 42 > out; exit 3"})], [("submit", {"answer": "done"})]',
    )
    run = run_inspect(f"{inspect_file(text)}@boxed", loop="react")
    trial, steps = run.trial(run.rows()[0].trial_id)
    assert (trial.status, trial.error_message) == ("passed", None)
    assert (trial.agent_loop, trial.depth, trial.answer) == ("react", "own", "done")
    act = next(step for step in steps if isinstance(step, Act))
    assert (act.exit_code, act.stdout, len(act.workspace_digest)) == (3, "", 64)


def test_a_changed_dataset_is_not_resumed(inspect_file, run_inspect, tmp_path):
    from evalkit.engine.resume import remaining

    run = run_inspect(f"{inspect_file(SUMS)}@sums")
    assert remaining(run) == ()
    inspect_file(SUMS.replace("What is 2 + 2?", "What is 2 + 3?"))
    with pytest.raises(NotComparable, match="the suite 'sums' has changed"):
        remaining(run)


@pytest.mark.parametrize(
    ("named", "arguments", "says", "hint"),
    [
        ("theirs.py@sum", {}, "holds no task 'sum'", "Did you mean sums?"),
        ("their.py@sums", {}, "there is no file", "Did you mean theirs.py?"),
        ("theirs.py@sums", {"rihgt": "3"}, "takes no argument 'rihgt'", "Did you mean right?"),
        ("theirs.py@needy", {}, "needs a value for depth", "-T depth=VALUE"),
        ("theirs.py@empty", {}, "has no samples", None),
        ("theirs.py@twice", {}, "two samples of the Inspect task have the id 'x'", None),
        ("theirs.py@wrong", {}, "wrong cannot be loaded: AttributeError", None),
        ("theirs.py@raises", {}, "cannot be loaded: RuntimeError: no data", None),
        ("theirs.py", {}, "holds 6 tasks; one must be named", None),
        ("no_such_package/sums", {}, "is not installed", "pip install no-such-package"),
        ("sums", {}, "'sums' names no task", "FILE.py@task"),
    ],
)
def test_a_task_that_cannot_be_had_is_refused_before_the_run(
    inspect_file, player, monkeypatch, tmp_path, named, arguments, says, hint
):
    more = """
@task
def needy(depth: int) -> Task:
    return sums()

@task
def empty() -> Task:
    return Task(dataset=MemoryDataset([]))

@task
def twice() -> Task:
    return Task(dataset=MemoryDataset([Sample("a", id="x"), Sample("b", id="x")]))

@task
def wrong():
    return "no task"

@task
def raises():
    raise RuntimeError("no data")
"""
    inspect_file(SUMS + more)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=says) as raised:
        prepare(RunFlags(suites=(f"inspect:{named}",), models=(player,), task_arguments=arguments))
    assert hint is None or hint in raised.value.hint


def test_arguments_without_an_inspect_task_are_a_mistake(make_suite):
    with pytest.raises(UsageError, match="none is named"):
        prepare(RunFlags(suites=(str(make_suite()),), task_arguments={"n": 1}))


def test_a_project_may_name_its_own_inspect_tasks(inspect_file, player, tmp_path, monkeypatch):
    inspect_file(SUMS)
    (tmp_path / "evalkit.toml").write_text('[run]\nsuites = ["inspect:theirs.py@sums"]\n')
    (tmp_path / "deeper").mkdir()
    monkeypatch.chdir(tmp_path / "deeper")
    assert len(prepare(RunFlags(models=(player,))).plan) == 2


def test_a_scripted_agent_has_nothing_to_play(inspect_file):
    with pytest.raises(UsageError, match="Inspect tasks have none") as raised:
        prepare(RunFlags(suites=(f"inspect:{inspect_file(SUMS)}@sums",)))
    assert "--model" in raised.value.hint


def test_without_any_limit_every_trial_still_comes_to_an_end(inspect_file, player):
    flags = RunFlags(suites=(f"inspect:{inspect_file(SUMS)}@sums",), models=(player,))
    assert {trial.limits.steps for trial in prepare(flags).plan} == {500}
    inspect_file(SUMS.replace("version=3", "message_limit=9"))
    assert {trial.limits.steps for trial in prepare(flags).plan} == {None}


def test_equal_ids_and_odd_ones_become_names_of_their_own():
    from evalkit.engine.inspect_loading import safe_ids

    assert safe_ids(["plain-1", "a/b", "a b", "../x", "ü"]) == (
        "plain-1",
        "a-b-c14cddc0",
        "a-b-c8687a08",
        "x-d6b96a97",
        "sample-607474ca",
    )


def test_the_agent_says_that_the_depth_is_that_of_events(inspect_file, run_inspect, capsys):
    from evalkit.cli.run_table import print_run
    from evalkit.cli.timeline import print_trial

    run = run_inspect(f"{inspect_file(SUMS)}@sums")
    print_run(run)
    assert "depth events: steps are what Inspect's events tell" in capsys.readouterr().out
    print_trial(*run.trial(run.rows()[0].trial_id), full=False)
    assert "depth events: the task's own solver worked" in capsys.readouterr().out


def test_a_file_that_changes_within_a_second_is_read_anew(tmp_path):
    from evalkit.engine.inspect_objects import find

    file = tmp_path / "quick.py"
    for number in range(1, 6):
        file.write_text(
            "from inspect_ai import Task, task\nfrom inspect_ai.dataset import Sample\n\n@task\ndef sums():\n"
            f'    return Task(dataset=[Sample(input="x")], version={number})\n'
        )
        assert find(f"{file}@sums", ("task",)).make({}).version == number
    assert list(tmp_path.iterdir()) == [file]
