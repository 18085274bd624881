"""`evalkit score`, as a user calls it."""

from __future__ import annotations

import json

BROKEN = """\
from evalkit import Metric, Score, Scorer

class Broken(Scorer):
    metrics = (Metric(name="broken", meaning="a test"),)

    def score(self, trial):
        for act in trial.acts:
            raise KeyError(act.tool)
        yield Score("broken", 1.0, "no calls")
"""


def test_a_run_scores_itself_at_its_end(command, folder) -> None:
    assert command("run", "core", "--task", "fix-off-by-one", "--out", "r").code == 0
    assert list((folder / "r" / "scores").glob("scores-success*.parquet"))


def test_scoring_again_says_what_it_did(command) -> None:
    command("run", "core", "--task", "fix-off-by-one", "--out", "r")
    said = command("score", "r", "--scorer", "success")
    assert said.code == 0
    assert "1 trial" in said.err
    assert command("score", "latest", "--scorer", "sucess").code == 2


def test_a_scorer_that_raises_ends_the_run_with_6_and_names_trial_and_step(command, folder) -> None:
    (folder / "scorers").mkdir()
    (folder / "scorers" / "broken.py").write_text(BROKEN)
    said = command("run", "core", "--task", "fix-off-by-one", "--out", "r")
    assert said.code == 6
    assert "scorer broken failed on trial fix-off-by-one.oracle" in said.err
    assert "step 3: KeyError: 'bash'" in said.err
    assert "evalkit score r --scorer broken" in said.err
    assert list((folder / "r" / "scores").glob("scores-success*.parquet"))
    again = command("score", "r")
    assert again.code == 6
    assert "all other scores stand" in again.err


def test_a_scorer_that_cannot_be_loaded_is_told_before_anything_runs(command, folder) -> None:
    (folder / "scorers").mkdir()
    (folder / "scorers" / "broken.py").write_text("import nothing_of_that_name\n")
    said = command("run", "core", "--task", "fix-off-by-one", "--out", "r")
    assert said.code == 2
    assert "broken.py:1: this scorer cannot be loaded" in said.err
    assert not (folder / "r").exists()


def test_scorers_are_listed_with_their_metrics(command) -> None:
    said = command("score", "--list")
    assert (said.code, said.err) == (0, "")
    assert "probability that k" in said.out.replace("\n", " ")
    listed = json.loads(command("score", "--list", "--json").out)["scorers"]
    success = next(scorer for scorer in listed if scorer["scorer"] == "success")
    assert success["metrics"][0]["metric"] == "success"
    assert success["metrics"][0]["range"] == [0, 1]


def test_a_scaffolded_projects_own_scorer_scores_its_run(command, folder, monkeypatch) -> None:
    assert command("init", "p").code == 0
    monkeypatch.chdir(folder / "p")
    assert command("run", "--out", "r").code == 0
    listed = json.loads(command("score", "--list", "--json").out)["scorers"]
    assert "first_look" in [scorer["scorer"] for scorer in listed]
    assert list((folder / "p" / "r" / "scores").glob("scores-first_look*.parquet"))


def test_what_is_no_run_is_said(command) -> None:
    said = command("score", "nothing")
    assert said.code == 2
    assert "nothing" in said.err


def test_what_was_scored_is_summed_up_and_grouped(command) -> None:
    command("run", "core", "--task", "fix-*", "--out", "r")
    said = command("score", "r", "--scorer", "success", "--by", "difficulty")
    assert said.code == 0
    assert "success" in said.out
    assert "  easy" in said.out
    assert "tool_calls" not in said.out
    whole = json.loads(command("score", "r", "--json").out)
    assert whole["agents"][0]["metrics"]["success"]["n"] == 2
    assert command("score", "r", "--by", "dificulty").code == 2
