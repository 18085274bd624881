"""What goes wrong inside a sandbox is recorded for what it is, and the trial goes on."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from evalkit.engine import recorder
from evalkit.trajectory.reader import Run
from evalkit.trajectory.step import Act, Event
from evalkit.trajectory.trial import Trial

SMALL = 'schema_version = "1.4"\nartifacts = ["/app/out"]\n[environment]\nnetwork_mode = "no-network"\n{}\n'
FINISH = "# step: Write it.\necho done > out\n"
BLOCK = "import time; x = bytearray(b'1') * 400_000_000; time.sleep(60)"
FAULTS: Mapping[str, tuple[str, str]] = {
    "killed-shell": ("kill -9 -1", ""),
    "ignored-signals": ("trap '' TERM INT HUP QUIT; while :; do sleep 1; done", ""),
    "held-pipes": ("(trap '' HUP TERM; while :; do sleep 1; done) & echo started", ""),
    "gigabyte": ("head -c 1000000000 /dev/zero", ""),
    "full-disk": ("i=0; while :; do head -c 5000000 /dev/zero > f$i; i=$((i+1)); done", "storage_mb = 20"),
    "full-shared-memory": ("head -c 400000000 /dev/zero > /dev/shm/f; rm -f /dev/shm/f", "memory_mb = 200"),
    "memory": (f'python3 -c "{BLOCK}"', "memory_mb = 200"),
    "processes": ("for i in $(seq 2000); do sleep 60 & done; wait", ""),
}
DOCKERFILE = """\
FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends python3
WORKDIR /app
"""


@pytest.fixture
def run_faults(make_suite, run_any, tmp_path: Path):
    """Run one task for each named fault in one run; the trial, its first call and its events by fault."""

    def run(names: Sequence[str], *, timeout_s: float) -> Mapping[str, tuple[Trial, Act, list[str]]]:
        tasks = {
            name: {
                "task.toml": SMALL.format(FAULTS[name][1]),
                "environment/Dockerfile": DOCKERFILE,
                "solution/solve.sh": f"# step: Do it.\n{FAULTS[name][0]}\n# step: Tidy.\nrm -f f*\n{FINISH}",
            }
            for name in names
        }
        tools = tmp_path / "tools.toml"
        tools.write_text(f"timeout_s = {timeout_s}\n")
        return {trial.task_id: said for trial, said in _by_trial(run_any(make_suite(**tasks), tools=tools))}

    return run


def _by_trial(run: Run):
    for trial, steps in run.iter_trials():
        first = next(step for step in steps if isinstance(step, Act))
        yield (
            trial,
            (
                trial,
                first,
                [step.event for step in steps if isinstance(step, Event) and step.event != "planted"],
            ),
        )


def test_what_goes_wrong_in_a_call_ends_that_call_only(run_faults) -> None:
    names = ("killed-shell", "held-pipes", "gigabyte", "full-disk", "memory")
    said = run_faults(names, timeout_s=60.0)
    assert {
        name: (trial.status, trial.error_message) for name, (trial, _, _) in said.items()
    } == dict.fromkeys(names, ("passed", None))
    _, killed, events = said["killed-shell"]
    assert (killed.error_kind, killed.exit_code, events) == ("sandbox", None, ["shell_lost", "submit"])
    _, held, _ = said["held-pipes"]
    assert (held.stdout, held.exit_code, held.error_kind) == ("started\n", 0, None)
    _, gigabyte, _ = said["gigabyte"]
    assert (gigabyte.stdout_bytes, gigabyte.stdout_truncated, gigabyte.exit_code) == (10**9, True, 0)
    assert len(gigabyte.stdout or "") < 2 * 1024 * 1024
    _, disk, _ = said["full-disk"]
    assert disk.error_kind == "limit"
    assert "files over the limit of 20 MB" in (disk.stderr or "")
    _, memory, _ = said["memory"]
    assert memory.exit_code != 0
    assert "emory" in (memory.stderr or "")


def test_a_command_that_ignores_signals_is_killed_when_its_time_is_over(run_faults) -> None:
    trial, act, events = run_faults(["ignored-signals"], timeout_s=1.0)["ignored-signals"]
    assert (trial.status, act.error_kind, act.exit_code, events) == ("passed", "timeout", 137, ["submit"])
    assert act.duration_s is not None
    assert 1.0 <= act.duration_s < 10


def test_more_processes_than_are_allowed_hold_nothing_up(run_faults) -> None:
    trial, act, _ = run_faults(["processes"], timeout_s=5.0)["processes"]
    assert (trial.status, act.error_kind) == ("passed", "timeout")
    assert "fork" in (act.stderr or "").lower()


def test_a_clock_that_jumps_changes_no_duration(make_suite, run_any, monkeypatch) -> None:
    class Jumping(dt.datetime):
        """A clock that goes back a day whenever it is read."""

        days = 0

        @classmethod
        def now(cls, tz=None):
            cls.days += 1
            return dt.datetime.now(tz) - dt.timedelta(days=cls.days)

    monkeypatch.setattr(recorder, "datetime", Jumping)
    ((trial, steps),) = run_any(make_suite()).iter_trials()
    assert trial.status == "passed"
    assert trial.started_at > trial.finished_at
    spent = [trial.queue_s, trial.start_s, trial.setup_s, trial.agent_s, trial.grade_s]
    spent += [step.duration_s for step in steps if isinstance(step, Act)]
    assert all(0 <= seconds < 60 for seconds in spent)


@pytest.mark.parametrize(
    ("destroy", "status", "said"),
    [
        ("cd /; rm -rf /app", "failed", None),
        ("rm -rf /usr/bin /bin /usr/lib /lib /lib64; true", "unscored", "as the agent left it"),
        ("while :; do echo 1 > /logs/verifier/reward.txt; done 2>/dev/null &", "failed", None),
    ],
    ids=["working directory", "programs", "background writer"],
)
def test_what_an_agent_destroys_in_its_own_sandbox_is_not_the_sandboxes_fault(
    make_suite, run_docker, destroy, status, said
) -> None:
    toml = SMALL.format("").replace('artifacts = ["/app/out"]\n', "")
    files = {"task.toml": toml, "solution/solve.sh": f"# step: Destroy.\n{destroy}\n"}
    run = run_docker(make_suite(one=files))
    (row,) = run.rows()
    assert (row.grader_mode, row.status) == ("snapshot", status), row.error_message
    assert row.error_origin == (None if said is None else "grader")
    assert said is None or said in (row.error_message or "")
