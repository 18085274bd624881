"""A scripted cheater plays the attacks it is asked for, under a name with a colon."""

import json
import subprocess
import sys

import pytest

from evalkit.engine.prepare import RunFlags, prepare
from evalkit.errors import UsageError
from evalkit.trajectory.step import Act

OWN = "#!/bin/sh\n# codes: T9\n# title: says that it is done\n# step: I claim it.\necho claimed > $WORKDIR/out\n"


def commands(run, model):
    return [
        (act.arguments or {}).get("command", "") if isinstance(act.arguments, dict) else str(act.arguments)
        for trial, steps in run.iter_trials()
        if trial.model == model
        for act in steps
        if isinstance(act, Act)
    ]


def test_a_cheater_without_a_name_plays_a_tasks_own_attacks(run_suite, make_suite):
    suite = make_suite(one={"exploits/claim.sh": OWN})
    run = run_suite(suite, "scripted/cheater", "scripted/cheater:claim", "scripted/cheater:conftest-hook")
    own, named, other = (
        commands(run, f"scripted/cheater{part}") for part in ("", ":claim", ":conftest-hook")
    )
    assert len(own) == 2  # the attack, then submit
    assert "echo claimed" in own[0]
    assert own == named
    assert "conftest" in other[0]
    assert {row.status for row in run.rows()} == {"failed"}


def test_an_unknown_attack_is_answered_with_the_nearest_before_anything_runs(make_suite):
    asked = RunFlags(suites=(str(make_suite()),), models=("scripted/cheater:conftest-hok",))
    with pytest.raises(UsageError, match=r"Did you mean scripted/cheater:conftest-hook\?"):
        prepare(asked)


def test_an_attack_that_only_another_task_has_is_said_by_the_trial(run_suite, make_suite):
    run = run_suite(make_suite(one={"exploits/claim.sh": OWN}, two={}), "scripted/cheater:claim")
    rows = {row.task_id: row for row in run.rows()}
    assert rows["one"].status == "failed"
    assert (rows["two"].status, rows["two"].error_origin) == ("unscored", "task")
    assert "no attack called 'claim'" in (rows["two"].error_message or "")


def test_a_name_with_a_colon_is_fine_for_every_command(run_any, make_suite, tmp_path):
    run = run_any(make_suite(one={"exploits/claim.sh": OWN}), "scripted/cheater:claim", "scripted/oracle")

    def evalkit(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "evalkit", *words],
            check=False,
            capture_output=True,
            text=True,
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    (trial,) = json.loads(evalkit("show", str(run.path), "--agent", "cheater:claim", "--json"))["trials"]
    assert "cheater:claim" in json.dumps(trial)
    assert "I claim it." in evalkit("show", str(run.path), trial["trial"])
    evalkit("report", str(run.path), "--out", "page.html")
    assert "cheater:claim" in (tmp_path / "page.html").read_text()
    evalkit("resume", str(run.path))
