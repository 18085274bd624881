"""`evalkit show --failures`: what failed, by its likely cause."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from rich.cells import cell_len

from evalkit.trajectory.manifest import RunManifest
from evalkit.trajectory.step import Act, Event, Think
from evalkit.trajectory.trial import Trial
from evalkit.trajectory.writer import RunWriter


@pytest.fixture
def run(folder: Path) -> str:
    """Five trials that fail alike, one that failed silently, two without a verdict, and one that passed."""

    def tried(name: str, command: str = "make", exit_code: int = 2, **more: object) -> None:
        given = {"suite": "s", "task_id": name, "agent": "a", "epoch": 1, "status": "failed", **more}
        failing = Act(
            step=1,
            think_step=0,
            call_index=0,
            tool="bash",
            arguments=json.dumps({"command": command}),
            stdout=f"begun\nmake: *** no rule \x1b[2J {'z' * 200}",
            exit_code=exit_code,
        )
        strike = '{"id": "typo", "kind": "wrong_value", "loud": false, "visible": true}'
        silent = [] if exit_code else [Event(step=2, event="fault", detail=strike, parent_step=1)]
        trial = Trial(run_id="r", trial_id=f"{name}.a.1", **given)  # type: ignore[arg-type]
        writer.commit(trial, [Think(step=0), failing, *silent])

    about = RunManifest(run_id="r", created_at=datetime(2026, 1, 2, tzinfo=UTC))
    with RunWriter.create(folder / "run", about) as writer:
        for number in range(5):
            tried(f"t{number}", stop_reason="submitted", checks={"builds": False, "is there": True})
        tried("quiet", exit_code=0, stop_reason="submitted")
        for number in range(2):
            tried(
                f"u{number}",
                status="unscored",
                error_origin="sandbox",
                error_type="timeout",
                error_message=f"no answer after {number + 30} s",
            )
        tried("good", status="passed")
        writer.finish()
    return "run"


def test_what_failed_alike_is_one_group_with_its_cause_and_the_largest_comes_first(command, run):
    told = json.loads(command("show", run, "--failures", "--json").out)
    assert (told["of_trials"], told["failing"]) == (9, 8)
    first, second, third = told["groups"]
    assert len(first["trials"]) == 5
    assert (first["stop_reason"], first["failed_checks"], first["last_error"]) == (
        "submitted",
        ["builds"],
        "exit_code",
    )
    assert first["trials"][0]["telling"]["step"] == 1
    assert first["trials"][0]["telling"]["call"] == "make"
    assert (second["status"], second["error_origin"], second["error"]) == (
        "unscored",
        "sandbox",
        "timeout: no answer after # s",
    )
    assert third["last_error"] == "silent fault wrong_value"
    assert third["trials"][0]["telling"]["how"] == "fault typo, silent"


def test_each_trial_has_the_step_that_tells_and_the_command_that_shows_it(command, run):
    said = command("show", run, "--failures").out
    assert said.startswith("Of 9 trials 6 failed and 2 are unscored, in 3 groups")
    lines = said.splitlines()
    place = lines.index("  evalkit show run t0.a.1")
    assert lines[place + 1] == "      step 1 bash exit 2: $ make"
    assert lines[place + 2].startswith("      make: *** no rule \\x1b[2J z")
    assert lines[place + 2].endswith(" ...")
    assert "good" not in said
    assert max(map(cell_len, lines)) <= 80


def test_what_is_left_out_of_a_group_is_told_and_can_be_had(command, run):
    said = command("show", run, "--failures").out
    assert "... and 2 more (--full shows all)" in said
    assert "t4.a.1" not in said
    assert "t4.a.1" in command("show", run, "--failures", "--full").out


def test_filters_choose_failures_too(command, run):
    said = command("show", run, "--failures", "--status", "unscored").out
    assert said.startswith("Only 2 of 9 trials")
    assert "t0.a.1" not in said
    assert "u0.a.1" in said


def test_where_nothing_failed_that_is_said(command, run):
    assert (
        "Of 1 trials none failed, and none is unscored."
        in command("show", run, "--failures", "--task", "good").out
    )


def test_failures_are_not_summed_up(command, run):
    assert command("show", run, "--failures", "--by", "task").code == 2
    assert command("show", run, "t0", "--failures").code == 2
