"""A writer that dies, or whose disk is full, before any one of its touches of the disk loses nothing."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from evalkit.trajectory.manifest import RunManifest
from evalkit.trajectory.reader import load
from evalkit.trajectory.recovery import recover
from evalkit.trajectory.trial import Trial
from evalkit.trajectory.writer import RunWriter

DYING = Path(__file__).with_name("dying.py")
DELIVERED = hashlib.sha256(b"delivered").hexdigest()


def moments(folder: Path, scenario: str, mode: str) -> list[Path]:
    """The folders that one scenario left, for every moment; the last is that of a writer that got to its end."""
    done = subprocess.run(
        [sys.executable, str(DYING), str(folder), scenario, mode], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 8
    return sorted((path for path in folder.iterdir()), key=lambda path: int(path.name))


def said(folder: Path, verb: str) -> Counter[str]:
    """How often the writer said something of each trial before it died."""
    lines = (line.split() for line in (folder / "said").read_text().splitlines())
    return Counter(words[1] for words in lines if words[0] == verb)


def check_what_is_read(folder: Path) -> None:
    """Every finished trial is there once, before anything is repaired."""
    run = load(folder / "run", every_attempt=True)
    rows = Counter(trial.trial_id for trial, _ in run.iter_trials())
    assert set(rows.values()) <= {1}
    assert set(said(folder, "committed")) <= set(rows)
    assert run.effects.count_rows() == sum(trial.status == "passed" for trial in run.rows())


def check_recovered(folder: Path) -> None:
    """Finished trials are whole, those in flight are kept with the steps that were told; nothing lies about."""
    run = load(folder / "run", every_attempt=True)
    trials = {trial.trial_id: (trial, steps) for trial, steps in run.iter_trials()}
    for trial_id in said(folder, "committed"):
        trial, steps = trials[trial_id]
        assert (trial.status, len(steps)) == ("passed", 3)
    for trial_id, number in said(folder, "step").items():
        trial, steps = trials[trial_id]
        assert len(steps) >= number
        assert trial.status == "passed" or trial.error_type == "interrupted"
    for digest in said(folder, "kept"):
        assert hashlib.sha256((run_file(folder, digest)).read_bytes()).hexdigest() == DELIVERED
    names = {path.name for path in (folder / "run").rglob("*") if path.is_file()}
    odd = [name for name in names if not name.endswith((".parquet", "run.json")) and name != DELIVERED[2:]]
    assert odd == []


def run_file(folder: Path, digest: str) -> Path:
    return folder / "run" / "artifacts" / digest[:2] / digest[2:]


def complete(run: Path) -> None:
    """Do what is missing, as a further attempt, as `evalkit resume` does."""
    with RunWriter.open(run) as writer:
        done = {trial.task_id: trial for trial in load(run).rows()}
        for number in range(1, 7):
            trial = done.get(f"task-t{number}")
            if trial is not None and trial.status == "passed":
                continue
            attempt = 1 if trial is None else trial.attempt + 1
            writer.commit(
                Trial(
                    run_id="run-1",
                    trial_id=f"t{number}+{attempt}",
                    suite="s",
                    task_id=f"task-t{number}",
                    epoch=1,
                    agent="a",
                    attempt=attempt,
                    status="passed",
                ),
                (),
            )
        writer.finish()
    rows = load(run).rows()
    assert sorted(trial.task_id for trial in rows) == [f"task-t{number}" for number in range(1, 7)]
    assert {trial.status for trial in rows} == {"passed"}
    for table in ("trials", "steps", "effects"):
        assert len(list((run / table).iterdir())) <= 1


@pytest.mark.parametrize("scenario", ["fresh", "recover", "resume"])
def test_a_writer_that_dies_before_any_touch_of_the_disk_loses_nothing(memory, manifest, scenario):
    for folder in moments(memory, scenario, "die"):
        check_all(folder, manifest)


@pytest.mark.parametrize("scenario", ["fresh", "recover", "resume"])
def test_a_disk_that_is_full_from_any_touch_on_is_one_clear_error_and_loses_nothing(
    memory, manifest, scenario
):
    for folder in moments(memory, scenario, "full")[:-1]:
        told = (folder / "error").read_text()
        assert told.startswith("2 "), told
        assert "No space left on device" in told
        assert "Free some space" in told
        check_all(folder, manifest)


def check_all(folder: Path, manifest: RunManifest) -> None:
    run = folder / "run"
    if not (run / "run.json").exists():
        assert not said(folder, "created")
        RunWriter.create(run, manifest).close()
    check_what_is_read(folder)
    recover(run)
    check_recovered(folder)
    if int(folder.name) % 4 == 0:  # it takes as long as all the rest
        complete(run)


@pytest.fixture
def manifest() -> RunManifest:
    return RunManifest(run_id="run-1", created_at=datetime(2025, 1, 2, tzinfo=UTC))
