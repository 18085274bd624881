"""Graders run again on what was delivered, without models or the agents' sandboxes."""

from __future__ import annotations

import dataclasses
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import evalkit
from evalkit.engine.regrading import regrade
from evalkit.errors import NotComparable, UsageError
from evalkit.trajectory.owner import claim

ALWAYS = "#!/bin/sh\necho 1 > /logs/verifier/reward.txt\n"
NEVER = "#!/bin/sh\necho 0 > /logs/verifier/reward.txt\n"
SILENT = "#!/bin/sh\nexit 3\n"
NEW = {
    "status",
    "reward",
    "rewards",
    "checks",
    "grade_s",
    "grader_digest",
    "task_digest",
    "trial_id",
    "attempt",
}


@pytest.fixture
def again():
    """Grade a run again; says what came of it, and the run as it is then."""

    def run(opened, *trials, **options):
        opened.before = opened.rows()
        result = regrade(Path(opened.path), trials, heard=lambda done, total: None, **options)
        return result, evalkit.load(opened.path)

    return run


def _tests(suite, text, task="one"):
    (suite / task / "tests" / "test.sh").write_text(text)


def test_a_new_attempt_has_the_new_verdict_and_everything_else_of_the_old_one(make_suite, run_any, again):
    suite = make_suite(one={})
    opened = run_any(suite)
    (before,) = opened.rows()
    _, steps = opened.trial(before.trial_id)
    effects = opened.effects_of(before.trial_id)
    _tests(suite, NEVER)
    result, now = again(opened)
    (after,) = now.rows()
    assert (before.status, after.status, after.reward, after.attempt) == ("passed", "failed", 0.0, 2)
    assert after.trial_id != before.trial_id
    differ = {
        field.name
        for field in dataclasses.fields(after)
        if getattr(before, field.name) != getattr(after, field.name)
    }
    assert differ <= NEW
    assert now.trial(after.trial_id)[1] == steps
    assert [
        dataclasses.replace(one, trial_id=before.trial_id) for one in now.effects_of(after.trial_id)
    ] == list(effects)
    (one,) = result.trials
    assert (one.changed, one.tests_differ, one.reason) == (True, True, None)
    assert len(evalkit.load(opened.path, every_attempt=True).rows()) == 2


def test_the_same_graders_say_the_same(make_suite, run_any, again):
    opened = run_any(make_suite(one={}, two={"tests/test.sh": NEVER}))
    result, now = again(opened)
    assert [(one.changed, one.tests_differ) for one in result.trials] == [(False, False)] * 2
    assert [row.status for row in now.rows()] == [row.status for row in opened.before]


def test_what_its_grader_left_unscored_gets_a_verdict_from_a_better_one(make_suite, run_suite, again):
    suite = make_suite(one={"tests/test.sh": SILENT})
    opened = run_suite(suite)
    assert opened.rows()[0].error_origin == "grader"
    _tests(suite, ALWAYS)
    _, now = again(opened)
    (after,) = now.rows()
    assert (after.status, after.error_origin, after.error_message) == ("passed", None, None)


def test_where_the_new_grader_gives_no_verdict_the_old_one_stands(make_suite, run_suite, again):
    suite = make_suite(one={})
    opened = run_suite(suite)
    _tests(suite, SILENT)
    result, now = again(opened)
    assert "the grader wrote no reward" in result.trials[0].reason
    assert now.rows() == opened.before


def test_only_named_trials_are_graded_again(make_suite, run_suite, again):
    suite = make_suite(one={}, two={})
    opened = run_suite(suite)
    for task in ("one", "two"):
        _tests(suite, NEVER, task)
    result, now = again(opened, "two.oracle")
    assert [row.status for row in now.rows() if row.task_id == "two"] == ["failed"]
    assert [row.status for row in now.rows() if row.task_id == "one"] == ["passed"]
    assert len(result.trials) == 1
    with pytest.raises(UsageError, match="three"):
        again(now, "three")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("instruction.md", "its task has changed beside its tests: instruction.md"),
        ("environment/more", "its task has changed beside its tests: environment"),
        ("solution/solve.sh", "its task has changed beside its tests: solution"),
    ],
)
def test_a_task_that_has_changed_beside_its_tests_is_refused_by_what_has(
    make_suite, run_suite, again, change, told
):
    suite = make_suite(one={})
    opened = run_suite(suite)
    (suite / "one" / change).write_text("Write something else.\n")
    result, now = again(opened)
    assert [one.reason for one in result.trials] == [told]
    assert now.rows() == opened.before


def test_a_task_that_is_gone_is_said(make_suite, run_suite, again):
    suite = make_suite(one={}, two={})
    opened = run_suite(suite)
    shutil.rmtree(suite / "two")
    result, _ = again(opened)
    assert [one.reason for one in result.trials] == [None, "the suite mini has no task two any more"]


@pytest.mark.parametrize("mode", ["snapshot", "shared"])
def test_the_state_of_a_sandbox_is_not_kept_and_that_is_said(make_suite, run_suite, again, mode):
    toml = f'schema_version = "1.4"\n[metadata.evalkit.grading]\nmode = "{mode}"\nkeep = ["/app/out"]\n'
    toml += '[environment]\nnetwork_mode = "no-network"\n'
    opened = run_suite(make_suite(one={"task.toml": toml}))
    result, _ = again(opened)
    assert [one.reason for one in result.trials] == [
        f"it was graded {mode}, and the state of its sandbox is not kept"
    ]


def test_a_run_that_is_being_run_is_refused(make_suite, run_suite, again):
    opened = run_suite(make_suite(one={}))
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as other:
        try:
            _owned_by(Path(opened.path), other.pid)
            with pytest.raises(UsageError, match="is writing this run"):
                again(opened)
        finally:
            other.kill()


def _owned_by(run, pid):
    claim(run)
    owner = json.loads((run / "owner.json").read_text())
    owner |= {"pid": pid, "started": None}
    (run / "owner.json").write_text(json.dumps(owner))


def test_a_killed_regrading_loses_nothing_and_the_run_can_be_resumed(
    make_suite, run_suite, again, tmp_path, quiet
):
    from evalkit.engine.start import resume

    tasks = {f"task-{number}": {} for number in range(6)}
    suite = make_suite(**tasks)
    opened = run_suite(suite, max_trials=1)
    for task in tasks:
        _tests(suite, "#!/bin/sh\nsleep 0.4\necho 0 > /logs/verifier/reward.txt\n", task)
    run = Path(opened.path)
    code = (
        "import sys; from pathlib import Path; from evalkit.engine.regrading import regrade\n"
        "regrade(Path(sys.argv[1]), heard=lambda done, total: print(done, flush=True))\n"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(run)], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"1\n"
        time.sleep(0.1)
        process.kill()
    result, now = again(opened)
    assert [row.status for row in now.rows()] == ["failed"] * 6
    assert {one.after.attempt for one in result.trials} == {2, 3}
    for task in tasks:  # the suite as the run began with it
        _tests(suite, GRADER, task)
    resumed = resume(run, quiet)
    assert not resumed.trials
    assert [row.status for row in evalkit.load(run).rows()] == ["failed"] * 6


GRADER = """\
#!/bin/sh
if [ "$(cat /app/out 2>/dev/null)" = done ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
"""

STAGED = """\
schema_version = "1.4"
artifacts = ["/app/out"]
[environment]
network_mode = "no-network"
[metadata.evalkit.grading]
mode = "sealed"
[[steps]]
name = "a"
min_reward = 0.5
[[steps]]
name = "b"
"""


@pytest.fixture
def staged(make_suite):
    """A suite of one task with two steps whose graders are given."""

    def make(first, second):
        files = {
            "task.toml": STAGED,
            "instruction.md": None,
            "tests/test.sh": None,
            "solution/solve.sh": None,
        }
        for name, test in (("a", first), ("b", second)):
            files[f"steps/{name}/instruction.md"] = "Do.\n"
            files[f"steps/{name}/tests/test.sh"] = test
            files[f"steps/{name}/solution/solve.sh"] = f"echo {name} > out\n"
        return make_suite(one=files)

    return make


def _holds(word):
    return f'#!/bin/sh\nif [ "$(cat /app/out)" = {word} ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n'


def test_each_stage_is_graded_on_what_it_delivered(staged, run_suite, again):
    opened = run_suite(staged(_holds("a"), NEVER))
    assert opened.rows()[0].rewards == {"a": 1.0, "b": 0.0}
    suite = staged(_holds("a"), _holds("b"))
    assert suite.is_dir()
    _, now = again(opened)
    (after,) = now.rows()
    assert (after.status, after.rewards) == ("passed", {"a": 1.0, "b": 1.0})


def test_a_stage_that_now_falls_short_ends_the_trial_there(staged, run_suite, again):
    opened = run_suite(staged(_holds("a"), _holds("b")))
    staged(NEVER, _holds("b"))
    _, now = again(opened)
    (after,) = now.rows()
    assert (after.status, after.rewards) == ("failed", {"a": 0.0})


def test_a_trial_that_would_have_gone_on_cannot_be_judged(staged, run_suite, again):
    opened = run_suite(staged(NEVER, _holds("b")))
    staged(_holds("a"), _holds("b"))
    result, now = again(opened)
    assert result.trials[0].reason == "by the verdict on stage a it would have gone on, and its agent did not"
    assert now.rows() == opened.before


def test_a_run_of_elsewhere_has_no_graders(make_suite, run_suite, again, tmp_path):
    opened = run_suite(make_suite(one={}))
    manifest = Path(opened.path) / "run.json"
    told = json.loads(manifest.read_text())
    told["suites"][0]["source"] = None
    manifest.write_text(json.dumps(told))
    with pytest.raises(NotComparable, match="no suite whose graders could be run again"):
        again(opened)


TELLING = """\
#!/bin/sh
read nonce
printf '{"nonce": "%s", "reward": 1, "evidence": [{"code": "T7", "level": "suspected", "what": "WHAT"}]}' "$nonce" \
  > /logs/verifier/verdict.json
"""


def _told(run):
    (row,) = run.rows()
    events = [
        step for step in run.trial(row.trial_id)[1] if step.kind == "event" and step.event == "tampering"
    ]
    return [json.loads(event.detail)["what"] for event in events]


def test_what_the_grader_told_of_tampering_it_tells_anew(make_suite, run_suite, again):
    suite = make_suite(one={"tests/test.sh": TELLING.replace("WHAT", "a literal of the tests")})
    opened = run_suite(suite)
    assert _told(opened) == ["a literal of the tests"]
    _tests(suite, TELLING.replace("WHAT", "a hidden case fails"))
    _, now = again(opened)
    assert _told(now) == ["a hidden case fails"]
    _tests(suite, ALWAYS)
    _, now = again(now)
    assert _told(now) == []
