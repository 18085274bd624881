"""`evalkit show --follow`: a run while another process writes it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from evalkit.trajectory.manifest import PlannedRow, RunManifest
from evalkit.trajectory.trial import Trial
from evalkit.trajectory.watching import Watch
from evalkit.trajectory.writer import RunWriter

WRITES = textwrap.dedent(
    """
    import sys
    from datetime import UTC, datetime
    from evalkit.trajectory.manifest import PlannedRow, RunManifest
    from evalkit.trajectory.step import Prompt, Think
    from evalkit.trajectory.trial import Trial
    from evalkit.trajectory.writer import RunWriter

    names = ("first", "second", "third")
    rows = tuple(PlannedRow(suite="s", task_id=name, epoch=1, agent="a/m") for name in names)
    about = RunManifest(run_id="r", created_at=datetime(2026, 1, 2, tzinfo=UTC), planned=rows)
    with RunWriter.create("run", about) as writer:
        for name in names:
            header = {"suite": "s", "task_id": name, "epoch": 1, "agent": "a/m"}
            steps = [Prompt(step=0, role="user", text="Go."), Think(step=1, text="I go.")]
            journal = writer.begin(f"{name}.1", header)
            for step in steps:
                journal.append(step)
            print("begun", flush=True)
            if sys.stdin.readline() != "on\\n":
                sys.exit(0)
            status = "failed" if name == "second" else "passed"
            trial = Trial(
                run_id="r", trial_id=f"{name}.1", status=status, agent_s=1.5, output_tokens=1234, **header
            )
            writer.commit(trial, steps)
        writer.finish()
    """
)


class Writer:
    """A process that writes a run of three trials, each when it is told to go on."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", WRITES],
            cwd=folder,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.wait()

    def go_on(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("on\n")
        self.process.stdin.flush()

    def wait(self) -> None:
        """Until the next trial has been begun."""
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "begun\n"


@pytest.fixture
def writer(folder: Path) -> Iterator[Writer]:
    made = Writer(folder)
    yield made
    made.process.kill()
    made.process.communicate()


@pytest.fixture
def follower(folder: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start `evalkit show run --follow ...` in a process of its own, and wait until it has begun."""
    begun: list[subprocess.Popen[str]] = []

    def start(*args: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "evalkit", "show", "run", "--follow", *args]
        process = subprocess.Popen(
            command,
            cwd=folder,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "COLUMNS": "80"},
            # In the background of a shell without a terminal, tests are started deaf to it.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
        )
        begun.append(process)
        return process

    yield start
    for process in begun:
        process.kill()
        process.communicate()


def contents(run: Path) -> dict[str, bytes]:
    return {str(path.relative_to(run)): path.read_bytes() for path in run.rglob("*") if path.is_file()}


def test_trials_are_told_as_they_finish_and_the_table_at_the_end(writer, follower):
    process = follower()
    assert process.stderr.readline() == "evalkit: 0 of 3 trials are done\n"
    assert process.stderr.readline() == "evalkit: in flight: first (clean) a/m, 2 steps\n"
    for line in (
        "passed       1.50 s  1,234 tokens  first  a/m\n",
        "failed       1.50 s  1,234 tokens  second  a/m\n",
        "passed       1.50 s  1,234 tokens  third  a/m\n",
    ):
        writer.go_on()
        assert process.stdout.readline() == line
    out, err = process.communicate(timeout=90)
    assert process.returncode == 0, err
    assert "status  stopped by" in out
    assert "\x1b" not in out


def test_json_is_one_object_a_line_and_the_last_one_is_the_whole_run(writer, follower):
    writer.go_on()
    writer.wait()
    process = follower("--json", "--task", "first", "--task", "second")
    lines = [json.loads(process.stdout.readline()) for _ in range(3)]
    assert lines[0] == {"event": "begin", "done": 1, "planned": 2}
    assert (lines[1]["event"], lines[1]["task"], lines[1]["status"]) == ("trial", "first", "passed")
    assert lines[2]["event"] == "in_flight"
    assert [(one["trial"], one["steps"]) for one in lines[2]["trials"]] == [("second.1", 2)]
    writer.go_on()
    writer.go_on()
    out, _ = process.communicate(timeout=90)
    rest = [json.loads(line) for line in out.splitlines()]
    assert [one["task"] for one in rest if one["event"] == "trial"] == ["second"]
    assert rest[-1]["event"] == "end"
    assert [trial["task"] for trial in rest[-1]["result"]["trials"]] == ["first", "second"]


def test_following_changes_nothing_and_an_interrupt_ends_it(writer, follower, folder):
    before = contents(folder / "run")
    process = follower()
    process.stderr.readline()
    process.stderr.readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=90)
    assert process.returncode == 130
    assert err.endswith("evalkit: interrupted\n")
    assert contents(folder / "run") == before
    assert writer.process.poll() is None


def test_a_run_whose_process_is_killed_ends_the_following_and_is_not_recovered(writer, follower, folder):
    process = follower()
    process.stderr.readline()
    writer.process.kill()
    writer.process.wait()
    out, _ = process.communicate(timeout=90)
    assert process.returncode == 0
    assert "go on with:\n  evalkit resume run\n" in out
    assert (folder / "run" / "owner.json").exists()
    assert list((folder / "run" / "journal").iterdir())


def test_a_run_that_nobody_writes_is_shown_once(command, made_run, folder):
    run = str(made_run(folder / "done", lambda task, epoch: {}, tasks=2, epochs=1))
    said = command("show", run, "--follow")
    assert said.code == 0
    assert "nobody is running this run" in said.err
    assert said.out == command("show", run).out
    (line,) = command("show", run, "--follow", "--json").out.splitlines()
    assert json.loads(line)["result"]["agents"][0]["passed"] == 2


def test_only_a_whole_local_run_can_be_followed(command, made_run, folder):
    run = str(made_run(folder / "done", lambda task, epoch: {}, tasks=1, epochs=1, scorers=()))
    for args in ((run, "t000"), (run, "--failures"), ("s3://bucket/run",)):
        assert command("show", *args, "--follow").code == 2


def test_what_is_told_once_is_not_told_again_when_the_files_become_one(folder):
    row = PlannedRow(suite="s", task_id="t", epoch=1, agent="a")
    about = RunManifest(run_id="r", created_at=datetime(2026, 1, 2, tzinfo=UTC), planned=(row,))
    writer = RunWriter.create(folder / "run", about)
    watch = Watch(folder / "run")
    assert watch.owner() is not None
    header = {"suite": "s", "task_id": "t", "agent": "a"}
    for epoch in (1, 2):
        trial = Trial(run_id="r", trial_id=f"t.{epoch}", status="passed", epoch=epoch, **header)
        writer.commit(trial, ())
        assert [one.trial_id for one in watch.finished()] == [f"t.{epoch}"]
    writer.finish()
    assert watch.finished() == []
    assert watch.owner() is None


def test_journals_that_are_none_are_passed_over(folder):
    about = RunManifest(run_id="r", created_at=datetime(2026, 1, 2, tzinfo=UTC))
    writer = RunWriter.create(folder / "run", about)
    writer.begin("good", {"suite": "s", "task_id": "t", "epoch": 1, "agent": "a"})
    journals = folder / "run" / "journal"
    (journals / f"bad-{'0' * 16}.jsonl").write_text("[" * 5000 + "\n")
    (journals / f"half-{'0' * 16}.jsonl").write_text('{"suite": ')
    (journals / f"link-{'0' * 16}.jsonl").symlink_to("/dev/zero")
    os.mkfifo(journals / f"pipe-{'0' * 16}.jsonl")
    assert [(one.trial.trial_id, one.steps) for one in Watch(folder / "run").in_flight()] == [("good", 0)]
    writer.close()


@pytest.mark.local
@pytest.mark.slow
def test_a_real_run_is_followed_to_its_scores(folder, follower, local_support):
    with tempfile.TemporaryDirectory(prefix="evalkit-test-", dir="/var/tmp") as scratch:
        Path(scratch).chmod(0o755)
        args = ["run", "core", "--task", "fix-off-by-one", "--model", "scripted/oracle", "--out", "run"]
        running = subprocess.Popen(
            [sys.executable, "-m", "evalkit", *args],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "EVALKIT_SCRATCH": scratch},
        )
        until = time.monotonic() + 60
        while not (folder / "run" / "run.json").exists():
            assert running.poll() is None
            assert time.monotonic() < until
            time.sleep(0.02)
        out, err = follower().communicate(timeout=120)
        assert running.wait(timeout=60) == 0
    assert "fix-off-by-one" in err + out
    assert "success" in out


def test_following_and_sorting_failures_are_two_things_and_each_is_named(command, made_run, folder):
    run = str(made_run(folder / "done", lambda task, epoch: {}, tasks=1, epochs=1, scorers=()))
    said = command("show", run, "--follow", "--failures")
    assert said.code == 2
    assert "whole run" not in said.err
    assert "--follow --status failed,unscored" in said.err
