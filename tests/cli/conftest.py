"""Fixtures: the command line, called as a user calls it, in a temporary folder."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from evalkit.trajectory.effect import Effect
from evalkit.trajectory.step import Act, Prompt, Step, Think
from evalkit.trajectory.trial import Trial

_NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


@dataclass(frozen=True)
class Said:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


Command = Callable[..., Said]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory."""
    here = tmp_path / "work"
    here.mkdir()
    monkeypatch.chdir(here)
    return here


@pytest.fixture
def command(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run `evalkit ...` in this process, in the temporary folder, on a page of so many columns."""

    def run(*args: str, columns: int = 80) -> Said:
        from evalkit.cli.app import command_line
        from evalkit.cli.interrupt import Interrupts

        monkeypatch.setattr(sys, "argv", ["evalkit", *args])
        monkeypatch.setenv("COLUMNS", str(columns))
        capsys.readouterr()
        code = command_line(Interrupts())
        said = capsys.readouterr()
        return Said(code, said.out, said.err)

    return run


Play = Callable[[int, int], dict[str, Any]]
"""What becomes of a task, by its number, and epoch: columns of the trial's row; `recovers`, whether a command that
failed was tried again, without it none failed; and `effects`, fields of lasting changes."""


@pytest.fixture(scope="session")
def made_run() -> Callable[..., Path]:
    """A scored run of made-up trials in a folder, of one agent at `tasks` tasks of the suite `made`."""

    def make(
        path: Path,
        play: Play,
        *,
        tasks: int = 80,
        epochs: int = 2,
        variants: tuple[str, ...] = ("clean",),
        scorers: tuple[str, ...] = ("success", "recovery"),
        planned: bool = True,
        **manifest: object,
    ) -> Path:
        from evalkit.project import find_project
        from evalkit.scoring.registry import find_scorers
        from evalkit.scoring.running import score_run
        from evalkit.trajectory.manifest import PlannedRow, RunManifest, SuiteEntry
        from evalkit.trajectory.writer import RunWriter

        keys = [
            (task, epoch, variant)
            for task in range(tasks)
            for epoch in range(1, epochs + 1)
            for variant in variants
        ]
        rows = tuple(
            PlannedRow(suite="made", task_id=f"t{task:03}", variant=variant, epoch=epoch, agent="a")
            for task, epoch, variant in keys
        )
        given = {
            "suites": (SuiteEntry(name="made", digest="s1"),),
            "planned": rows if planned else (),
            **manifest,
        }
        about = RunManifest(run_id=f"r-{path.name}", created_at=_NOON, **given)  # type: ignore[arg-type]
        with RunWriter.create(path, about) as writer:
            for task, epoch, variant in keys:
                writer.commit(*_trial(about.run_id, task, epoch, variant, dict(play(task, epoch))))
            writer.finish()
        if scorers:
            assert not score_run(path, find_scorers(find_project(), scorers)).failed
        return path

    return make


def _trial(
    run_id: str, task: int, epoch: int, variant: str, own: dict[str, Any]
) -> tuple[Trial, list[Step], list[Effect]]:
    trial_id = f"t{task:03}.{variant}.{epoch}"
    effects = [Effect(trial_id=trial_id, **fields) for fields in own.pop("effects", ())]
    recovers = own.pop("recovers", None)
    exits = [] if recovers is None else [1, 0] if recovers else [1]
    columns: dict[str, Any] = {
        "suite": "made",
        "suite_digest": "s1",
        "task_id": f"t{task:03}",
        "task_digest": f"d{task}",
        "grader_digest": "g1",
        "variant": variant,
        "epoch": epoch,
        "agent": "a",
        "status": "passed",
        "output_tokens": 1_000,
        "model_calls": 1,
        "faults_planned": int(variant != "clean"),
        "faults_fired": int(variant != "clean"),
        **own,
    }
    columns.setdefault(
        "reward", None if columns["status"] == "unscored" else float(columns["status"] == "passed")
    )
    steps: list[Step] = [Prompt(step=0, role="user", text="Do it.")]
    steps.append(Think(step=1, output_tokens=columns["output_tokens"]))
    for place, code in enumerate(exits):
        command = '{"command": "make all"}'
        steps.append(
            Act(
                step=2 + place, think_step=1, call_index=place, tool="bash", arguments=command, exit_code=code
            )
        )
    return Trial(run_id=run_id, trial_id=trial_id, **columns), steps, effects
