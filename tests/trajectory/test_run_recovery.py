"""Does a run survive the death of the process that writes it, at any moment?"""

from __future__ import annotations

import dataclasses
import itertools
import os
import signal
import subprocess
import sys

import pytest

from evalkit.errors import UsageError
from evalkit.trajectory.effect import Effect
from evalkit.trajectory.reader import load
from evalkit.trajectory.recovery import recover
from evalkit.trajectory.writer import RunWriter

HEADER = {"suite": "core", "task_id": "task-t2", "epoch": 1, "agent": "react/m", "skills": ("shell",)}


class Killed(BaseException):
    """Stands for the end of the process: nothing is caught, cleaned up or written after it."""


@pytest.fixture
def kill_at(monkeypatch):
    """Let the process die just before its n-th renaming or deleting of a file."""

    def kill_at(moment: int) -> None:
        counter = itertools.count()
        for name in ("replace", "rename", "unlink"):
            real = getattr(os, name)

            def counted(*arguments, real=real, **options):
                if next(counter) >= moment:
                    raise Killed
                return real(*arguments, **options)

            monkeypatch.setattr(os, name, counted)

    return kill_at


def set_aside(run):
    """What is in the journal's folder, by name."""
    return {path.name: path.read_bytes() for path in (run / "journal").iterdir()}


def contents(run):
    return {trial.trial_id: (trial.status, trial.error_type, own) for trial, own in load(run).iter_trials()}


@pytest.mark.parametrize("moment", range(8))
def test_a_commit_that_is_killed_at_any_moment_is_whole_or_interrupted(
    writer, make_trial, steps, bury, kill_at, monkeypatch, moment
):
    writer.commit(make_trial("t1"), steps)
    journal = writer.begin("t2", HEADER)
    for step in steps[:3]:
        journal.append(step)
    effect = Effect(trial_id="t2", channel="file", resource="/a", change="created")
    kill_at(moment)
    try:
        writer.commit(make_trial("t2"), steps, [effect])
    except Killed:
        pass
    else:
        assert moment > 3, "the commit was not killed"
    monkeypatch.undo()
    bury()
    recover(writer.path)
    whole = {"t1": ("passed", None, steps), "t2": ("passed", None, steps)}
    interrupted = {**whole, "t2": ("unscored", "interrupted", steps[:3])}
    assert contents(writer.path) == (interrupted if moment < 3 else whole)
    assert load(writer.path).effects.count_rows() == (0 if moment < 3 else 1)
    names = {path.name for path in writer.path.rglob("*") if path.is_file()}
    assert not [name for name in names if name.endswith((".tmp", ".jsonl")) or name == "owner.json"]


@pytest.mark.parametrize("moment", range(14))
def test_a_compaction_that_is_killed_at_any_moment_changes_nothing_that_is_read(
    writer, make_trial, steps, bury, kill_at, monkeypatch, moment
):
    effect = Effect(trial_id="t2", channel="file", resource="/a", change="created")
    writer.commit(make_trial("t2"), steps, [effect])
    writer.finish()
    again = RunWriter.open(writer.path)
    again.commit(make_trial("t1"), steps[:2], [dataclasses.replace(effect, trial_id="t1")])
    again.commit(make_trial("t3"), steps[:2])
    before = contents(writer.path)
    kill_at(moment)
    try:
        again.finish()
    except Killed:
        pass
    else:
        assert moment > 11, "the compaction was not killed"
    monkeypatch.undo()
    assert contents(writer.path) == before
    assert load(writer.path).effects.count_rows() == 2

    bury()
    assert recover(writer.path) == 0
    assert contents(writer.path) == before
    with RunWriter.open(writer.path) as last:
        last.commit(make_trial("t4"), steps)
        last.finish()
    assert contents(writer.path) == {**before, "t4": ("passed", None, steps)}
    assert load(writer.path).effects.count_rows() == 2
    assert len(list((writer.path / "steps").iterdir())) == 1


def test_a_trial_in_flight_is_kept_as_unscored_with_its_steps(writer, steps, bury):
    journal = writer.begin("t2", {**HEADER, "model": "m", "started_at": steps[1].started_at})
    for step in steps:
        journal.append(step)
    bury()
    assert recover(writer.path) == 1
    trial, own = load(writer.path).trial("t2")
    assert (trial.status, trial.error_origin, trial.error_type) == ("unscored", "harness", "interrupted")
    assert (trial.reward, trial.model, trial.skills) == (None, "m", ("shell",))
    assert trial.started_at == steps[1].started_at
    assert own == steps


def test_a_trial_in_flight_was_cancelled_and_counts_the_calls_that_were_kept(writer, steps, bury):
    journal = writer.begin("t2", HEADER)
    writer.begin("t3", {**HEADER, "task_id": "task-t3"})
    for step in steps[:2]:
        journal.append(step)
    bury()
    recover(writer.path)
    rows = {trial.trial_id: (trial.model_calls, trial.tool_calls) for trial in load(writer.path).rows()}
    assert rows == {"t2": (1, 0), "t3": (0, 0)}
    assert {trial.stop_reason for trial in load(writer.path).rows()} == {"cancelled"}


def test_recovering_twice_finds_nothing_more(writer, steps, bury):
    writer.begin("t2", HEADER).append(steps[0])
    bury()
    assert [recover(writer.path), recover(writer.path)] == [1, 0]
    assert load(writer.path).trials.count_rows() == 1


def test_a_torn_last_line_of_a_journal_is_left_out(writer, steps, bury):
    journal = writer.begin("t2", HEADER)
    journal.append(steps[0])
    journal.append(steps[1])
    data = journal.path.read_bytes()
    journal.path.write_bytes(data[:-10])
    bury()
    recover(writer.path)
    assert load(writer.path).trial("t2")[1] == steps[:1]


@pytest.mark.parametrize(
    "line",
    [
        b"\x00\xff\n",
        b"[]\n",
        b"{}\n",
        b'{"kind":"act"}\n',
        b'{"kind":"think","step":7}\n',
        b"[" * 9999 + b"\n",
        b'{"kind":[],"step":1}\n',
        b'{"kind":"act","step":1,"observation":{"a":1}}\n',
        b'{"kind":"act","step":1,"exit_code":1.5}\n',
        b'{"kind":"act","step":1,"stdout_truncated":1}\n',
        b'{"kind":"think","step":1,"cost_usd":1' + b"0" * 400 + b"}\n",
        b'{"kind":"think","step":1,"started_at":5}\n',
    ],
)
def test_a_line_that_makes_no_sense_ends_what_is_known(writer, steps, bury, line):
    journal = writer.begin("t2", HEADER)
    journal.append(steps[0])
    with journal.path.open("ab") as file:
        file.write(line)
    journal.append(steps[1])
    bury()
    kept = journal.path.read_bytes()
    assert [recover(writer.path), recover(writer.path)] == [1, 0]
    assert load(writer.path).trial("t2")[1] == steps[:1]
    assert set_aside(writer.path) == {f"{journal.path.name}.bad": kept}


def test_a_journal_without_a_whole_header_says_nothing(writer, bury):
    journal = writer.begin("t2", HEADER)
    journal.path.write_bytes(journal.path.read_bytes()[:20])
    bury()
    kept = journal.path.read_bytes()
    assert recover(writer.path) == 0
    assert set_aside(writer.path) == {f"{journal.path.name}.bad": kept}


def test_a_run_that_is_being_written_is_left_alone(writer, steps):
    writer.begin("t2", HEADER).append(steps[0])
    assert recover(writer.path) == 0
    assert len(list((writer.path / "journal").iterdir())) == 1


def test_a_run_that_was_given_up_is_recovered(writer, steps):
    writer.begin("t2", HEADER).append(steps[0])
    writer.close()
    assert recover(writer.path) == 1


def test_finishing_keeps_trials_in_flight_as_interrupted(writer, make_trial, steps):
    writer.commit(make_trial("t1"), steps)
    writer.begin("t2", HEADER).append(steps[0])
    writer.finish()
    assert contents(writer.path)["t2"] == ("unscored", "interrupted", steps[:1])


def test_a_further_attempt_replaces_an_interrupted_one(writer, make_trial, steps, bury):
    writer.begin("t2", HEADER).append(steps[0])
    bury()
    with RunWriter.open(writer.path) as again:
        again.commit(make_trial("t2-again", task_id="task-t2", attempt=2), steps)
    assert contents(writer.path) == {"t2-again": ("passed", None, steps)}


def test_attempts_that_were_replaced_are_read_where_they_are_asked_for(writer, make_trial, steps, bury):
    writer.begin("t2", HEADER).append(steps[0])
    bury()
    with RunWriter.open(writer.path) as again:
        again.commit(make_trial("t2-again", task_id="task-t2", attempt=2), steps)
    every = load(writer.path, every_attempt=True)
    assert [(trial.attempt, trial.status) for trial in every.rows()] == [(1, "unscored"), (2, "passed")]
    assert every.trial("t2") == (every.rows()[0], steps[:1])
    assert every.steps.count_rows() == 1 + len(steps)


def test_a_folder_in_which_a_run_was_never_begun_is_begun_in_again(writer, manifest, bury):
    bury()
    (writer.path / "run.json").rename(writer.path / ".run.json.01234567.tmp")
    with RunWriter.create(writer.path, manifest) as again:
        assert again.manifest == load(writer.path).manifest
    assert not list(writer.path.glob(".run.json.*"))


@pytest.mark.parametrize("name", ["trials/part.parquet", "notes.txt", "journal/x.jsonl", "more/empty"])
def test_a_folder_that_holds_anything_else_is_not_begun_in(writer, manifest, bury, name):
    bury()
    (writer.path / "run.json").unlink()
    (writer.path / name).parent.mkdir(exist_ok=True)
    (writer.path / name).write_text("mine")
    with pytest.raises(UsageError, match="not empty"):
        RunWriter.create(writer.path, manifest)
    assert (writer.path / name).read_text() == "mine"


def test_a_folder_in_which_a_living_process_begins_a_run_is_not_begun_in(writer, manifest):
    (writer.path / "run.json").unlink()
    with pytest.raises(UsageError, match="not empty"):
        RunWriter.create(writer.path, manifest)


def test_recovering_what_is_no_run_says_what_was_looked_for(tmp_path):
    with pytest.raises(UsageError, match=r"run\.json"):
        recover(tmp_path)


ENDLESS = """
import sys
from datetime import UTC, datetime
from evalkit.trajectory.manifest import RunManifest
from evalkit.trajectory.step import Think
from evalkit.trajectory.trial import Trial
from evalkit.trajectory.writer import RunWriter

writer = RunWriter.create(sys.argv[1], RunManifest(run_id="run-1", created_at=datetime.now(UTC)))
for number in range(100_000):
    header = {"suite": "s", "task_id": f"a{number}", "epoch": 1, "agent": "m"}
    journal = writer.begin(f"t{number:05d}", header)
    steps = [Think(step=place, text="x") for place in range(5)]
    for step in steps:
        journal.append(step)
    writer.commit(Trial(run_id="run-1", trial_id=f"t{number:05d}", status="passed", **header), steps)
    print(number, flush=True)
"""


def test_a_process_that_is_really_killed_loses_no_committed_trial(run_path):
    process = subprocess.Popen(
        [sys.executable, "-c", ENDLESS, str(run_path)], stdout=subprocess.PIPE, text=True
    )
    with process:
        for _ in range(8):
            committed = int(process.stdout.readline())
        os.kill(process.pid, signal.SIGKILL)
        committed = max([committed, *map(int, process.stdout.read().split())])
    recover(run_path)
    trials = list(load(run_path).iter_trials())
    assert [trial.trial_id for trial, _ in trials][: committed + 1] == [
        f"t{n:05d}" for n in range(committed + 1)
    ]
    assert all(trial.status == "passed" and len(own) == 5 for trial, own in trials[: committed + 1])
    assert len(trials) <= committed + 3
