"""What is the smallest trial that still does everything, and how are many of them run in a process of their own?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TASK = """\
schema_version = "1.4"
artifacts = ["/app/out"]
[environment]
network_mode = "no-network"
"""
FILES = {
    "task.toml": TASK,
    "instruction.md": "Write `done` into /app/out.\n",
    "environment/Dockerfile": "FROM debian:bookworm-slim\nWORKDIR /app\n",
    "tests/test.sh": "#!/bin/sh\n"
    'if [ "$(cat /app/out 2>/dev/null)" = done ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n',
}
COMMANDS = ("ls -la", "echo done > out")
SOLVE = "#!/bin/sh\n# step: Look first.\n{wait}ls -la\n# step: Write it.\necho done > out\n"


def write_suite(folder: Path, *, wait_s: float = 0.0) -> Path:
    """A suite of one task. Its oracle calls `bash` twice and submits; with `wait_s` it waits as long in between, as an
    agent waits for its model.
    """
    wait = f"sleep {wait_s:g}\n# step: Look.\n" if wait_s else ""
    for name, text in {**FILES, "solution/solve.sh": SOLVE.format(wait=wait)}.items():
        file = folder / "one" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder


class Watch:
    """Hears of every trial: when they finished, after the first one began, and what memory the process had then."""

    def __init__(self) -> None:
        self.began: float | None = None
        self.finished_s: list[float] = []
        self.memory_mib: list[float] = []

    def planned(self, total: int) -> None: ...

    def started(self, planned: object) -> None:  # noqa: ARG002  the signature is Progress's
        self.began = self.began or time.perf_counter()

    def stepped(self, planned: object, step: object) -> None: ...

    def finished(self, planned: object, trial: object) -> None:  # noqa: ARG002  the signature is Progress's
        self.finished_s.append(time.perf_counter() - (self.began or 0.0))
        self.memory_mib.append(memory_mib("VmRSS"))


def memory_mib(which: str) -> float:
    """`VmRSS`, what this process has in memory now, or `VmHWM`, the most it ever had."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{which}:"):
            return int(line.split()[1]) / 1024
    return float("nan")


def run_trials(
    trials: int, *, sandbox: str, at_once: int | None, wait_s: float, models: tuple[str, ...]
) -> Watch:
    """Run so many tiny trials in this process and folder. Raises AssertionError where one is not what it should be."""
    from evalkit.engine.prepare import RunFlags, prepare
    from evalkit.engine.start import start

    watch = Watch()
    flags = RunFlags(
        suites=(str(write_suite(Path(f"suite-{at_once}"), wait_s=wait_s)),),
        models=models,
        sandbox=sandbox,
        epochs=trials // len(models),
        max_trials=at_once,
        out=Path(f"run-{at_once}"),
    )
    result = start(prepare(flags), watch)
    wrong = [
        trial for trial in result.trials if (trial.status == "passed") != (trial.model == "scripted/oracle")
    ]
    assert not wrong, wrong[0]
    return watch


def in_fresh_process(script: str, *arguments: object) -> dict[str, object]:
    """Run a script's `--child` in an empty home and folder; what it prints last, as JSON."""
    with tempfile.TemporaryDirectory() as home:
        environ = {**os.environ, "HOME": home, "XDG_DATA_HOME": home, "XDG_CACHE_HOME": home}
        done = subprocess.run(
            [sys.executable, str(Path(script).resolve()), "--child", *map(str, arguments)],
            cwd=home,
            env=environ,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        return json.loads(done.stdout.strip().splitlines()[-1])
