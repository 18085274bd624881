"""`evalkit show` of a run with scores."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evalkit.trajectory.trial import Trial

HEAVY = ("inspect_ai", "litellm", "docker", "pandas", "scipy.stats")
STRANGER = """\
from pathlib import Path
from evalkit import Metric, Scorer

Path("was-run").touch()

class Stranger(Scorer):
    metrics = (Metric(name="m", meaning="a test"),)

    def score(self, trial):
        return ()
"""


@pytest.fixture
def attempt() -> Callable[..., tuple[Trial, dict[str, object]]]:
    """A trial and its scores: `attempt("t", "passed", agent="a", scores={...})`; success is scored by the status."""

    def make(
        task: str,
        status: str = "passed",
        *,
        epoch: int = 1,
        scores: dict[str, object] | None = None,
        **more: Any,
    ) -> tuple[Trial, dict[str, object]]:
        given = {"suite": "s", "agent": "react/m", "variant": "clean", **more}
        own = {"unscored": None, "passed": 1.0, "failed": 0.0}[status]
        trial = Trial(
            run_id="run-1",
            trial_id=f"{task}.{given['agent'].replace('/', '-')}.{given['variant']}.{epoch}",
            task_id=task,
            epoch=epoch,
            status=status,
            **given,
        )
        return trial, {"success": own, **(scores or {})}

    return make


@pytest.fixture
def four(scored_run, attempt) -> Path:
    """Four tasks, two epochs each, of which one task fails; skills for two of them."""
    return scored_run(
        *(
            attempt(task, "failed" if task == "t4" else "passed", epoch=epoch, skills=skills)
            for task, skills in {"t1": ("edit",), "t2": ("edit", "read"), "t3": (), "t4": ()}.items()
            for epoch in (1, 2)
        )
    )


def test_metrics_are_shown_with_their_intervals_and_tasks(command, four):
    said = command("show", str(four))
    assert said.code == 0, said.err
    (line,) = (line for line in said.out.splitlines() if line.startswith("pass^2"))
    assert line.split() == ["pass^2", "0.75", "[0.19,", "0.99]", "4"]


def test_json_says_what_each_number_rests_on(command, four):
    (agent,) = json.loads(command("show", str(four), "--json").out)["agents"]
    assert list(agent["metrics"])[:2] == ["pass^1", "success"]
    found = agent["metrics"]["success"]
    assert (found["value"], found["n"], found["trials"], found["unknown"]) == (0.75, 4, 8, 0)
    assert found["low"] == pytest.approx(0.194, abs=0.001)
    assert "faulted" not in agent
    assert "groups" not in agent


def test_the_same_run_is_shown_in_the_same_bytes(command, four):
    assert command("show", str(four), "--json").out == command("show", str(four), "--json").out


def test_groups_are_shown_for_each_metric(command, four):
    said = command("show", str(four), "--by", "skill", "--metric", "success")
    lines = [line.split() for line in said.out.splitlines()]
    assert ["edit", "1.00", "[0.16,", "1.00]", "2"] in lines
    assert ["read", "1.00", "1"] in lines
    assert "pass^2" not in said.out
    (agent,) = json.loads(command("show", str(four), "--by", "skill", "--json").out)["agents"]
    assert [group["group"] for group in agent["groups"]] == ["(none)", "edit", "read"]
    assert [group["trials"] for group in agent["groups"]] == [4, 4, 2]
    assert agent["groups"][1]["metrics"]["success"]["n"] == 2


@pytest.mark.parametrize(
    ("args", "guess"),
    [(("--by", "skil"), "Did you mean skill"), (("--metric", "sucess"), "Did you mean success")],
)
def test_a_misspelt_word_is_answered_with_what_was_meant(command, four, args, guess):
    said = command("show", str(four), *args)
    assert said.code == 2
    assert guess in said.err


def test_a_run_without_scores_says_how_to_get_them(command, scored_run, attempt):
    trials = [attempt("t1"), attempt("t2", "failed"), attempt("t3", "unscored")]
    run = scored_run(*((trial, {}) for trial, _ in trials))
    said = command("show", str(run))
    assert f"evalkit score {run}" in said.out
    assert "metric " not in said.out
    (agent,) = json.loads(command("show", str(run), "--json").out)["agents"]
    found = agent["metrics"]["pass^1"]
    assert (found["value"], found["n"], found["trials"], found["unknown"]) == (0.5, 2, 2, 1)


def test_arms_have_lines_and_columns_of_their_own(command, scored_run, attempt):
    run = scored_run(
        attempt("t1"),
        attempt("t2"),
        attempt("t1", "failed", variant="slow"),
        attempt("t2", "unscored", variant="slow"),
    )
    lines = [line.split() for line in command("show", str(run)).out.splitlines()]
    assert lines[1] == ["react/m"]
    assert lines[2][:5] == ["clean", "1.00", "2", "0", "0"]
    assert lines[3][:5] == ["faulted", "0.00", "0", "1", "1"]
    assert ["metric", "clean", "n", "faulted", "n"] in lines
    (agent,) = json.loads(command("show", str(run), "--json").out)["agents"]
    assert agent["metrics"]["success"]["value"] == 1
    assert agent["faulted"]["success"]["value"] == 0
    assert (agent["passed"], agent["failed"], agent["unscored"]) == (2, 1, 1)
    assert {arm: own["pass^1"] for arm, own in agent["arms"].items()} == {"clean": 1.0, "faulted": 0.0}


def test_impossible_twins_are_never_averaged_into_pass_hat_1(command, scored_run, attempt):
    run = scored_run(attempt("t1", "failed"), attempt("t1", variant="twin"))
    lines = [line.split() for line in command("show", str(run)).out.splitlines()]
    assert lines[2][:2] == ["clean", "0.00"]
    assert lines[3][:3] == ["twin", "-", "1"]


def test_scores_of_a_scorer_that_is_gone_are_marked(command, scored_run, attempt):
    run = scored_run(attempt("t1", scores={"m": 2.0}), attempt("t2", scores={"m": 4.0}), scorer="gone")
    said = command("show", str(run))
    assert "m *" in said.out
    assert "no scorer that is installed here declares" in said.out
    assert json.loads(command("show", str(run), "--json").out)["undeclared"] == ["m", "success"]


def test_a_runs_scores_never_make_a_file_be_run(command, folder, scored_run, attempt):
    (folder / "stranger.py").write_text(STRANGER)
    for name in ("stranger.py", "./stranger.py", str(folder / "stranger.py")):
        run = scored_run(attempt("t1"), scorer=name, name=f"run-{len(name)}")
        assert command("show", str(run)).code == 0
    assert not (folder / "was-run").exists()


def test_a_scorer_that_is_broken_by_now_is_told_and_the_run_still_shown(command, folder, scored_run, attempt):
    (folder / "evalkit.toml").write_text("")
    (folder / "scorers").mkdir()
    (folder / "scorers" / "mine.py").write_text("import nothing_of_that_name\n")
    run = scored_run(attempt("t1", scores={"m": 2.0}), scorer="mine")
    said = command("show", str(run))
    assert said.code == 0
    assert "warning: the scores of mine are shown without its declarations" in said.err
    assert "m *" in said.out


def test_trials_that_are_not_scored_yet_are_told(command, scored_run, attempt):
    (late, _) = attempt("t2")
    said = command("show", str(scored_run(attempt("t1"), (late, {}))))
    assert "1 trials have no scores of success: evalkit score" in said.out


def test_names_from_a_run_are_text_and_no_markup(command, scored_run, attempt):
    run = scored_run(
        attempt("t1", agent="[red]\x1b[31m", scores={"[bold]m": 1.0}), attempt("t1", agent="b"), scorer="x[/]"
    )
    said = command("show", str(run))
    assert said.code == 0
    assert "\x1b" not in said.out
    assert "[bold]m *" in said.out


def test_showing_a_run_brings_nothing_heavy_with_it(four):
    code = f"""
import sys
sys.argv = ["evalkit", "show", {str(four)!r}]
from evalkit.cli.app import command_line
from evalkit.cli.interrupt import Interrupts
command_line(Interrupts())
print([name for name in {HEAVY!r} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
