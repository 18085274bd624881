"""Keys of Harbor's that change how a task comes up, and where and on what it is judged."""

from __future__ import annotations

import json

import pytest

from evalkit.trajectory.step import Act, Event

pytestmark = pytest.mark.local

TOP = '[environment]\nnetwork_mode = "no-network"\nworkdir = "/app"\n'
REWARD = "echo $((1 - $?)) > /logs/verifier/reward.txt\n"


@pytest.fixture
def played(make_suite, run_suite):
    """Run the oracle on one task; returns its trial and steps."""

    def run(toml, files=None, **flags):
        run = run_suite(make_suite(one={"task.toml": toml, **(files or {})}), **flags)
        return run.trial(run.rows()[0].trial_id)

    return run


def test_the_agent_waits_for_the_healthcheck(played):
    command = "echo x >> tries; test $(wc -l < tries) = 3"
    check = f'healthcheck = {{ command = "{command}", interval_sec = 0.05, retries = 5 }}\n'
    trial, steps = played(
        TOP + check, {"solution/solve.sh": "# step: Look.\nwc -l < tries; echo done > out\n"}
    )
    assert trial.status == "passed"
    assert next(step for step in steps if isinstance(step, Act)).stdout == "3\n"


def test_failures_in_the_start_period_do_not_count(played):
    check = (
        'healthcheck = { command = "echo x >> tries; test $(wc -l < tries) = 4", start_period_sec = 30, '
        "start_interval_sec = 0.05, interval_sec = 30, retries = 1 }\n"
    )
    trial, _ = played(TOP + check)
    assert trial.status == "passed"
    assert trial.setup_s < 20


def test_a_healthcheck_that_goes_on_failing_is_the_tasks_fault_and_says_what_it_said(played):
    check = 'healthcheck = { command = "echo not yet >&2; exit 7", interval_sec = 0.05, retries = 2 }\n'
    trial, steps = played(TOP + check)
    assert (trial.status, trial.error_origin, trial.agent_s) == ("unscored", "task", None)
    assert "failed 2 times in a row (exit code 7: not yet)" in trial.error_message
    assert not [step for step in steps if isinstance(step, Act)]


def test_a_healthcheck_that_hangs_has_failed(played):
    check = 'healthcheck = { command = "sleep 60", timeout_sec = 0.3, retries = 1 }\n'
    trial, _ = played(TOP + check)
    assert (trial.status, trial.error_origin) == ("unscored", "task")
    assert "timed out" in trial.error_message


def test_a_steps_healthcheck_runs_after_its_setup(played):
    toml = (
        TOP + '[[steps]]\nname = "one"\n[steps.healthcheck]\ncommand = "test -e ready"\ninterval_sec = 0.05\n'
        "retries = 1\n"
    )
    files = {
        "steps/one/instruction.md": "Go.\n",
        "steps/one/workdir/setup.sh": "touch ready\n",
        "steps/one/solution/solve.sh": "# step: Do.\necho done > out\n",
    }
    trial, _ = played(toml, files)
    assert trial.status == "passed"
    unready, _ = played(toml, files | {"steps/one/workdir/setup.sh": "true\n"}, out="unready")
    assert (unready.status, unready.error_origin) == ("unscored", "task")


def test_a_separate_verifier_is_like_its_own_table_says(make_suite, run_suite, sandbox_kind):
    toml = (
        'artifacts = ["/app/out"]\n'
        + TOP
        + 'env = { WHOSE = "agents" }\n[verifier.environment]\nenv = { WHOSE = "graders" }\nworkdir = "/work"\n'
        'network_mode = "no-network"\n'
    )
    grader = '#!/bin/sh\n[ "$(pwd) $WHOSE $(cat /app/out)" = "/work graders done" ]\n' + REWARD
    suite = make_suite(one={"task.toml": toml, "tests/test.sh": grader})
    (trial,) = run_suite(suite, sandbox=sandbox_kind).rows()
    assert (trial.status, trial.grader_mode) == ("passed", "sealed")


def test_a_separate_verifier_is_built_from_its_tests(make_suite, run_suite, sandbox_kind):
    toml = 'artifacts = ["/app/out"]\n' + TOP + '[verifier]\nenvironment_mode = "separate"\n'
    files = {
        "tests/Dockerfile": "FROM debian:bookworm-slim\nWORKDIR /judge\nENV FROM_IMAGE=yes\nCOPY key.txt key.txt\n"
        "COPY . /tests\n",
        "tests/key.txt": "done\n",
        "tests/test.sh": '#!/bin/sh\n[ "$FROM_IMAGE" = yes ] && cmp /judge/key.txt /app/out\n' + REWARD,
    }
    suite = make_suite(one={"task.toml": toml, **files})
    (trial,) = run_suite(suite, sandbox=sandbox_kind).rows()
    assert (trial.status, trial.grader_mode) == ("passed", "sealed")


def test_what_is_published_reaches_a_separate_verifier_without_being_declared(played):
    toml = TOP + '[verifier]\nenvironment_mode = "separate"\n'
    files = {
        "solution/solve.sh": "# step: Publish.\nmkdir -p /logs/artifacts; echo done > /logs/artifacts/out\n",
        "tests/test.sh": '#!/bin/sh\n[ "$(cat /logs/artifacts/out)" = done ]\n' + REWARD,
    }
    trial, _ = played(toml, files)
    assert trial.status == "passed"


def test_state_is_collected_while_what_the_agent_started_lives(played):
    toml = (
        'artifacts = ["/app/out"]\n'
        + TOP
        + '[[verifier.collect]]\ncommand = "cat pid | xargs kill -USR1; sleep 1"\n'
    )
    loop = "(trap 'echo done > out' USR1; while :; do sleep 0.1; done) >/dev/null 2>&1 & echo $! > pid"
    serve = f"# step: Serve.\n{loop}\n"
    trial, _ = played(toml, {"solution/solve.sh": serve})
    assert trial.status == "passed"


def test_a_collect_command_that_fails_is_recorded_and_stops_nothing(played):
    toml = 'artifacts = ["/app/out"]\n' + TOP + '[[verifier.collect]]\ncommand = "echo gone >&2; exit 5"\n'
    trial, steps = played(toml)
    assert trial.status == "passed"
    (error,) = (step for step in steps if isinstance(step, Event) and step.event == "error")
    assert json.loads(error.detail)["reason"] == "exit code 5: gone"


def test_what_an_artifact_excludes_is_not_delivered(played):
    toml = '[[artifacts]]\nsource = "/app"\nexclude = ["*.log", "cache"]\n' + TOP
    solve = "# step: Write.\nmkdir -p a/cache; touch a/x.log a/cache/y a/kept; echo done > out\n"
    grader = (
        '#!/bin/sh\n[ "$(cd /app; find . -type f | sort | tr "\\n" " ")" = "./a/kept ./out " ]\n' + REWARD
    )
    trial, _ = played(toml, {"solution/solve.sh": solve, "tests/test.sh": grader})
    assert trial.status == "passed"


@pytest.mark.docker
@pytest.mark.parametrize(("asked", "grader"), [("", "root"), ('[verifier]\nuser = "daemon"\n', "daemon")])
def test_the_grader_in_place_is_who_the_task_says_and_never_the_agent(make_suite, run_docker, asked, grader):
    toml = TOP + '[agent]\nuser = "nobody"\n' + asked
    files = {
        "task.toml": toml.replace('workdir = "/app"', 'workdir = "/tmp"'),
        "solution/solve.sh": "# step: Who.\nid -un > who\n",
        "tests/test.sh": f'#!/bin/sh\n[ "$(cat /tmp/who; id -un)" = "nobody\n{grader}" ]\n' + REWARD,
    }
    (trial,) = run_docker(make_suite(one=files)).rows()
    assert (trial.status, trial.grader_mode) == ("passed", "snapshot")


@pytest.mark.docker
def test_each_step_may_have_a_user_of_its_own(make_suite, run_docker):
    toml = TOP + (
        '[[steps]]\nname = "one"\nagent.user = "nobody"\n[[steps]]\nname = "two"\n[steps.verifier]\nuser = "nobody"\n'
    )
    who = '#!/bin/sh\n[ "$(cat /tmp/who-{name}; id -un)" = "{agent}\n{grader}" ]\n' + REWARD
    files = {
        "task.toml": toml.replace('workdir = "/app"', 'workdir = "/tmp"'),
        "steps/one/tests/test.sh": who.format(name="one", agent="nobody", grader="root"),
        "steps/two/tests/test.sh": who.format(name="two", agent="root", grader="nobody"),
    }
    for name in ("one", "two"):
        files[f"steps/{name}/instruction.md"] = "Go.\n"
        files[f"steps/{name}/solution/solve.sh"] = f"# step: Who.\nid -un > who-{name}\n"
    (trial,) = run_docker(make_suite(one=files)).rows()
    assert (trial.status, trial.reward) == ("passed", 1.0)
