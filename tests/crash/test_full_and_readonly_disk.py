"""A disk that is full, or that cannot be written, is one clear error; what was committed stays, and is gone on with."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from evalkit.errors import UsageError
from evalkit.trajectory.manifest import RunManifest
from evalkit.trajectory.reader import load
from evalkit.trajectory.recovery import recover
from evalkit.trajectory.step import Prompt, Step
from evalkit.trajectory.trial import Trial
from evalkit.trajectory.writer import RunWriter

pytestmark = [pytest.mark.local, pytest.mark.slow]

SLOW = {"solution/solve.sh": "# step: Begin.\necho begun\n# step: Wait.\nsleep 2; echo done > out\n"}


@pytest.fixture
def mount(folder: Path) -> Iterator[Callable[..., None]]:
    """Mount something, such as a small disk, until the test ends. Skipped where that is not permitted."""
    mounted: list[Path] = []

    def mount(path: Path, *options: str) -> None:
        path.mkdir(exist_ok=True)
        done = subprocess.run(["mount", *options, str(path)], capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"nothing can be mounted here: {done.stderr.strip()}")
        if "remount" not in options[1]:
            mounted.append(path)

    if os.geteuid():
        pytest.skip("only root can mount a small disk")
    yield mount
    for path in reversed(mounted):
        subprocess.run(["umount", "--lazy", str(path)], capture_output=True, check=False)


@pytest.fixture
def disk(mount, folder) -> Path:
    """A disk of two megabytes, with room for every file."""
    mount(folder / "disk", "-t", "tmpfs", "-o", "size=2m", "tmpfs")
    return folder / "disk"


@pytest.fixture
def begin(evalkit, make_suite, folder, local_support):
    """Start a run of one quick and one slow trial; returns when the slow one waits and the quick one is done."""
    make_suite(folder / "suite", {"quick": {}, "slow": SLOW})

    def start(out: Path):
        running = evalkit("run", "suite", "--out", str(out), "-m", "scripted/oracle")
        await_that(running, lambda: waits(out) and any((out / "trials").glob("part-*")))
        return running

    return start


def await_that(running, condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, running.err
        time.sleep(0.005)


def waits(run: Path) -> bool:
    return any('"Wait.' in path.read_text() for path in (run / "journal").glob("slow*.jsonl"))


def fill(disk: Path) -> Path:
    """Leave not one byte; returns what takes up the room."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as out:
        for size in (64 * 1024, 4096, 1):
            try:
                while out.write(b"x" * size) == size:
                    pass
            except OSError:
                continue
    return ballast


def check_one_error(running, run: Path, reason: str, hint: str) -> None:
    assert running.wait() == 2, running.err
    told = [line for line in running.err.splitlines() if "of" not in line.split()]
    assert told[0] == f"evalkit: {run}: cannot write the run: {reason}"
    assert hint in told[1]
    assert len(told) == 2


def check_completed(evalkit, run: Path) -> None:
    resumed = evalkit("resume", str(run))
    assert resumed.wait() == 0, resumed.err
    assert {trial.task_id: trial.status for trial in load(run).rows()} == {
        "quick": "passed",
        "slow": "passed",
    }
    assert list((run / "journal").iterdir()) == []


NO_SPACE = "No space left on device"
READ_ONLY = "Read-only file system"


def test_a_run_is_not_begun_on_a_full_disk_and_can_be_begun_in_the_same_place_later(
    evalkit, make_suite, folder, disk, local_support
):
    make_suite(folder / "suite", {"quick": {}})
    ballast = fill(disk)
    arguments = ("run", "suite", "--out", str(disk / "run"), "-m", "scripted/oracle")
    check_one_error(
        evalkit(*arguments), disk / "run", NO_SPACE, "Free some space on that disk, then start the run again."
    )
    ballast.unlink()
    again = evalkit(*arguments)
    assert again.wait() == 0, again.err


def test_a_disk_that_fills_up_in_the_middle_ends_the_run_and_costs_no_finished_trial(
    begin, evalkit, disk, scratch
):
    run = disk / "run"
    running = begin(run)
    ballast = fill(disk)
    check_one_error(running, run, NO_SPACE, f"then go on with: evalkit resume {run}")
    assert list(scratch.glob("sandbox-*")) == []
    shown = evalkit("show", str(run))
    assert shown.wait() == 0
    assert "trials in flight are not shown" in shown.err
    assert [trial.task_id for trial in load(run).rows()] == ["quick"]
    check_one_error(evalkit("resume", str(run)), run, NO_SPACE, "Free some space")
    ballast.unlink()
    check_completed(evalkit, run)
    attempts = [one.attempt for one in load(run, every_attempt=True).rows() if one.task_id == "slow"]
    assert sorted(attempts) == [1, 2]


class Filling:
    """Fills a disk as soon as an agent has thought."""

    def __init__(self, disk: Path) -> None:
        self._disk = disk

    def planned(self, total: int) -> None:
        pass

    def started(self, planned: object) -> None:
        pass

    def stepped(self, planned: object, step: Step) -> None:
        if step.kind == "think" and self._disk.is_dir():
            fill(self._disk)

    def finished(self, planned: object, trial: Trial) -> None:
        pass


def test_a_run_that_a_full_disk_stopped_can_be_gone_on_with_by_the_same_process(
    make_suite, folder, disk, scratch, local_support
):
    from evalkit.engine.prepare import RunFlags, prepare
    from evalkit.engine.start import resume, start

    make_suite(folder / "suite", {"quick": {}})
    flags = RunFlags(suites=(str(folder / "suite"),), models=("scripted/oracle",), out=disk / "run")
    with pytest.raises(UsageError, match=NO_SPACE):
        start(prepare(flags), Filling(disk))
    (disk / "ballast").unlink()
    assert [trial.status for trial in resume(disk / "run", Filling(folder / "elsewhere")).trials] == [
        "passed"
    ]


def test_a_deliverable_that_does_not_fit_leaves_its_trial_unscored_and_the_others_scored(
    evalkit, make_suite, folder, disk, local_support
):
    large = {"solution/solve.sh": "# step: Write.\nhead -c 3000000 /dev/zero > out\n"}
    make_suite(folder / "suite", {"quick": {}, "large": large})
    run = disk / "run"
    running = evalkit("run", "suite", "--out", str(run), "-m", "scripted/oracle", "--max-trials", "1")
    assert running.wait() == 6
    assert f"evalkit resume {run}" in running.err
    rows = {trial.task_id: trial for trial in load(run).rows()}
    assert rows["quick"].status == "passed"
    assert (rows["large"].status, rows["large"].error_origin) == ("unscored", "harness")
    assert NO_SPACE in rows["large"].error_message
    assert list((run / "artifacts").glob(".part-*")) == []


def test_no_room_for_inspects_own_log_is_one_error(begin, evalkit, make_suite, mount, folder, local_support):
    make_suite(folder / "suite", {"quick": {}, "slow": {}})
    run = folder / "run"
    running = evalkit("run", "suite", "--out", str(run), "-m", "scripted/oracle")
    await_that(running, (run / "run.json").exists)
    running.signal(signal.SIGSTOP)
    log = run / "artifacts" / "inspect"
    try:
        assert not log.exists(), "it was not stopped in time"
        mount(log, "-t", "tmpfs", "-o", "size=4k", "tmpfs")
        (log / "ballast").write_bytes(b"x" * 4096)
    finally:
        running.signal(signal.SIGCONT)
    check_one_error(running, run, NO_SPACE, f"then go on with: evalkit resume {run}")
    subprocess.run(["umount", str(log)], check=True)
    check_completed(evalkit, run)


def test_a_disk_without_room_for_the_large_files_keeps_the_small_ones(mount, folder):
    mount(folder / "disk", "-t", "tmpfs", "-o", "size=1m", "tmpfs")
    run = folder / "disk" / "run"
    writer = RunWriter.create(run, RunManifest(run_id="r", created_at=datetime(2025, 1, 2, tzinfo=UTC)))
    given = {"run_id": "r", "suite": "s", "epoch": 1, "agent": "a", "status": "passed"}
    for number in range(10):
        steps = [Prompt(step=0, role="user", text=secrets.token_hex(40_000))]
        writer.commit(Trial(trial_id=f"t{number}", task_id=f"t{number}", **given), steps)
    with pytest.raises(UsageError, match=NO_SPACE):
        writer.finish()
    assert len(list(load(run).iter_trials())) == 10
    mount(folder / "disk", "-o", "remount,size=4m")
    writer.finish()
    assert [len(steps) for _, steps in load(run).iter_trials()] == [1] * 10
    assert [path.name for path in (run / "steps").iterdir()] == ["compact-000001.parquet"]


def test_a_run_is_not_begun_in_a_folder_that_cannot_be_written(
    evalkit, make_suite, mount, folder, local_support
):
    make_suite(folder / "suite", {"quick": {}})
    mount(folder / "disk", "-t", "tmpfs", "-o", "ro", "tmpfs")
    out = folder / "disk" / "run"
    running = evalkit("run", "suite", "--out", str(out), "-m", "scripted/oracle")
    check_one_error(running, out, READ_ONLY, "choose another one with --out")


def test_a_folder_that_becomes_read_only_ends_the_run_which_is_read_and_gone_on_with_later(
    begin, evalkit, mount, folder
):
    run = folder / "run"
    running = begin(run)
    mount(run, "--bind", str(run))
    mount(run, "-o", "remount,bind,ro")
    check_one_error(running, run, READ_ONLY, f"when it can be written again: evalkit resume {run}")
    shown = evalkit("show", str(run))
    assert shown.wait() == 0
    assert "passed" in shown.out
    assert "trials in flight are not shown: cannot write the run: Read-only file system" in shown.err
    assert [trial.task_id for trial in load(run).rows()] == ["quick"]
    with pytest.raises(UsageError, match=READ_ONLY):
        recover(run)
    check_one_error(evalkit("resume", str(run)), run, READ_ONLY, "when it can be written again")
    subprocess.run(["umount", str(run)], check=True)
    check_completed(evalkit, run)


def test_a_finished_run_on_a_disk_that_cannot_be_written_is_shown_without_a_word(
    begin, evalkit, mount, folder
):
    run = folder / "run"
    assert begin(run).wait() == 0
    mount(run, "--bind", str(run))
    mount(run, "-o", "remount,bind,ro")
    shown = evalkit("show", str(run))
    assert (shown.wait(), shown.err) == (0, "")
    assert len(load(run).rows()) == 2
