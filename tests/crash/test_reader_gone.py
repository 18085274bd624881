"""Whoever reads what a command prints may stop reading: the command ends without a word, and a run goes on."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from evalkit.trajectory.manifest import RunManifest
from evalkit.trajectory.reader import load
from evalkit.trajectory.trial import Trial
from evalkit.trajectory.writer import RunWriter


@pytest.fixture
def run(folder: Path) -> Path:
    """A run of two hundred trials."""
    path = folder / "run"
    with RunWriter.create(
        path, RunManifest(run_id="r", created_at=datetime(2025, 1, 2, tzinfo=UTC))
    ) as writer:
        given = {"run_id": "r", "suite": "s", "epoch": 1, "agent": "a", "status": "passed"}
        for number in range(200):
            writer.commit(Trial(trial_id=f"t{number}", task_id=f"t{number}", **given), ())
        writer.finish()
    return path


@pytest.mark.parametrize("args", [("show", "run"), ("show", "run", "--json"), ("suite", "list")])
def test_a_command_whose_reader_is_gone_ends_as_sigpipe_would_end_it(run, folder, args):
    with subprocess.Popen(
        [sys.executable, "-m", "evalkit", *args],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        process.stdout.close()
        err = process.stderr.read()
    assert (process.returncode, err) == (141, "")


@pytest.mark.local
def test_a_run_goes_on_where_nobody_reads_its_progress(local_support, make_suite, folder, scratch):
    make_suite(folder / "suite", {"quick": {}})
    with subprocess.Popen(
        [sys.executable, "-m", "evalkit", "run", "suite", "--out", "run", "-m", "scripted/oracle"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        process.stderr.close()
        out = process.stdout.read()
    assert process.returncode == 0
    assert "passed" in out
    assert [trial.status for trial in load(folder / "run").rows()] == ["passed"]
