"""A run that is killed while a state of its agent's work is copied takes nothing half-written for a state."""

from __future__ import annotations

import hashlib
import json
import signal
import time
from pathlib import Path

import pytest

from evalkit.trajectory.reader import load
from evalkit.trajectory.step import Event

pytestmark = [pytest.mark.slow, pytest.mark.local]

BIG = """\
#!/bin/sh
# step: I write much.
head -c 200000000 /dev/zero > out
# step: I write it.
echo done > out
"""


def states(run, row):
    events = (step for step in run.trial(row.trial_id)[1] if isinstance(step, Event))
    return [json.loads(event.detail) for event in events if event.event == "checkpoint"]


def half_written(run: Path) -> list[Path]:
    return [path for path in run.glob("artifacts/.part-*") if _size(path) > 1_000_000]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def check_store(run: Path) -> None:
    """What has a name of its own is whole."""
    for path in run.glob("artifacts/??/*"):
        with path.open("rb") as file:
            assert hashlib.file_digest(file, "sha256").hexdigest() == path.parent.name + path.name


@pytest.fixture
def killed(evalkit, folder, make_suite, local_support) -> Path:
    """A run that was killed in the middle of a copy."""
    make_suite(folder / "suite", {"big": {"solution/solve.sh": BIG}})
    running = evalkit("run", "suite", "--out", "run", "-m", "scripted/oracle", "--checkpoints")
    deadline = time.monotonic() + 60
    while not half_written(folder / "run"):
        assert time.monotonic() < deadline, running.err
        time.sleep(0.002)
    running.signal(signal.SIGKILL)
    running.wait()
    assert half_written(folder / "run")
    return folder / "run"


def test_what_was_half_copied_is_no_state_and_the_run_goes_on(killed, evalkit):
    check_store(killed)
    none = evalkit("regrade", "run", "--checkpoints")
    assert none.wait() == 2
    assert "no states of agents' work are stored in this run" in none.err
    (row,) = load(killed).rows()
    assert (row.status, row.error_type, states(load(killed), row)) == ("unscored", "interrupted", [])
    assert half_written(killed) == []
    resumed = evalkit("resume", "run")
    assert resumed.wait() == 0, resumed.err
    run = load(killed)
    (row,) = run.rows()
    assert (row.status, [one["passed"] for one in states(run, row)]) == ("passed", [False, True])
    check_store(killed)
    settled = evalkit("regrade", "run", "--checkpoints")
    assert settled.wait() == 0, settled.err
    assert list(load(killed).rows()) == [row]


SLOW = """\
#!/bin/sh
sleep 1
if [ "$(cat /app/out 2>/dev/null)" = done ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
"""
SOLVE = "# step: I begin.\necho not yet > out\n# step: I write it.\necho done > out\n"


def test_interrupted_grading_of_states_names_what_goes_on_and_does_the_rest(
    evalkit, folder, make_suite, local_support
):
    tasks = {f"task-{n}": {"solution/solve.sh": SOLVE, "tests/test.sh": SLOW} for n in range(4)}
    make_suite(folder / "suite", tasks)
    stored = ("--checkpoints", "--checkpoint-budget", "0", "--max-trials", "1")
    assert evalkit("run", "suite", "--out", "run", "-m", "scripted/oracle", *stored).wait(120) == 0
    running = evalkit("regrade", "run", "--checkpoints")
    deadline = time.monotonic() + 60
    while len(load(folder / "run", every_attempt=True).rows()) < 5:
        assert time.monotonic() < deadline, running.err
        time.sleep(0.05)
    running.signal_group(signal.SIGINT)
    assert running.wait() == 130
    assert "grade the rest with: evalkit regrade run --checkpoints" in running.err
    assert evalkit("regrade", "run", "--checkpoints").wait() == 0
    rows = load(folder / "run", every_attempt=True).rows()
    assert sorted((row.task_id, row.attempt) for row in rows) == [(name, n) for name in tasks for n in (1, 2)]
    run = load(folder / "run")
    assert [[one["passed"] for one in states(run, row)] for row in run.rows()] == [[False, True]] * 4
