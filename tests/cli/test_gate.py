"""`evalkit gate` and `evalkit baseline`, from runs on the disk to exit codes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

POLICY = """\
[metrics]
success = { max_drop = "10pp" }
output_tokens = { max_ratio = 1.15 }
[faulted]
recovery_rate = { max_drop = "15pp" }
"""
ARMS = ("clean", "flaky")


def steady(task, epoch):
    """One task in ten fails at times; tokens differ from task to task."""
    failed = task % 10 == 0 and epoch == 2
    return {"status": "failed" if failed else "passed", "output_tokens": 900 + 10 * task, "recovers": True}


def breaking(task, epoch):
    return steady(task, epoch) | ({"status": "failed"} if task % 4 == 0 else {})


def wordy(task, epoch):
    own = steady(task, epoch)
    return own | {"output_tokens": int(1.4 * own["output_tokens"])}


def helpless(task, epoch):
    return steady(task, epoch) | {"recovers": task % 3 > 0}


@pytest.fixture(scope="module")
def runs(made_run, tmp_path_factory):
    """The accepted run, one like it, and three that became worse, each in its way."""
    folder = tmp_path_factory.mktemp("runs")
    plays = {"accepted": steady, "same": steady, "breaking": breaking, "wordy": wordy, "helpless": helpless}
    return {name: str(made_run(folder / name, play, variants=ARMS)) for name, play in plays.items()}


@pytest.fixture
def policy(folder):
    (folder / "gate.toml").write_text(POLICY)
    return "gate.toml"


@pytest.fixture
def baseline(command, runs, folder):
    said = command("baseline", "accept", runs["accepted"], "--why", "the first release", "--by", "A. Tester")
    assert said.code == 0, said.err
    return str(folder / "baselines" / "made.json")


def test_an_agent_that_stayed_as_it_was_passes(command, runs, baseline, policy):
    said = command("gate", runs["same"], "--baseline", baseline, "--policy", policy, "--strict")
    assert said.out.startswith(
        "PASS: success, output_tokens, recovery_rate (faulted) are no worse than allowed, on 80 tasks.\n"
        "This change may go in.\n"
    )
    assert said.code == 0


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("breaking", "success fell by 2"),
        ("wordy", "output_tokens grew by 40 %"),
        ("helpless", "recovery_rate (faulted) fell by 3"),
    ],
)
def test_what_became_worse_is_caught_by_its_own_line_and_no_other(
    command, runs, baseline, policy, name, line
):
    said = command("gate", runs[name], "--baseline", baseline, "--policy", policy)
    assert said.code == 3
    assert said.out.startswith(f"REGRESSED: {line}")
    assert said.out.count("  REGRESSED ") == 1
    assert said.out.count("  PASS ") == 2


def test_a_run_and_the_file_that_it_was_accepted_into_are_the_same_baseline(command, runs, baseline, policy):
    of_run, of_file = (
        command("gate", runs["breaking"], "--baseline", spec, "--policy", policy)
        for spec in (runs["accepted"], baseline)
    )
    assert of_run.out.replace(runs["accepted"], "B") == of_file.out.replace(baseline, "B")


def test_the_tasks_that_got_worst_are_named(command, runs, baseline, policy):
    said = command("gate", runs["breaking"], "--baseline", baseline, "--policy", policy)
    assert "got worse: made/t004 2/2 -> 0/2" in said.out


def test_accepted_runs_are_pooled(command, runs, baseline):
    said = command("baseline", "accept", runs["same"], "--why", "more of it", "--pool")
    assert said.code == 0
    shown = json.loads(command("baseline", "show", baseline, "--json").out)["baselines"][0]
    assert [run["why"] for run in shown["runs"]] == ["the first release", "more of it"]
    assert shown["agents"] == [
        {"id": "a", "tasks": 80, "passed": 2 * 304, "scored": 2 * 320, "unscored": 0},
    ]
    again = command("baseline", "accept", runs["same"], "--why", "twice", "--pool")
    assert (again.code, "is already part of the baseline" in again.err) == (5, True)


def test_where_a_baseline_lies_is_told_as_git_names_it(command, runs, folder):
    said = command("baseline", "accept", runs["accepted"], "--why", "the first release")
    assert said.out.startswith(f"Accepted {runs['accepted']} into baselines/made.json: 1 run, 320 trials.\n")
    assert said.out.endswith("--baseline git:BASE_BRANCH:./baselines/made.json\n")


def test_a_baseline_is_read_from_another_branch(command, runs, baseline, policy, folder):
    def git(*args):
        mine = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *mine, *args], cwd=folder, check=True, capture_output=True)

    git("init", "-b", "main")
    git("add", ".")
    git("commit", "-m", "Accept a baseline")
    Path(baseline).write_text("whatever this change makes of it")
    said = command("gate", runs["same"], "--baseline", "git:main:baselines/made.json", "--policy", policy)
    assert said.code == 0
    lost = command("gate", runs["same"], "--baseline", "git:main:nowhere.json", "--policy", policy)
    assert (lost.code, "git has no main:nowhere.json" in lost.err) == (5, True)


def test_defaults_come_from_the_project(command, runs, baseline, policy, folder):
    del baseline
    (folder / "evalkit.toml").write_text(f'[gate]\nbaseline = "baselines/made.json"\npolicy = "{policy}"\n')
    assert command("gate", runs["wordy"]).code == 3


def test_without_a_baseline_it_says_how_to_accept_one(command, runs):
    said = command("gate", runs["same"])
    assert said.code == 2
    assert f"evalkit baseline accept {runs['same']}" in said.err


def test_a_run_that_is_not_whole_never_becomes_a_baseline(command, made_run, tmp_path, folder):
    path = made_run(
        tmp_path / "few", lambda task, _: {"status": "unscored" if task < 3 else "passed"}, tasks=10
    )
    said = command("baseline", "accept", str(path), "--why", "hope")
    assert said.code == 5
    assert "cannot become a baseline" in said.err
    assert not (folder / "baselines").exists()


def test_a_baseline_is_accepted_for_a_reason_of_one_line(command, runs, folder):
    said = command("baseline", "accept", runs["accepted"], "--why", "  ")
    assert (said.code, "accepted for a reason" in said.err) == (2, True)
    assert not (folder / "baselines").exists()
    command("baseline", "accept", runs["accepted"], "--why", "one\n::error::two", "--by", "x\ny")
    shown = command("baseline", "list", columns=300).out
    assert "by x y: one ::error::two" in shown


def test_power_knows_how_few_tasks_decide_nothing(command):
    said = command("power", "--tasks", "8", "--margin", "40pp", "--runs", "100")
    assert "passes   0.0 %" in said.out


def test_baselines_are_listed(command, baseline):
    said = command("baseline", "list", columns=200)
    assert said.out.splitlines()[0] == baseline
    assert "by A. Tester: the first release" in said.out
    assert "a: 80 tasks, 304 of 320 trials passed" in said.out


def test_no_baseline_is_no_error(command):
    assert command("baseline", "list").out.startswith("There is no baseline here.")


MEDDLING = """\
from evalkit import Metric, Score, Scorer


class Meddling(Scorer):
    metrics = (Metric(name="meddled", meaning="changed its own grader", better="lower", low=0),)

    def score(self, trial):
        found = trial.row.task_id == "t007" and trial.row.epoch == 2
        told = "it wrote to /tests" if found else "nothing"
        yield Score("meddled", float(found), told, (2,) if found else ())
"""
UNMEDDLED = "[metrics]\nsuccess = { max_drop = '5pp' }\n[zero_tolerance]\nmeddled = 0\n"


def test_an_event_is_not_tolerated_as_soon_as_a_scorer_tells_of_it(command, made_run, baseline, folder):
    (folder / "scorers").mkdir()
    (folder / "scorers" / "meddling.py").write_text(MEDDLING)
    (folder / "gate.toml").write_text(UNMEDDLED)
    run = str(made_run(folder / "run", steady, variants=ARMS, scorers=("success", "meddling")))
    said = command("gate", run, "--baseline", baseline, "--policy", "gate.toml")
    assert said.code == 3
    assert said.out.startswith("REGRESSED: meddled in 2 trials, and none is tolerated")
    assert "t007.clean.2, step 2: it wrote to /tests" in said.out
