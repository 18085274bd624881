"""A run that is cut short, at any moment, loses no finished trial and goes on to the result it would have had.

The moments are spread over the time that a run takes which nobody kills, from its first action to its last:
EVALKIT_KILLS of them for each kind of sandbox by `kill -9`, and a quarter as many by Ctrl-C, drawn by
EVALKIT_KILL_SEED.
"""

from __future__ import annotations

import dataclasses
import os
import random
import re
import signal
import time
import zipfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from evalkit.sandbox.docker.container import RUN
from evalkit.sandbox.docker.engine import connect
from evalkit.trajectory.reader import load

pytestmark = pytest.mark.slow

KILLS = int(os.environ.get("EVALKIT_KILLS", "30"))
SEED = os.environ.get("EVALKIT_KILL_SEED", "1")
AGENTS = "scripted/oracle,scripted/nop"

SNAPSHOT = """\
artifacts = ["/app/out"]
[metadata.evalkit.grading]
mode = "snapshot"
[environment]
network_mode = "no-network"
"""
SLOW_GRADER = """\
#!/bin/sh
sleep 0.3
if [ "$(cat /app/out 2>/dev/null)" = done ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
"""
SECRET = "sk-abcdefghijklmnopqrstuvwxyz123456"
CHATTER = "".join(f"# step: Line {n}.\necho line {n} | tee -a log; echo e{n} >&2\n" for n in range(4))
TASKS: dict[str, dict[str, str]] = {
    "quick": {},
    "chatty": {"solution/solve.sh": CHATTER + "# step: Write.\necho done > out; exit 3\n"},
    "slow": {
        "solution/solve.sh": f"# step: Begin.\necho begun api_key={SECRET}; sleep 0.4; echo half > out\n"
        "# step: End.\nsleep 0.4; echo done > out; echo ended\n",
        "tests/test.sh": SLOW_GRADER,
    },
    "state": {
        "task.toml": SNAPSHOT,
        "solution/solve.sh": "# step: Serve.\nsleep 300 & echo served\n# step: Write.\necho done > out\n",
    },
}
FULL: dict[str, str] = {
    "task.toml": f"""{SNAPSHOT.replace("snapshot", "sealed")}
[[metadata.evalkit.faults]]
id = "full"
kind = "disk_full"
path = "/app/spool"
when = {{ matches = "export" }}
""",
    "solution/solve.sh": "# step: Export.\nmkdir -p spool; [ ! -e tried ] || { sleep 3; rm -f spool/*; }; touch tried\n"
    "echo export > spool/a\n# step: Write.\necho done > out\n",
}
"""A task whose disk is full, and whose solution waits before it frees space."""

DIFFERS = {
    # identity: of the run, of the attempt, of the machine
    "run_id", "trial_id", "attempt", "host",
    # time
    "started_at", "finished_at", "duration_s", "queue_s", "build_s", "start_s", "setup_s", "agent_s", "grade_s",
    "model_s", "tool_s", "retry_s",
    # a digest over the times and inode numbers of the workspace's files
    "workspace_digest",
}  # fmt: skip
"""The columns in which two runs of the same plan may differ. All others must be equal."""

Row = tuple[str, ...]


@dataclass(frozen=True)
class Whole:
    """What a run is that nobody killed, and how long it took."""

    contents: dict[Row, Any]
    artifacts: set[str]
    seconds: float


@pytest.fixture(scope="module")
def whole_run(kennel, make_suite, tmp_path_factory) -> Callable[[str], Whole]:
    """An uninterrupted run in a kind of sandbox, made once; what is built for the first time is built before."""

    @cache
    def run(kind: str) -> Whole:
        folder = tmp_path_factory.mktemp(f"whole-{kind}")
        make_suite(folder / "suite", TASKS)
        for name in ("warm", "run"):
            began = time.monotonic()
            running = kennel.start(*arguments(kind, name), cwd=folder)
            assert running.wait() == 0, running.err
            seconds = time.monotonic() - began
        return Whole(contents(folder / "run"), artifacts(folder / "run"), seconds)

    return run


def arguments(kind: str, out: str) -> tuple[str, ...]:
    fewer = (
        ("--task", "s*") if kind == "docker" else ()
    )  # a container takes longer than all that is done in it
    return ("run", "suite", "--out", out, "-m", AGENTS, "--sandbox", kind, "--max-trials", "3", *fewer)


def contents(run: Path) -> dict[Row, Any]:
    """What a reader sees, by planned row, in all columns that may not differ."""
    return {
        planned(trial): (same(trial), [same(step) for step in steps])
        for trial, steps in load(run).iter_trials()
    }


def planned(trial: Any) -> Row:
    return (trial.suite, trial.task_id, trial.variant, str(trial.epoch), trial.agent)


def same(record: Any) -> dict[str, Any]:
    values = {one.name: getattr(record, one.name) for one in dataclasses.fields(record)}
    if values.get("event") == "planted":  # a token of the trial's own
        values["detail"] = None
    return {name: value for name, value in values.items() if name not in DIFFERS}


def artifacts(run: Path) -> set[str]:
    return {path.name for path in (run / "artifacts").glob("??/*")}


class Killed:
    """A command that is watched for a while and killed or interrupted; what was on disk at that moment."""

    def __init__(self, running: Any, run: Path, seconds: float, number: int = signal.SIGKILL) -> None:
        deadline = time.monotonic() + seconds
        self.committed: set[str] = set()
        while time.monotonic() < deadline:
            self.committed |= committed(run)
            time.sleep(0.01)
        self.volumes = volumes(run) if (run / "run.json").exists() else set()
        self.finished = len(self.committed)
        running.signal_group(number)
        self.code = running.wait()
        self.committed |= committed(run)
        self.steps = {path.stem: lines(path) for path in (run / "journal").glob("*.jsonl")}


def committed(run: Path) -> set[str]:
    """The keys of the trials that are committed as parts just now."""
    return {path.stem.split("-", 2)[2] for path in (run / "trials").glob("part-*.parquet")}


def lines(journal: Path) -> int:
    """How many whole steps it tells of."""
    return max(0, journal.read_bytes().count(b"\n") - 1)


def volumes(run: Path) -> set[str]:
    """The volumes of the run's containers."""
    if load(run).manifest.settings["sandbox"] != "docker":
        return set()
    found: set[str] = set()
    client = connect()._client
    for one in client.containers(all=True, filters={"label": [f"{RUN}={load(run).manifest.run_id}"]}):
        found |= {mount["Name"] for mount in one["Mounts"] if mount.get("Type") == "volume"}
    return found


@pytest.mark.parametrize("number", range(KILLS))
def test_a_run_that_is_killed_at_any_moment_ends_as_if_it_had_not_been(
    number, sandbox_kind, scratch, whole_run, evalkit, make_suite, folder
):
    whole = whole_run(sandbox_kind)
    dice = random.Random(f"{SEED} {sandbox_kind} {number}")
    make_suite(folder / "suite", TASKS)
    run = folder / "run"
    killed = [
        Killed(
            evalkit(*arguments(sandbox_kind, "run")), run, whole.seconds * (number + dice.random()) / KILLS
        )
    ]
    if not (run / "run.json").exists():  # it was killed before there was a run, and can be begun again
        evalkit("doctor", "--clean").wait()
        again = evalkit(*arguments(sandbox_kind, "run"))
        assert again.wait() == 0, again.err
    else:
        check_readable(run, killed[0])
        if number % 5 == 2:
            killed.append(Killed(evalkit("resume", "run"), run, whole.seconds * dice.random()))
            check_readable(run, *killed)
        if number % 2:
            cleaned = evalkit("doctor", "--clean")
            cleaned.wait()
            check_nothing_runs(run, scratch, killed)
        resumed = evalkit("resume", "run")
        assert resumed.wait() == 0, resumed.err
    check_nothing_runs(run, scratch, killed)
    check_folder(run)
    check_attempts(run, killed)
    assert contents(run) == whole.contents
    assert artifacts(run) == whole.artifacts


@pytest.mark.parametrize("number", range(KILLS // 4))
def test_a_run_that_is_interrupted_at_any_moment_leaves_nothing_and_ends_as_if_it_had_not_been(
    number, sandbox_kind, scratch, whole_run, evalkit, make_suite, folder
):
    whole = whole_run(sandbox_kind)
    dice = random.Random(f"{SEED} {sandbox_kind} interrupt {number}")
    make_suite(folder / "suite", TASKS)
    run = folder / "run"
    running = evalkit(*arguments(sandbox_kind, "run"))
    moment = whole.seconds * (number + dice.random()) / (KILLS // 4)
    interrupted = Killed(running, run, moment, signal.SIGINT)
    if interrupted.code != 130:  # it had come to its end before
        assert interrupted.code in {0, -signal.SIGINT}, running.err
        assert interrupted.finished == len(whole.contents)
        assert contents(run) == whole.contents, running.err
    assert "Traceback" not in running.err
    check_nothing_runs(run, scratch, [interrupted], running.err)
    if (run / "run.json").exists():
        assert "evalkit resume run" in running.err or interrupted.code != 130
        check_readable(run, interrupted)
        resumed = evalkit("resume", "run")
    else:
        resumed = evalkit(*arguments(sandbox_kind, "run"))
    assert resumed.wait() == 0, resumed.err
    check_folder(run)
    check_attempts(run, [interrupted])
    assert contents(run) == whole.contents


def test_a_run_that_is_killed_while_a_disk_is_full_leaves_no_disk_and_meets_the_fault_again(
    sandbox_kind, scratch, evalkit, make_suite, folder
):
    make_suite(folder / "suite", {"full": FULL})
    run, mounts = folder / "run", mounted()
    running = evalkit("run", "suite", "--out", "run", "--sandbox", sandbox_kind, "--max-trials", "1")
    struck = until_struck(run)
    killed = Killed(running, run, 0.1)
    assert "No space left on device" in struck
    resumed = evalkit("resume", "run")
    assert resumed.wait() == 0, resumed.err
    check_nothing_runs(run, scratch, [killed])
    assert mounted() <= mounts
    rows = {trial.variant: trial for trial in load(run).rows()}
    assert {name: (row.status, row.faults_fired) for name, row in rows.items()} == {
        "clean": ("passed", 0),
        "full": ("passed", 1),
    }
    assert rows["full"].attempt == 2


def until_struck(run: Path) -> str:
    """The journal of the trial whose disk is full, once it has a call that was struck."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        for journal in (run / "journal").glob("*.full.*.jsonl"):
            if '"strike' in (text := journal.read_text()):
                return text
        time.sleep(0.02)
    pytest.fail("no call was struck")


def mounted() -> set[str]:
    """Where something of a task's own could be mounted on this machine."""
    places = (line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines())
    return {place for place in places if "spool" in place}


def check_readable(run: Path, *killed: Killed) -> None:
    """Before anything is repaired, what was committed is there, once."""
    from evalkit.trajectory.layout import file_key

    ids = Counter(trial.trial_id for trial, _ in load(run, every_attempt=True).iter_trials())
    assert set(ids.values()) <= {1}
    for one in killed:
        assert one.committed <= set(map(file_key, ids))


def check_attempts(run: Path, killed: list[Killed]) -> None:
    """Trials that were in flight are kept, with the steps they had, and are replaced by a further attempt."""
    from evalkit.trajectory.layout import file_key

    every = {
        file_key(trial.trial_id): (trial, steps)
        for trial, steps in load(run, every_attempt=True).iter_trials()
    }
    shown = {trial.trial_id for trial in load(run).rows()}
    attempts: dict[Row, list[int]] = {}
    for trial, _ in every.values():
        attempts.setdefault(planned(trial), []).append(trial.attempt)
        if trial.trial_id not in shown:
            assert (trial.status, trial.error_origin, trial.error_type) == (
                "unscored",
                "harness",
                "interrupted",
            )
    for numbers in attempts.values():
        assert sorted(numbers) == list(range(1, len(numbers) + 1))
    for one in killed:
        for key in one.committed:
            assert key in every
        for key, number in one.steps.items():
            if key in every:
                assert len(every[key][1]) >= number
            else:
                assert number == 0  # its header was not even whole


def check_folder(run: Path) -> None:
    """A finished run holds what a finished run holds, and nothing else."""
    names = {path.relative_to(run).as_posix() for path in run.rglob("*") if path.is_file()}
    expected = (
        r"run\.json|(trials|steps|effects)/compact-\d{6}\.parquet|artifacts/[0-9a-f]{2}/[0-9a-f]{62}"
        r"|artifacts/inspect/[^/.][^/]*\.eval|scores/scores-[a-z_]+-[0-9a-f]{16}\.parquet"
    )
    assert [name for name in names if not re.fullmatch(expected, name)] == []
    assert len(list((run / "trials").iterdir())) == len(list((run / "steps").iterdir())) == 1
    for log in (run / "artifacts" / "inspect").iterdir():
        assert SECRET.encode() not in unpacked(log)


def unpacked(log: Path) -> bytes:
    """All that is in an Inspect log."""
    import inspect_ai.log  # noqa: F401  teaches zipfile how Inspect compresses

    with zipfile.ZipFile(log) as members:
        return b"".join(members.read(name) for name in members.namelist())


def check_nothing_runs(run: Path, scratch: Path, killed: list[Killed], said: str = "") -> None:
    """No process, mount, scratch folder, container or volume of ours is left."""
    # The records of built images are a cache, which `doctor --clean` keeps for a week.
    assert [path for path in scratch.iterdir() if not path.name.startswith("image-")] == [], said
    assert processes_with(str(scratch)) == []
    assert str(scratch) not in Path("/proc/self/mounts").read_text()
    if (run / "run.json").exists() and load(run).manifest.settings["sandbox"] == "docker":
        engine = connect()
        assert engine.owned(f"{RUN}={load(run).manifest.run_id}") == []
        there = {one["Name"] for one in engine._client.volumes()["Volumes"] or []}
        assert there.isdisjoint(set().union(*(one.volumes for one in killed)))


def processes_with(text: str) -> list[str]:
    """The command lines of other processes than the kennel that have a text in it or in their environment."""
    found: list[str] = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            line = (entry / "cmdline").read_bytes()
            whole = line + (entry / "environ").read_bytes()
        except OSError:
            continue
        if text.encode() in whole and b"kennel.py" not in line:
            found.append(line.replace(b"\0", b" ").decode("utf-8", "replace"))
    return found
