"""`evalkit regrade`, as a user calls it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytestmark = pytest.mark.local

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
SNAPSHOT = TOML + '[metadata.evalkit.grading]\nmode = "snapshot"\n'


@pytest.fixture
def suite(folder: Path, local_support: None) -> Path:
    """A suite of one task that is graded sealed."""
    _task(folder / "mini" / "one", TOML)
    return folder / "mini"


def _task(task: Path, toml: str) -> None:
    files = {
        "task.toml": toml,
        "instruction.md": "Write `done` into /app/out.\n",
        "environment/Dockerfile": "FROM debian:bookworm-slim\nWORKDIR /app\n",
        "tests/test.sh": GRADER,
        "solution/solve.sh": "# step: Write it.\necho done > out\n",
    }
    for path, text in files.items():
        file = task / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o755 if path.endswith(".sh") else 0o644)


@pytest.fixture
def ran(command, suite):
    """A finished run of it."""
    assert command("run", "mini", "--model", "scripted/oracle", "--out", "runs/r").code == 0
    return suite


def test_it_prints_what_changed_and_scores_the_run_again(command, ran):
    (ran / "one/tests/test.sh").write_text("#!/bin/sh\necho 0 > /logs/verifier/reward.txt\n")
    said = command("regrade", "runs/r")
    assert said.code == 0
    assert "The tests of mini/one have changed since the run began" in said.out
    assert "passed (1) -> failed (0)  one.oracle.1." in said.out
    assert "1 of 1 trials were graded again: 1 otherwise than before, 0 as before." in said.out
    assert "1 of 1 trials graded again" in said.err
    shown = json.loads(command("show", "runs/r", "--json").out)
    assert json.dumps(shown).count('"passed": 0') >= 1


def test_the_same_graders_change_nothing(command, ran):
    said = command("regrade", "runs/r")
    assert (said.code, said.out) == (
        0,
        "1 of 1 trials were graded again: 0 otherwise than before, 1 as before.\n",
    )


def test_json_says_the_same(command, ran):
    (ran / "one/tests/test.sh").write_text("#!/bin/sh\necho 0.5 > /logs/verifier/reward.txt\n")
    told = json.loads(command("regrade", "runs/r", "--json").out)
    assert (told["graded"], told["same"], told["not_graded"], told["left"]) == (1, 0, [], 0)
    (changed,) = told["changed"]
    assert (changed["from"]["reward"], changed["to"]["reward"], changed["to"]["attempt"]) == (1.0, 0.5, 2)
    assert told["tests_changed"] == ["mini/one"]


def test_what_cannot_be_graded_again_is_named_and_the_exit_code_is_6(command, suite):
    _task(suite / "two", SNAPSHOT)
    assert command("run", "mini", "--model", "scripted/oracle", "--out", "runs/r").code == 0
    said = command("regrade", "runs/r")
    assert said.code == 6
    assert "1 of 2 trials were graded again" in said.out
    assert "it was graded snapshot, and the state of its sandbox is not kept" in " ".join(said.out.split())
    assert "\n  two.oracle.1." in said.out
    assert "1 of 2 trials could not be graded again; they are judged as before" in said.err


def test_usage_errors_are_exit_code_2(command, ran):
    assert command("regrade", "runs/none").code == 2
    assert command("regrade", "runs/r", "nobody").code == 2
    said = command("regrade", "runs/r", "--sandbox", "dokcer")
    assert (said.code, "Did you mean docker?" in said.err) == (2, True)


def test_a_run_that_was_imported_is_exit_code_5(command, ran, folder):
    manifest = folder / "runs/r/run.json"
    told = json.loads(manifest.read_text())
    told["suites"][0]["source"] = None
    manifest.write_text(json.dumps(told))
    said = command("regrade", "runs/r")
    assert (said.code, "no suite whose graders could be run again" in said.err) == (5, True)


def test_stored_states_are_graded_later_and_counted(command, suite):
    asked = ("run", "mini", "--model", "scripted/oracle", "--checkpoints", "--checkpoint-budget", "0")
    assert command(*asked, "--out", "runs/r").code == 0
    said = command("regrade", "runs/r", "--checkpoints")
    assert said.code == 0
    assert "States of the work on the way that got a verdict: 1." in said.out
    again = command("regrade", "runs/r", "--checkpoints")
    assert (again.code, again.out) == (
        0,
        "1 trial has a verdict on each stored state already, by the graders of now:\nnothing to be graded there.\n",
    )
    told = json.loads(command("regrade", "runs/r", "--checkpoints", "--json").out)
    assert (told["states"], told["settled"], told["graded"]) == (0, 1, 0)


def test_a_run_without_stored_states_says_how_to_get_them(command, ran):
    said = command("regrade", "runs/r", "--checkpoints")
    assert said.code == 2
    assert "no states of agents' work are stored in this run" in said.err
    assert "evalkit run SUITE --checkpoints" in said.err
