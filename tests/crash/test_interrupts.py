"""The first interrupt ends a run in order, the second at once; either way nothing that was recorded is lost."""

from __future__ import annotations

import json
import secrets
import signal
import time
from pathlib import Path

import pytest

from evalkit.sandbox.docker.container import RUN
from evalkit.sandbox.docker.engine import connect
from evalkit.trajectory.reader import load

pytestmark = pytest.mark.slow

MANY = 12_000
"""Files that a sandbox of the local kind starts with: copying them takes seconds."""


@pytest.fixture(params=["tool call", "start", "grading"])
def phase(request) -> str:
    """What the slow trial is in the middle of."""
    return request.param


@pytest.fixture
def slow_suite(make_suite, folder, sandbox_kind, phase) -> Path:
    """A trial that ends at once, and one that is in one phase for twenty seconds, or a few while it starts."""
    slow = {}
    if phase == "tool call":
        slow = {"solution/solve.sh": "# step: Begin.\necho begun > out\n# step: Wait.\nsleep 20\n"}
    elif phase == "grading":
        slow = {"tests/test.sh": "#!/bin/sh\nsleep 20\necho 1 > /logs/verifier/reward.txt\n"}
    elif sandbox_kind == "docker":
        new = secrets.token_hex(8)  # an image that is there already is not built
        slow = {"environment/Dockerfile": f"FROM debian:bookworm-slim\nRUN sleep 20 # {new}\nWORKDIR /app\n"}
    else:
        slow = {"environment/Dockerfile": "FROM debian:bookworm-slim\nCOPY app /app\nWORKDIR /app\n"}
        app = folder / "suite" / "slow" / "environment" / "app"
        app.mkdir(parents=True)
        for number in range(MANY):
            (app / str(number)).touch()
    return make_suite(folder / "suite", {"quick": {}, "slow": slow})


@pytest.fixture
def begin(evalkit, folder, slow_suite, sandbox_kind, phase):
    """Start the run, and wait until the quick trial is done and the slow one is in the middle of its phase."""
    started = []

    def start(*args: str):
        old = set((folder / "run").glob("journal/*"))
        running = evalkit(
            *(args or ("run", "suite", "--out", "run", "-m", "scripted/oracle", "--sandbox", sandbox_kind))
        )
        started.append(running)
        deadline = time.monotonic() + 60
        while not in_phase(folder / "run", phase, old) or not any(
            (folder / "run" / "trials").glob("*.parquet")
        ):
            assert time.monotonic() < deadline, running.err
            time.sleep(0.01)
        time.sleep(0.2)
        return running

    yield start
    for running in started:
        running.end()


def in_phase(run: Path, phase: str, old: set[Path]) -> bool:
    """Whether the slow trial, in a journal that is not old, has begun that phase."""
    for journal in set((run / "journal").glob("slow*.jsonl")) - old:
        said = journal.read_text()
        if phase == "start":
            return said.count("\n") == 1
        if phase == "tool call":
            return '"Wait.' in said
        return '"submit"' in said
    return False


def check_kept(run: Path, phase: str) -> None:
    rows = {trial.task_id: trial for trial in load(run).rows()}
    assert rows["quick"].status == "passed"
    slow, steps = load(run).trial(rows["slow"].trial_id)
    assert (slow.status, slow.error_origin, slow.error_type) == ("unscored", "harness", "interrupted")
    kinds = [step.kind for step in steps]
    begun = ["prompt", "prompt", "think", "act", "think"]
    assert kinds[:5] == ([] if phase == "start" else begun)
    assert list((run / "journal").iterdir()) == []


def check_clean(run: Path, scratch: Path, kind: str) -> None:
    assert list(scratch.glob("sandbox-*")) == list(scratch.glob(".new-*")) == []
    if kind == "docker":
        deadline = time.monotonic() + 10
        while owned := connect().owned(f"{RUN}={load(run).manifest.run_id}"):
            assert time.monotonic() < deadline, owned
            time.sleep(0.1)


def test_the_first_interrupt_ends_in_order(begin, folder, scratch, sandbox_kind, phase):
    running = begin()
    running.signal_group(signal.SIGINT)
    files = (sandbox_kind, phase) == ("local", "start")  # which take their time, however it ends
    assert running.wait(60 if files else 10) == 130
    assert "evalkit resume run" in running.err
    assert "Traceback" not in running.err
    check_clean(folder / "run", scratch, sandbox_kind)
    check_kept(folder / "run", phase)
    names = {path.name for path in (folder / "run" / "trials").iterdir()}
    assert names == {"compact-000001.parquet"}


@pytest.mark.parametrize("times", [2, 3])
def test_the_second_interrupt_stops_at_once(begin, evalkit, folder, scratch, sandbox_kind, phase, times):
    running = begin()
    began = time.monotonic()
    for _ in range(times):
        running.signal_group(signal.SIGINT)
        time.sleep(0.05)
    assert running.wait(5) == 130
    assert time.monotonic() - began < 2
    assert "; go on with: evalkit resume run" in running.err  # the first may be done before the second comes
    assert "Traceback" not in running.err
    assert evalkit("show", "run").wait() == 0
    check_kept(folder / "run", phase)
    evalkit("doctor", "--clean").wait()
    check_clean(folder / "run", scratch, sandbox_kind)


@pytest.mark.parametrize("phase", ["tool call"], indirect=True)
def test_a_resumed_run_can_be_interrupted_and_resumed_again(
    begin, evalkit, folder, scratch, slow_suite, sandbox_kind, phase
):
    running = begin()
    running.signal(signal.SIGKILL)
    running.wait()
    resumed = begin("resume", "run")
    resumed.signal_group(signal.SIGINT)
    assert resumed.wait(10) == 130
    assert "evalkit resume run" in resumed.err
    assert "Traceback" not in resumed.err
    check_kept(folder / "run", phase)
    check_clean(folder / "run", scratch, sandbox_kind)
    again = begin("resume", "run")
    for _ in range(2):
        again.signal_group(signal.SIGINT)
        time.sleep(0.05)
    assert again.wait(5) == 130
    assert "evalkit resume run" in again.err
    assert evalkit("show", "run").wait() == 0
    attempts = [
        trial.attempt for trial in load(folder / "run", every_attempt=True).rows() if trial.task_id == "slow"
    ]
    assert sorted(attempts) == [1, 2, 3]


@pytest.mark.parametrize("phase", ["tool call"], indirect=True)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_closed_terminal_that_says_so_twice_ends_a_run_in_order(
    begin, folder, scratch, sandbox_kind, phase, number
):
    running = begin()
    running.signal_group(number)
    time.sleep(0.1)
    running.signal(number)
    assert running.wait(10) == 130
    assert "stopped at once" not in running.err
    check_kept(folder / "run", phase)
    check_clean(folder / "run", scratch, sandbox_kind)


@pytest.mark.local
def test_an_interrupt_before_there_is_a_run_leaves_none(local_support, evalkit, make_suite, folder, scratch):
    make_suite(folder / "suite", {"quick": {}})
    running = evalkit("run", "suite", "--out", "run")
    deadline = time.monotonic() + 30
    while "No --model was given" not in running.err:
        assert time.monotonic() < deadline
        time.sleep(0.005)
    running.signal(signal.SIGINT)
    assert running.wait(10) == 130
    assert "evalkit: interrupted" in running.err
    assert "Traceback" not in running.err
    assert not (folder / "run" / "run.json").exists()
    assert list(scratch.glob("sandbox-*")) == []


@pytest.mark.local
def test_an_interrupted_check_of_a_suite_says_nothing_about_it(
    local_support, evalkit, make_suite, folder, scratch
):
    slow = {"solution/solve.sh": "# step: Wait.\nsleep 20; echo done > out\n"}
    make_suite(folder / "suite", {"quick": {}, "slow": slow})
    running = evalkit("suite", "check", "suite", "--out", "proof")
    deadline = time.monotonic() + 60
    while not in_phase(folder / "proof", "tool call", set()):
        assert time.monotonic() < deadline, running.err
        time.sleep(0.01)
    running.signal_group(signal.SIGINT)
    assert running.wait(10) == 130
    assert running.out == ""
    assert running.err.splitlines()[-1] == "evalkit: interrupted"
    assert list(scratch.glob("sandbox-*")) == []


HANGS = """\
#!/bin/sh
[ "$(cat /app/out)" = done ] || sleep 20
echo 1 > /logs/verifier/reward.txt
"""


def test_an_interrupt_while_states_are_graded_costs_no_verdict(
    local_support, evalkit, make_suite, folder, scratch
):
    solve = "# step: Begin.\necho begun > out\n# step: End.\necho done > out\n"
    make_suite(folder / "suite", {"one": {"tests/test.sh": HANGS, "solution/solve.sh": solve}})
    running = evalkit("run", "suite", "--out", "run", "-m", "scripted/oracle", "--checkpoints")
    try:
        deadline, seen = time.monotonic() + 60, set[Path]()
        while (
            len(seen) < 3
        ):  # the agent's, that of the verdict on the end, that of the first state, which hangs
            assert time.monotonic() < deadline, running.err
            seen |= set(scratch.glob("sandbox-*"))
            time.sleep(0.01)
        time.sleep(0.5)
        running.signal_group(signal.SIGINT)
        assert running.wait(10) == 130
    finally:
        running.end()
    (trial,) = load(folder / "run").rows()
    _, steps = load(folder / "run").trial(trial.trial_id)
    told = [json.loads(step.detail) for step in steps if step.kind == "event" and step.event == "checkpoint"]
    assert (trial.status, trial.stop_reason) == ("passed", "submitted")
    assert [one["passed"] for one in told] == [None, True]
