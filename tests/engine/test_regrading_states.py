"""Stored states are graded again: once, whatever happened before."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import evalkit
from evalkit.engine.regrading import regrade
from evalkit.errors import UsageError
from evalkit.trajectory.step import Event

SOLVE = """\
#!/bin/sh
# step: I begin.
echo not yet > out
# step: I write it.
echo done > out
# step: I look.
cat out
"""
TESTS = "tests/test.sh"
SLOWLY = """\
#!/bin/sh
sleep 0.3
if [ "$(cat /app/out 2>/dev/null)" = done ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
"""
PICKY = """\
#!/bin/sh
[ "$(cat /app/out)" = done ] || exit 3
echo 1 > /logs/verifier/reward.txt
"""
STORED = {"checkpoints": True, "checkpoint_budget": 0}


def again(run, **options):
    result = regrade(Path(run.path), heard=lambda done, total: None, checkpoints=True, **options)
    return result, evalkit.load(run.path)


def verdicts(run, row):
    events = (step for step in run.trial(row.trial_id)[1] if isinstance(step, Event))
    return [json.loads(event.detail)["passed"] for event in events if event.event == "checkpoint"]


def attempts(run):
    return sorted((row.task_id, row.attempt) for row in evalkit.load(run.path, every_attempt=True).rows())


def test_asked_twice_it_does_its_work_once(make_suite, run_suite):
    suite = make_suite(one={"solution/solve.sh": SOLVE}, two={"solution/solve.sh": SOLVE})
    run = run_suite(suite, **STORED)
    first, run = again(run)
    assert [one.states for one in first.trials] == [2, 2]
    second, run = again(run)
    assert (second.trials, second.settled) == ([], 2)
    assert attempts(run) == [("one", 1), ("one", 2), ("two", 1), ("two", 2)]
    assert [verdicts(run, row) for row in run.rows()] == [[False, True]] * 2


def test_a_state_without_a_verdict_again_is_told_and_not_written_twice(make_suite, run_suite):
    run = run_suite(make_suite(one={"solution/solve.sh": SOLVE, TESTS: PICKY}), **STORED)
    first, run = again(run)
    assert first.trials[0].after.attempt == 2
    second, run = again(run)
    assert "a state of its work has no verdict again" in second.trials[0].reason
    assert "exited with 3" in second.trials[0].reason
    assert attempts(run) == [("one", 1), ("one", 2)]
    assert verdicts(run, run.rows()[0]) == [None, True]


def test_states_of_a_trial_whose_grader_failed_are_graded_by_a_better_one(make_suite, run_suite):
    suite = make_suite(one={"solution/solve.sh": SOLVE, TESTS: "#!/bin/sh\nexit 3\n"})
    run = run_suite(suite, checkpoints=True)
    (row,) = run.rows()
    assert (row.status, row.error_origin, verdicts(run, row)) == ("unscored", "grader", [None, None])
    (suite / "one" / TESTS).write_text(SLOWLY)
    _, run = again(run)
    (row,) = run.rows()
    assert (row.status, verdicts(run, row)) == ("passed", [False, True])
    assert again(run)[0].settled == 1


def test_killed_it_goes_on_where_it_was(make_suite, run_suite):
    tasks = {f"task-{n}": {"solution/solve.sh": SOLVE, TESTS: SLOWLY} for n in range(4)}
    run = run_suite(make_suite(**tasks), max_trials=1, **STORED)
    code = (
        "import sys; from pathlib import Path; from evalkit.engine.regrading import regrade\n"
        "regrade(Path(sys.argv[1]), checkpoints=True, heard=lambda done, total: print(done, flush=True))\n"
    )
    with subprocess.Popen([sys.executable, "-c", code, run.path], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"1\n"
        time.sleep(0.1)
        process.kill()
    result, run = again(run)
    assert result.settled >= 1
    assert result.settled + len(result.trials) == 4
    assert attempts(run) == sorted((task, attempt) for task in tasks for attempt in (1, 2))
    assert [verdicts(run, row) for row in run.rows()] == [[False, True]] * 4


def test_where_nothing_is_left_to_be_graded_nothing_has_to_be_kept(make_suite, run_suite):
    run = run_suite(make_suite(one={"solution/solve.sh": SOLVE}), checkpoints=True)
    shutil.rmtree(Path(run.path) / "artifacts")
    result, _ = again(run)
    assert (result.settled, result.trials) == (1, [])


def test_a_run_without_trials_is_refused(make_suite, run_suite):
    run = run_suite(make_suite(one={"solution/solve.sh": SOLVE}))
    for table in ("trials", "steps", "effects"):
        for part in (Path(run.path) / table).iterdir():
            part.unlink()
    for checkpoints in (True, False):
        with pytest.raises(UsageError, match="no trials") as refused:
            regrade(Path(run.path), heard=lambda done, total: None, checkpoints=checkpoints)
        assert "evalkit resume" in str(refused.value.hint)


def test_a_run_whose_trials_changed_nothing_has_no_states(make_suite, run_suite):
    run = run_suite(make_suite(one={"solution/solve.sh": SOLVE}), "scripted/nop", **STORED)
    with pytest.raises(UsageError, match="no states"):
        again(run)
