"""A run that is interrupted or killed loses nothing that finished, and can be gone on with."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.local

TOML = 'artifacts = ["/app/out"]\n[environment]\nnetwork_mode = "no-network"\n'
GRADER = "#!/bin/sh\ntest -s /app/out && echo 1 > /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt\n"
HANG = "# step: Begin.\necho begun > out\n# step: Wait.\nsleep 20\n"


@pytest.fixture
def scratch(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The sandboxes' scratch folder, of this test alone."""
    with tempfile.TemporaryDirectory(prefix="evalkit-test-", dir="/var/tmp") as folder:
        Path(folder).chmod(0o755)
        monkeypatch.setenv("EVALKIT_SCRATCH", folder)
        yield Path(folder)


@pytest.fixture
def suite(folder: Path) -> Path:
    """Two tasks: one that ends at once, and one that takes twenty seconds."""
    suite = folder / "suite"
    for task, solution in (("quick", "# step: Write.\necho done > out\n"), ("slow", HANG)):
        for name, text in (
            ("task.toml", TOML),
            ("instruction.md", "Write anything into /app/out.\n"),
            ("environment/Dockerfile", "FROM debian:bookworm-slim\nWORKDIR /app\n"),
            ("tests/test.sh", GRADER),
            ("solution/solve.sh", solution),
        ):
            file = suite / task / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
    return suite


@pytest.fixture
def begin(
    folder: Path, suite: Path, scratch: Path, local_support: None
) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start the run in a process of its own, and wait until the slow task hangs and the quick one is done."""
    begun: list[subprocess.Popen[str]] = []

    def start(*, ignoring: bool = False) -> subprocess.Popen[str]:
        args = [sys.executable, "-m", "evalkit", "run", "suite", "--out", "run", "-m", "scripted/oracle"]
        before = signal.signal(signal.SIGINT, signal.SIG_IGN if ignoring else signal.default_int_handler)
        try:
            process = subprocess.Popen(
                [*args, "--time-limit", "40"],
                cwd=folder,
                text=True,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        finally:
            signal.signal(signal.SIGINT, before)
        begun.append(process)
        deadline = time.monotonic() + 60
        while not _hangs(folder / "run"):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline, "the run did not get to its slow task"
            time.sleep(0.05)
        return process

    yield start
    for process in begun:
        process.kill()
        process.communicate()


def _hangs(run: Path) -> bool:
    thinking = any(path.read_text().count('"Wait.') for path in (run / "journal").glob("*.jsonl"))
    return thinking and len(list((run / "trials").glob("*.parquet"))) == 1


def _evalkit(*args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "evalkit", *args],
        cwd=cwd,
        text=True,
        capture_output=True,
        check=False,
        timeout=120,
    )


def _trials(run: str, cwd: Path) -> dict[str, dict[str, object]]:
    shown = _evalkit("show", run, "--json", cwd=cwd)
    assert shown.returncode == 0, shown.stderr
    return {trial["task"]: trial for trial in json.loads(shown.stdout)["trials"]}


@pytest.mark.parametrize(
    ("number", "ignoring"),
    [(signal.SIGINT, False), (signal.SIGTERM, False), (signal.SIGTERM, True)],
    ids=["interrupt", "cancelled job", "cancelled job in the background"],
)
def test_an_interrupt_keeps_what_finished_and_what_was_begun_and_cleans_up(
    begin, folder, scratch, number, ignoring
):
    process = begin(ignoring=ignoring)
    process.send_signal(number)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "evalkit resume run" in err
    assert "Traceback" not in err
    trials = _trials("run", folder)
    assert trials["quick"]["status"] == "passed"
    assert (trials["slow"]["status"], trials["slow"]["stop_reason"]) == ("unscored", "cancelled")
    assert trials["slow"]["tool_calls"] == 2
    assert list(scratch.glob("sandbox-*")) == []
    assert list((folder / "run" / "journal").iterdir()) == []


def test_a_killed_run_is_recovered_and_gone_on_with(begin, folder, scratch):
    process = begin()
    process.kill()
    process.communicate()
    _no_process_in(scratch)
    trials = _trials("run", folder)
    assert trials["quick"]["status"] == "passed"
    assert (trials["slow"]["status"], trials["slow"]["error_origin"]) == ("unscored", "harness")
    steps = json.loads(_evalkit("show", "run", str(trials["slow"]["trial"]), "--json", cwd=folder).stdout)[
        "steps"
    ]
    assert [step["kind"] for step in steps] == ["prompt", "prompt", "think", "act", "think"]

    cleaned = _evalkit("doctor", "--clean", cwd=folder)
    assert "removed  sandbox of trial slow.oracle" in cleaned.stdout
    assert list(scratch.glob("sandbox-*")) == []

    resumed = _evalkit("resume", "run", "--json", cwd=folder)
    assert resumed.returncode == 0, resumed.stderr
    after = {trial["task"]: trial for trial in json.loads(resumed.stdout)["trials"]}
    assert after["quick"] == trials["quick"]
    assert (after["slow"]["status"], after["slow"]["attempt"]) == ("passed", 2)


def test_a_run_that_is_being_written_is_shown_and_cannot_be_resumed(begin, folder):
    process = begin()
    assert [trial["status"] for trial in _trials("run", folder).values()] == ["passed"]
    resumed = _evalkit("resume", "run", cwd=folder)
    assert resumed.returncode == 2
    assert f"process {process.pid}" in resumed.stderr
    assert process.poll() is None


def test_a_run_whose_suite_has_changed_is_not_resumed(begin, folder, suite):
    process = begin()
    process.kill()
    process.communicate()
    (suite / "slow" / "instruction.md").write_text("Something else.\n")
    resumed = _evalkit("resume", "run", cwd=folder)
    assert resumed.returncode == 5
    assert "has changed since the run began" in resumed.stderr


def test_resuming_a_finished_run_changes_nothing(folder, suite, scratch, local_support):
    (suite / "slow" / "solution" / "solve.sh").write_text("# step: Write.\necho done > out\n")
    assert _evalkit("run", "suite", "--out", "run", "-m", "scripted/oracle", cwd=folder).returncode == 0
    before = _trials("run", folder)
    assert _evalkit("resume", "run", cwd=folder).returncode == 0
    assert _trials("run", folder) == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
@pytest.mark.parametrize("size", ["12k", "40k"])
def test_a_full_disk_is_one_clear_error_and_what_was_recorded_is_still_shown(
    folder, suite, scratch, local_support, size
):
    (suite / "slow" / "solution" / "solve.sh").write_text("# step: Write.\necho done > out\n")
    (folder / "small").mkdir()
    evalkit = f"{sys.executable} -m evalkit"
    script = f"""
        mount -t tmpfs -o size={size} tmpfs small
        {evalkit} run suite --out small/run -m scripted/oracle --epochs 3; echo "code $?"
        {evalkit} show small/run --json > shown; echo "code $?"
        """
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script],
        cwd=folder,
        text=True,
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert done.stdout.split() == ["code", "2", "code", "0"], done.stderr
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(scratch.glob("sandbox-*")) == []


def _no_process_in(scratch: Path) -> None:
    """Every sandbox's processes died with the harness."""
    deadline = time.monotonic() + 5
    while _processes(scratch):
        assert time.monotonic() < deadline, _processes(scratch)
        time.sleep(0.05)


def _processes(scratch: Path) -> list[str]:
    found: list[str] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            except OSError:
                continue
            if str(scratch) in line:
                found.append(line)
    return found
