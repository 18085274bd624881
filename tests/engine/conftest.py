"""Fixtures: small suites, and runs of them through the real engine in real sandboxes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

import evalkit
from evalkit.engine.plan import PlannedTrial
from evalkit.engine.prepare import RunFlags, prepare
from evalkit.trajectory.reader import Run
from evalkit.trajectory.step import Step
from evalkit.trajectory.trial import Trial

TOML = """\
schema_version = "1.4"
artifacts = ["/app/out"]
[environment]
network_mode = "no-network"
"""
GRADER = """\
#!/bin/sh
if [ "$(cat /app/out 2>/dev/null)" = done ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
"""
SOLVE = """\
#!/bin/sh
# step: Look first.
ls -la
# step: Write it.
echo done > out
"""


class Quiet:
    """Hears everything and keeps it."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.steps: list[Step] = []
        self.trials: list[Trial] = []

    def planned(self, total: int) -> None:
        self.total = total

    def started(self, planned: PlannedTrial) -> None:
        self.begun.append(planned.task.id)

    def stepped(self, planned: PlannedTrial, step: Step) -> None:
        self.steps.append(step)

    def finished(self, planned: PlannedTrial, trial: Trial) -> None:
        self.trials.append(trial)


MakeSuite = Callable[..., Path]
RunSuite = Callable[..., Run]


@pytest.fixture
def make_suite(tmp_path: Path) -> MakeSuite:
    """Write a suite; each task is a table of files that replace the default ones (None: no such file)."""

    def make(name: str = "mini", **tasks: Mapping[str, str | None]) -> Path:
        suite = tmp_path / name
        for task, files in (tasks or {"one": {}}).items():
            whole: dict[str, str | None] = {
                "task.toml": TOML,
                "instruction.md": "Write `done` into /app/out.\n",
                "environment/Dockerfile": "FROM debian:bookworm-slim\nWORKDIR /app\n",
                "tests/test.sh": GRADER,
                "solution/solve.sh": SOLVE,
                **files,
            }
            for path, text in whole.items():
                if text is None:
                    continue
                file = suite / task / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
                file.chmod(0o755 if path.endswith(".sh") else 0o644)
        return suite

    return make


@pytest.fixture
def run_suite(tmp_path: Path, local_support: None) -> RunSuite:
    """Run a suite for real in the local sandbox and open what was recorded."""
    return _runner(tmp_path)


@pytest.fixture
def run_docker(tmp_path: Path, docker_support: None) -> RunSuite:
    """The same in the docker sandbox."""
    return _runner(tmp_path, sandbox="docker")


@pytest.fixture
def run_any(tmp_path: Path, sandbox_kind: str) -> RunSuite:
    """The same in each sandbox that can be had here."""
    return _runner(tmp_path, sandbox=sandbox_kind)


def _runner(tmp_path: Path, **always: object) -> RunSuite:
    def run(suite: Path, *models: str, out: str = "run", **flags: object) -> Run:
        from evalkit.engine.start import start

        asked = RunFlags(
            suites=(str(suite),),
            models=models or ("scripted/oracle",),
            out=tmp_path / out,
            **{**always, **flags},
        )
        return evalkit.load(start(prepare(asked), Quiet()).path)

    return run
