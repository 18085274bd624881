"""What `score`, `show` and `compare` say where a project's scorers are broken, rude, or have changed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evalkit.trajectory.manifest import RunManifest
from evalkit.trajectory.schema import SCORES
from evalkit.trajectory.step import Act
from evalkit.trajectory.trial import Trial
from evalkit.trajectory.writer import RunWriter

MINE = """\
from evalkit import Metric, Score, Scorer

print("loaded")

class Mine(Scorer):
    metrics = (
        Metric(name="mine", meaning="a test", low=0, high=1),
        Metric(name="waited", meaning="a test", aggregation="curve", curve="survival"),
    )

    def score(self, trial):
        print("scoring")
        yield Score("mine", 1.0, "r")
        yield Score("waited", 2.0, "r", label="2")
"""


@pytest.fixture
def scorer(folder):
    """Write a scorer of the project; returns its file."""

    def write(text: str, name: str = "mine"):
        (folder / "scorers").mkdir(exist_ok=True)
        path = folder / "scorers" / f"{name}.py"
        path.write_text(text)
        return path

    return write


@pytest.fixture
def run(command, folder, scorer):
    """A run of one trial that all scorers have scored, `mine` among them; returns its folder."""
    scorer(MINE)
    made(folder / "r", "t1")
    assert command("score", "r").code == 0
    return folder / "r"


def made(path: Path, *names: str) -> None:
    """Write a run with a trial of each name."""
    trials = [
        Trial(run_id="r", trial_id=name, suite="s", task_id=name, epoch=1, agent="a", status="passed")
        for name in names
    ]
    acts = (Act(step=0, call_index=0, tool="bash", arguments='{"command":"ls"}', exit_code=0),)
    with RunWriter.create(
        path, RunManifest(run_id="r", created_at=datetime(2025, 1, 2, tzinfo=UTC))
    ) as writer:
        for trial in trials:
            writer.commit(trial, acts)
        writer.finish()


def stored(run, name: str = "mine"):
    (path,) = (run / "scores").glob(f"scores-{name}*.parquet")
    return path


def with_stored(run, **columns: object) -> None:
    """Change the stored rows of the metric `waited`."""
    path = stored(run)
    rows = [
        {**row, **(columns if row["metric"] == "waited" else {})} for row in pq.read_table(path).to_pylist()
    ]
    pq.write_table(pa.Table.from_pylist(rows, schema=SCORES), path)


def test_what_scorers_print_does_not_get_into_json(command, run) -> None:
    for asked in (("score", "r", "--json"), ("show", "r", "--json"), ("score", "--list", "--json")):
        said = command(*asked)
        assert json.loads(said.out)
        assert "loaded" in said.err


def test_a_stored_label_that_says_nothing_hides_its_metric_alone(command, run) -> None:
    with_stored(run, label="soon")
    for asked in (("show", "r"), ("show", "r", "--json"), ("compare", "r", "r")):
        said = command(*asked)
        assert said.code == 0
        assert "warning: waited of mine cannot be read: 1 of 1 stored scores" in said.err
        assert "evalkit score r --scorer mine" in said.err.replace(f"{run.parent}/", "")
    metrics = json.loads(command("show", "r", "--json").out)["agents"][0]["metrics"]
    assert "mine" in metrics
    assert "waited" not in metrics


def test_a_stored_value_that_is_too_large_is_told(command, run) -> None:
    with_stored(run, value=1e300)
    assert "1e+300 is too large to be added up" in command("show", "r").err


def test_scorers_that_broke_since_do_not_hide_a_run(command, run, scorer) -> None:
    scorer("raise BaseException\n")
    shutil.copytree(run, run.with_name("other"))
    for asked in (("show", "r"), ("show", "r", "--json"), ("compare", "r", "r"), ("compare", "r", "other")):
        said = command(*asked)
        assert said.code == 0
        assert said.err.count("warning: the scores of mine are shown without its declarations") == 1
        assert "mine.py:1: this scorer cannot be loaded: BaseException" in said.err


def test_a_scorer_that_took_a_bundled_name_is_refused_and_hides_no_run(command, run, scorer) -> None:
    path = scorer(MINE, "success")
    shown = command("show", "r")
    assert shown.code == 0
    assert shown.err.count(f"warning: {path} has the name of a bundled scorer and is not used") == 1
    metrics = json.loads(command("show", "r", "--json").out)["agents"][0]["metrics"]
    assert "pass^1" in metrics
    said = command("score", "r", "--scorer", "success")
    assert said.code == 2
    assert "different scorers have the name 'success'" in said.err
    assert "rename yours" in said.err


def test_scorers_that_fail_alike_are_told_once(command, scorer, folder) -> None:
    made(folder / "r", "t1", "t2")
    scorer(MINE.replace('yield Score("mine", 1.0, "r")', "raise KeyError(trial.row.trial_id)"))
    said = command("score", "r", "--scorer", "mine")
    assert said.code == 6
    assert said.err.count("scorer mine failed on") == 1
    assert "scorer mine failed on 2 trials, such as t1: KeyError: 't1'" in said.err


def test_a_damaged_file_of_scores_is_made_again_by_score(command, run) -> None:
    path = stored(run)
    path.write_bytes(path.read_bytes()[:40])
    said = command("show", "r")
    assert said.code == 2
    assert "delete it and: evalkit score" in said.err


def test_scoring_a_run_that_still_runs_says_so(command, run) -> None:
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        owner = {"pid": other.pid, "started": None, "host": os.uname().nodename}
        (run / "owner.json").write_text(json.dumps(owner))
        said = command("score", "r")
        assert said.code == 0
        assert f"still being run by process {other.pid}: 1 trials are scored" in said.err
        assert "when it ends, score it again: evalkit score" in said.err.replace("\n", " ")
    finally:
        other.kill()
        other.wait()
