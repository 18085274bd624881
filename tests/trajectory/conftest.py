"""A small run to write to: `writer`, and makers of trials and steps."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from evalkit.trajectory.manifest import RunManifest
from evalkit.trajectory.step import Act, Event, Prompt, Step, Think
from evalkit.trajectory.trial import Trial
from evalkit.trajectory.writer import RunWriter

NOON = datetime(2025, 1, 2, 12, tzinfo=UTC)


@pytest.fixture
def make_trial() -> Callable[..., Trial]:
    def make(trial_id: str = "t1", **columns: Any) -> Trial:
        given = {
            "suite": "core",
            "task_id": f"task-{trial_id}",
            "epoch": 1,
            "agent": "react/m",
            "status": "passed",
        }
        return Trial(run_id="run-1", trial_id=trial_id, **{**given, **columns})

    return make


@pytest.fixture
def steps() -> tuple[Step, ...]:
    return (
        Prompt(step=0, role="user", text="List the files."),
        Think(
            step=1, reasoning="ls will do.", text=None, output_tokens=7, reasoning_tokens=4, started_at=NOON
        ),
        Act(
            step=2,
            think_step=1,
            call_index=0,
            tool="bash",
            arguments='{"cmd":"ls"}',
            stdout="a\n",
            exit_code=0,
        ),
        Event(step=3, event="submit", detail='{"answer":"a"}'),
    )


@pytest.fixture
def manifest() -> RunManifest:
    return RunManifest(run_id="run-1", created_at=NOON)


@pytest.fixture
def run_path(tmp_path: Path) -> Path:
    return tmp_path / "runs" / "run-1"


@pytest.fixture
def writer(run_path: Path, manifest: RunManifest) -> Iterator[RunWriter]:
    with RunWriter.create(run_path, manifest) as writer:
        yield writer


@pytest.fixture
def bury(run_path: Path) -> Callable[[], None]:
    """Make the run's owner a process that no longer lives."""

    def bury() -> None:
        ended = subprocess.Popen([sys.executable, "-c", ""])
        ended.wait()
        owner = run_path / "owner.json"
        fields = json.loads(owner.read_text()) if owner.exists() else {"host": "", "started": None}
        if owner.exists():
            owner.write_text(json.dumps({**fields, "pid": ended.pid, "started": "boot:1"}))

    return bury
