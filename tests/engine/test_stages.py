"""A task with steps: one sandbox, one stage after the other, each told, worked on and graded by itself."""

from __future__ import annotations

import json

import pytest
from inspect_ai.model import ChatCompletionChoice, ChatMessageAssistant, ModelOutput, get_model
from inspect_ai.tool import ToolCall

from evalkit.trajectory.step import Act, Event, Prompt

pytestmark = pytest.mark.local

HEAD = '{top}\n[environment]\nnetwork_mode = "no-network"\nworkdir = "/app"\n'
STEPS = '[[steps]]\nname = "one"\n{one}\n[[steps]]\nname = "two"\n{two}\n'
GRADER = "#!/bin/sh\nif [ -e /app/{file} ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n"


def staged(files=None, *, top="", one="", two="", tail=""):
    """The files of a task with two steps; each is done when a file of its name is there."""
    whole = {
        "task.toml": HEAD.format(top=top) + STEPS.format(one=one, two=two) + tail,
        "instruction.md": None,
        "tests/test.sh": None,
        "solution/solve.sh": None,
    }
    for name in ("one", "two"):
        whole |= {
            f"steps/{name}/instruction.md": f"Do {name}.\n",
            f"steps/{name}/tests/test.sh": GRADER.format(file=name),
            f"steps/{name}/solution/solve.sh": f"# step: {name}\ntouch {name}\n",
        }
    return whole | (files or {})


@pytest.fixture
def played(make_suite, run_suite):
    """Run one agent on one task; returns its trial and steps."""

    def run(files, model="scripted/oracle", **flags):
        run = run_suite(make_suite(task=files), model, **flags)
        return run.trial(run.rows()[0].trial_id)

    return run


def told(steps):
    return [(step.role, step.text) for step in steps if isinstance(step, Prompt) and step.role == "user"]


def checkpoints(steps):
    return [
        json.loads(step.detail) for step in steps if isinstance(step, Event) and step.event == "checkpoint"
    ]


def outputs(steps):
    return [step.stdout for step in steps if isinstance(step, Act) and step.tool == "bash"]


def test_the_oracle_plays_each_step_and_passes(make_suite, run_suite, sandbox_kind):
    run = run_suite(make_suite(task=staged()), sandbox=sandbox_kind)
    trial, steps = run.trial(run.rows()[0].trial_id)
    assert (trial.status, trial.reward, dict(trial.rewards)) == ("passed", 1.0, {"one": 1.0, "two": 1.0})
    assert told(steps) == [("user", "Do one.\n"), ("user", "Do two.\n")]
    assert [(point["stage"], point["reward"], point["passed"]) for point in checkpoints(steps)] == [
        ("one", 1.0, True),
        ("two", 1.0, True),
    ]


def test_doing_nothing_in_each_step_fails(make_suite, run_suite, sandbox_kind):
    (trial,) = run_suite(make_suite(task=staged()), "scripted/nop", sandbox=sandbox_kind).rows()
    assert (trial.status, trial.reward, trial.model_calls) == ("failed", 0.0, 2)


def test_each_step_begins_anew_unless_the_task_says_that_the_conversation_goes_on(played):
    def roles(**options):
        _, steps = played(staged(**options), out=f"run-{len(options)}")
        return [step.role for step in steps if isinstance(step, Prompt)]

    assert roles() == ["system", "user", "system", "user"]
    assert roles(tail='[metadata.evalkit]\nconversation = "continued"\n') == ["system", "user", "user"]


def test_the_oracle_plays_on_where_the_conversation_goes_on(played):
    trial, _ = played(staged(tail='[metadata.evalkit]\nconversation = "continued"\n'))
    assert (trial.status, trial.tool_calls) == ("passed", 4)


def test_a_steps_own_files_are_there_and_its_setup_has_run_before_the_agent_goes_on(played):
    files = {
        "steps/two/workdir/data/in.txt": "read me\n",
        "steps/two/workdir/setup.sh": "#!/bin/sh\ncp data/in.txt made\n",
        "steps/one/solution/solve.sh": "# step: Look.\nls; touch one\n",
        "steps/two/solution/solve.sh": "# step: Look.\ncat made data/in.txt; touch two\n",
    }
    trial, steps = played(staged(files))
    assert trial.status == "passed"
    assert outputs(steps) == ["", "read me\nread me\n"]


def test_what_a_step_started_lives_on_into_the_next(played):
    files = {
        "steps/one/solution/solve.sh": "# step: Serve.\ntouch one; sleep 77 >/dev/null 2>&1 &\n",
        "steps/two/solution/solve.sh": "# step: Look.\ngrep -lz 77 /proc/[0-9]*/cmdline; touch two\n",
    }
    trial, steps = played(staged(files))
    assert (trial.status, trial.grader_mode) == ("passed", "shared")
    assert outputs(steps)[1].count("/proc/") >= 1
    assert [point["processes_killed"] for point in checkpoints(steps)] == [False, False]


def test_in_snapshot_mode_it_is_killed_and_the_record_says_so(played):
    files = {
        "steps/one/solution/solve.sh": "# step: Serve.\ntouch one; (sleep 3; touch late) >/dev/null 2>&1 &\n",
        "steps/two/solution/solve.sh": "# step: Wait.\nsleep 3.5; ls; touch two\n",
    }
    trial, steps = played(staged(files, tail='[metadata.evalkit.grading]\nmode = "snapshot"\n'))
    assert (trial.status, trial.grader_mode) == ("passed", "snapshot")
    assert outputs(steps)[1] == "one\n"
    assert [point["processes_killed"] for point in checkpoints(steps)] == [True, True]


@pytest.mark.parametrize("mode", ["shared", "snapshot"])
def test_nothing_of_a_steps_grading_is_left_for_the_next(played, mode):
    files = {"steps/two/solution/solve.sh": "# step: Look.\nls -R /tests /logs; touch two\n"}
    _, steps = played(staged(files, tail=f'[metadata.evalkit.grading]\nmode = "{mode}"\n'))
    assert outputs(steps)[1] == "/logs:\nverifier\n\n/logs/verifier:\n\n/tests:\nexpected_output.json\n"


def test_shared_tests_lie_under_each_steps_own(played):
    files = {
        "tests/test.sh": "#!/bin/sh\n. /tests/lib.sh\n",
        "tests/lib.sh": "echo 0 > /logs/verifier/reward.txt\n",
        "steps/one/tests/test.sh": None,
        "steps/one/tests/lib.sh": "echo 0.25 > /logs/verifier/reward.txt\n",
        "steps/two/tests/test.sh": None,
    }
    trial, _ = played(staged(files))
    assert dict(trial.rewards) == {"one": 0.25, "two": 0.0}


def test_the_graders_variables_and_time_are_the_tasks_unless_the_step_says_otherwise(played):
    grader = '#!/bin/sh\nif [ "$A$B" = {want} ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n'
    files = {
        "steps/one/tests/test.sh": grader.format(want="task-task"),
        "steps/two/tests/test.sh": grader.format(want="task-step"),
    }
    verifier = '[verifier]\nenv = { A = "task", B = "-task" }\n'
    trial, _ = played(staged(files, two='[steps.verifier]\nenv = { B = "-step" }', tail=verifier))
    assert trial.reward == 1.0


def test_a_missed_min_reward_ends_the_trial_and_what_did_not_run_is_left_out_of_the_mean(played):
    files = {"steps/one/tests/test.sh": "#!/bin/sh\necho 0.4 > /logs/verifier/reward.txt\n"}
    trial, steps = played(staged(files, one="min_reward = 0.5"))
    assert (trial.status, trial.reward, dict(trial.rewards)) == ("failed", 0.4, {"one": 0.4})
    assert told(steps) == [("user", "Do one.\n")]
    assert checkpoints(steps)[0]["trial_ended_by"] == "min_reward"


def test_a_trial_that_ended_early_never_passes_whatever_its_reward(played):
    files = {
        "steps/one/tests/test.sh": '#!/bin/sh\necho \'{"reward": 1, "style": 0}\' > /logs/verifier/reward.json\n'
    }
    trial, _ = played(staged(files, one="min_reward = { style = 0.5 }"))
    assert (trial.status, trial.reward) == ("failed", 1.0)
    assert dict(trial.rewards) == {"one": 1.0, "one/style": 0.0}


@pytest.mark.parametrize(("strategy", "reward"), [("mean", 0.75), ("final", 0.5)])
def test_the_total_is_the_mean_or_the_last_steps_reward(played, strategy, reward):
    files = {"steps/two/tests/test.sh": "#!/bin/sh\necho 0.5 > /logs/verifier/reward.txt\n"}
    trial, _ = played(staged(files, top=f'multi_step_reward_strategy = "{strategy}"'))
    assert (trial.status, trial.reward) == ("failed", reward)


def test_a_steps_time_limit_ends_the_step_and_not_the_trial(played):
    files = {"steps/one/solution/solve.sh": "# step: Dawdle.\ntouch one; sleep 60\n"}
    trial, steps = played(staged(files, one="agent.timeout_sec = 1.5"))
    assert (trial.status, trial.stop_reason) == ("passed", "submitted")
    assert [point["stop_reason"] for point in checkpoints(steps)] == ["time_limit", "submitted"]


def test_the_conversation_can_go_on_after_a_call_that_was_cut_off(played):
    files = {"steps/one/solution/solve.sh": "# step: Dawdle.\ntouch one; sleep 60\n"}
    tail = '[metadata.evalkit]\nconversation = "continued"\n'
    trial, _ = played(staged(files, one="agent.timeout_sec = 1.5", tail=tail))
    assert trial.status == "passed"


def test_steps_that_the_trials_own_limits_keep_from_being_reached_count_as_nothing(played):
    trial, steps = played(staged(), step_limit=1)
    assert (trial.status, trial.stop_reason) == ("failed", "step_limit")
    assert (trial.reward, dict(trial.rewards)) == (0.5, {"one": 1.0})
    assert told(steps) == [("user", "Do one.\n")]


def test_a_time_limit_of_the_run_is_for_all_steps_together(played):
    files = {"steps/one/solution/solve.sh": "# step: Dawdle.\ntouch one; sleep 60\n"}
    trial, steps = played(staged(files, one="agent.timeout_sec = 50"), time_limit_s=1.5)
    assert (trial.status, trial.stop_reason, trial.reward) == ("failed", "time_limit", 0.5)
    assert checkpoints(steps)[0]["trial_ended_by"] == "time_limit"


def test_a_grader_that_gives_no_verdict_on_a_step_leaves_the_trial_unscored(played):
    trial, steps = played(staged({"steps/one/tests/test.sh": "#!/bin/sh\nexit 3\n"}))
    assert (trial.status, trial.error_origin, trial.reward) == ("unscored", "grader", None)
    assert told(steps) == [("user", "Do one.\n")]


def test_a_setup_that_fails_before_the_agent_did_anything_is_the_tasks_fault(played):
    trial, _ = played(staged({"steps/one/workdir/setup.sh": "echo no >&2; exit 4\n"}))
    assert (trial.status, trial.error_origin) == ("unscored", "task")
    assert "setup.sh failed (exit code 4: no)" in trial.error_message


def test_a_setup_that_fails_on_what_the_agent_left_ends_the_trial(played):
    files = {
        "steps/one/solution/solve.sh": "# step: Break.\ntouch one; mkdir -p data/in.txt\n",
        "steps/two/workdir/data/in.txt": "x",
    }
    trial, steps = played(staged(files))
    assert (trial.status, trial.reward, trial.error_origin) == ("failed", 0.5, None)
    (error,) = (step for step in steps if isinstance(step, Event) and step.event == "error")
    assert json.loads(error.detail)["stage"] == "two"


def test_with_artifacts_each_step_is_graded_on_what_it_delivers(played):
    files = {
        "steps/one/tests/test.sh": "#!/bin/sh\nls /app > /logs/verifier/seen\n"
        '[ "$(cat /logs/verifier/seen)" = one ]; echo $((1 - $?)) > /logs/verifier/reward.txt\n',
        "steps/two/tests/test.sh": "#!/bin/sh\nls /app > /logs/verifier/seen\n"
        "[ \"$(tr '\\n' ' ' < /logs/verifier/seen)\" = 'one two ' ]; echo $((1 - $?)) > /logs/verifier/reward.txt\n",
        "steps/two/solution/solve.sh": "# step: Do.\ntouch two more\n",
    }
    trial, _ = played(staged(files, top='artifacts = ["/app/one"]', two='artifacts = ["/app/two"]'))
    assert (trial.status, trial.grader_mode) == ("passed", "sealed")


def test_files_that_keep_changing_while_they_are_delivered_cost_the_agent_its_processes(played):
    files = {
        "steps/one/solution/solve.sh": "# step: Spin.\ntouch one; mkdir out\n"
        "(while :; do mkdir -p out/a/b; mv out/a out/c; rm -rf out/c; done) >/dev/null 2>&1 &\n",
    }
    trial, _ = played(staged(files, top='artifacts = ["/app/out", "/app/one", "/app/two"]'))
    assert trial.status == "passed"


def test_checks_are_known_by_their_step(played):
    grader = (
        "#!/bin/sh\necho 1 > /logs/verifier/reward.txt\n"
        'echo \'{"results": {"tests": [{"name": "unit", "status": "passed"}]}}\' > /logs/verifier/ctrf.json\n'
    )
    files = {"steps/one/tests/test.sh": grader, "steps/two/tests/test.sh": grader}
    tail = '[metadata.evalkit.grading]\nmode = "shared"\nchecks = ["one/unit", "two/unit"]\n'
    trial, _ = played(staged(files, tail=tail))
    assert (trial.status, dict(trial.checks)) == ("passed", {"one/unit": True, "two/unit": True})
    missing, _ = played(staged(files, tail=tail.replace('unit"]', 'unit", "two/more"]')), out="missing")
    assert (missing.status, missing.reward, dict(missing.checks)["two/more"]) == ("failed", 1.0, False)


def test_the_answer_is_the_last_steps_and_no_earlier_one_is_left_to_the_grader(
    make_suite, run_suite, monkeypatch
):
    left = [says("submit", answer="first"), says("submit", answer="second")]
    use_model(monkeypatch, left)
    grader = (
        '#!/bin/sh\n[ "$(cat /logs/agent/answer.txt)" = {want} ]\n'
        "echo $((1 - $?)) > /logs/verifier/reward.txt\n"
    )
    files = {f"steps/{name}/tests/test.sh": grader.format(want=want) for name, want in
             (("one", "first"), ("two", "second"))}  # fmt: skip
    suite = make_suite(task=staged(files, tail='[metadata.evalkit]\nanswer = "text"\n'))
    (trial,) = run_suite(suite, "inspect/mockllm/model").rows()
    assert (trial.status, trial.answer) == ("passed", "second")


def test_reporting_a_step_as_impossible_ends_the_trial(make_suite, run_suite, monkeypatch):
    use_model(monkeypatch, [says("report_impossible", reason="no such thing")])
    (trial,) = run_suite(make_suite(task=staged()), "inspect/mockllm/model").rows()
    assert (trial.status, trial.stop_reason, trial.reward) == ("failed", "gave_up", 0.0)


def says(tool, **arguments):
    call = ToolCall(id=f"{tool}-1", function=tool, arguments=arguments)
    message = ChatMessageAssistant(content="", tool_calls=[call])
    return ModelOutput(model="m", choices=[ChatCompletionChoice(message=message, stop_reason="tool_calls")])


def use_model(monkeypatch, outputs):
    model = get_model("mockllm/model", custom_outputs=lambda *_: outputs.pop(0), memoize=False)
    monkeypatch.setattr("evalkit.engine.start.open_model", lambda agent: model)
