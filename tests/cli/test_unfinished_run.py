"""What is shown of a run that is not whole?"""

from __future__ import annotations

import json
import os
import socket
from datetime import UTC, datetime
from pathlib import Path

import pytest

from evalkit.trajectory.manifest import PlannedRow, RunManifest
from evalkit.trajectory.step import Prompt, Think
from evalkit.trajectory.writer import RunWriter

HEADER = {"suite": "core", "task_id": "sum", "epoch": 1, "agent": "react/m"}


@pytest.fixture
def run(folder: Path) -> Path:
    """A run of one trial, planned twice, whose process was killed after its first generation."""
    rows = tuple(PlannedRow(suite="core", task_id="sum", epoch=epoch, agent="react/m") for epoch in (1, 2))
    manifest = RunManifest(run_id="run-1", created_at=datetime(2025, 1, 2, tzinfo=UTC), planned=rows)
    writer = RunWriter.create(folder / "my run", manifest)
    journal = writer.begin("sum.m.1", HEADER)
    journal.append(Prompt(step=0, role="user", text="Add."))
    journal.append(Think(step=1, text="I add."))
    journal.close()
    _owned(writer.path, pid=os.getpid(), started="another boot:1")
    return writer.path


def _owned(run: Path, *, pid: int, started: str | None, host: str | None = None) -> None:
    owner = {"pid": pid, "started": started, "host": host or socket.gethostname()}
    (run / "owner.json").write_text(json.dumps(owner))


def test_a_run_that_was_cut_short_says_how_it_is_gone_on_with(command, run):
    said = command("show", "my run").out
    assert (
        "1 of 2 planned trials have no row: the run was cut short; go on with:\n  evalkit resume 'my run'\n"
        in said
    )


def test_a_run_that_is_still_being_run_says_by_which_process(command, run):
    _owned(run, pid=os.getppid(), started=None)
    assert f"the run is still being run by process {os.getppid()}\n" in command("show", "my run").out


def test_a_run_of_another_machine_says_which(command, run):
    _owned(run, pid=1, started=None, host="elsewhere")
    said = " ".join(command("show", "my run").out.split())
    assert "the run is still being run by process 1 on elsewhere" in said


def test_a_trial_of_a_killed_run_was_cancelled_in_table_and_timeline(command, run):
    table = command("show", "my run").out
    (line,) = [line for line in table.splitlines() if line.startswith("unscored ") and "harness" not in line]
    assert line.split() == ["unscored", "cancelled", "-", "0", "-", "sum.m.1"]
    assert "unscored  stopped by cancelled" in command("show", "my run", "sum").out


def test_an_unknown_reason_for_stopping_is_not_named(command, folder):
    from evalkit.trajectory.trial import Trial

    manifest = RunManifest(run_id="run-1", created_at=datetime(2025, 1, 2, tzinfo=UTC))
    with RunWriter.create(folder / "run", manifest) as writer:
        writer.commit(Trial(run_id="run-1", trial_id="sum.m.1", status="passed", **HEADER), ())
        writer.finish()
    said = command("show", "run", "sum").out
    assert "None" not in said
    assert "stopped by" not in said


def test_the_hint_for_a_damaged_file_names_the_run(command, run):
    command("show", "my run")
    (part,) = (run / "trials").glob("*.parquet")
    part.write_bytes(part.read_bytes()[:20])
    said = command("show", "my run")
    assert said.code == 2
    assert "evalkit resume 'my run'" in said.err
