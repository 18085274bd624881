"""A finished run of made-up trials, and scorers of one's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from evalkit.project import Project
from evalkit.trajectory.manifest import RunManifest
from evalkit.trajectory.reader import Run, load
from evalkit.trajectory.step import Act, Prompt, Step, Think
from evalkit.trajectory.trial import Trial
from evalkit.trajectory.writer import RunWriter

NOON = datetime(2025, 1, 2, 12, tzinfo=UTC)
LS = (
    Prompt(step=0, role="user", text="List the files."),
    Think(step=1, output_tokens=7),
    Act(step=2, think_step=1, call_index=0, tool="bash", arguments='{"command":"ls"}', exit_code=0),
    Act(step=3, think_step=1, call_index=1, tool="bash", arguments='{"command":"cat a"}', exit_code=1),
)

Made = Callable[..., Trial]


@pytest.fixture
def made() -> Made:
    """A trial: `made("t1", status="failed", ...)`."""

    def make(trial_id: str = "t1", **columns: Any) -> Trial:
        given = {"suite": "s", "task_id": trial_id, "epoch": 1, "agent": "a", "status": "passed"}
        return Trial(run_id="run-1", trial_id=trial_id, **{**given, **columns})

    return make


@pytest.fixture
def finished(tmp_path: Path) -> Callable[..., Path]:
    """A run of trials, each with the same few steps unless it is given with its own; returns its folder."""

    def make(*trials: Trial | tuple[Trial, Sequence[Step]], name: str = "run", **manifest: Any) -> Path:
        path = tmp_path / name
        with RunWriter.create(path, RunManifest(run_id="run-1", created_at=NOON, **manifest)) as writer:
            for given in trials:
                trial, steps = given if isinstance(given, tuple) else (given, LS)
                writer.commit(trial, steps)
            writer.finish()
        return path

    return make


@dataclass(frozen=True)
class Home:
    """A project in a temporary folder."""

    project: Project

    def scorer(self, name: str, body: str, metric: str = "m", head: str = "") -> Path:
        """Write `scorers/NAME.py` with one metric and this body of `score`."""
        path = self.project.root / "scorers" / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        lines = "\n".join(f"        {line}" for line in body.splitlines())
        path.write_text(
            f"from evalkit import Metric, Score, Scorer\n{head}\n"
            f"class Mine(Scorer):\n"
            f"    metrics = (Metric(name={metric!r}, meaning='a test', low=0),)\n"
            f"    def score(self, trial):\n{lines}\n"
        )
        return path


@pytest.fixture
def home(tmp_path: Path) -> Home:
    bundled = tmp_path / "bundled"
    bundled.mkdir()
    root = tmp_path / "project"
    root.mkdir()
    return Home(Project(root, bundled=bundled))


@pytest.fixture
def rows() -> Callable[[Path], list[dict[str, Any]]]:
    """All score rows of a run, in order of trial and metric."""

    def read(path: Path) -> list[dict[str, Any]]:
        run: Run = load(path)
        table = run.scores.to_table()
        return sorted(table.to_pylist(), key=lambda row: (row["trial_id"], row["scorer"], row["metric"]))

    return read
