"""Does reading a run show what counts, and say clearly what is wrong?"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from evalkit.errors import ConfigError, UsageError
from evalkit.trajectory.effect import Effect
from evalkit.trajectory.reader import load
from evalkit.trajectory.writer import RunWriter


@pytest.fixture(params=["parts", "compacted"])
def run(request, writer, make_trial, steps):
    """Three planned rows; the second took two attempts."""
    effect = Effect(trial_id="t2", channel="file", resource="/a", change="created")
    writer.commit(make_trial("t1", input_tokens=5), steps)
    writer.commit(make_trial("t2", task_id="again", status="unscored"), steps, [effect])
    writer.commit(make_trial("t3", task_id="again", attempt=2, input_tokens=None), steps[:2])
    writer.commit(make_trial("t4", input_tokens=7, status="failed", reward=0.0), ())
    if request.param == "compacted":
        writer.finish()
    return load(writer.path)


def test_only_the_highest_attempt_of_a_planned_row_is_shown(run):
    assert [(trial.trial_id, len(own)) for trial, own in run.iter_trials()] == [
        ("t1", 4),
        ("t3", 2),
        ("t4", 0),
    ]
    assert sorted(run.trials.to_table(["trial_id"]).column(0).to_pylist()) == ["t1", "t3", "t4"]
    assert set(run.steps.to_table(["trial_id"]).column(0).to_pylist()) == {"t1", "t3"}
    assert (run.trials.count_rows(), run.steps.count_rows(), run.effects.count_rows()) == (3, 6, 0)
    assert (run.trials.dataset.count_rows(), run.steps.dataset.count_rows()) == (3, 6)


def test_columns_and_rows_can_be_chosen(run):
    table = run.trials.to_table(["trial_id", "reward"], filter=pc.field("status") == "failed")
    assert table.to_pylist() == [{"trial_id": "t4", "reward": 0.0}]


def test_the_lazy_dataset_gives_the_same_rows(run):
    assert (
        run.steps.dataset.to_table()
        .sort_by([("trial_id", "ascending"), ("step", "ascending")])
        .equals(run.steps.to_table().sort_by([("trial_id", "ascending"), ("step", "ascending")]))
    )


def test_an_unknown_column_is_named(run):
    with pytest.raises(KeyError, match="mood"):
        run.trials.to_table(["mood"])


def test_unknown_numbers_are_missing_in_a_frame(run):
    frame = run.trials.to_pandas(["trial_id", "input_tokens", "reward", "thinking_honoured"]).set_index(
        "trial_id"
    )
    assert frame.loc["t3", "input_tokens"] is pd.NA
    assert frame.loc["t1", "reward"] is pd.NA
    assert frame.loc["t1", "thinking_honoured"] is pd.NA
    assert frame.loc["t4", "reward"] == 0.0
    assert str(frame.dtypes["input_tokens"]) == "Int64"


def test_one_trial_comes_with_its_steps(run, steps):
    trial, own = run.trial("t1")
    assert (trial.input_tokens, own) == (5, steps)


def test_an_unknown_trial_is_answered_with_the_nearest(run):
    with pytest.raises(UsageError, match="t44") as refused:
        run.trial("t44")
    assert "t4" in refused.value.hint


def test_a_replaced_attempt_is_not_found(run):
    with pytest.raises(UsageError, match="t2"):
        run.trial("t2")


def test_what_is_committed_later_is_not_in_a_run_opened_before(writer, make_trial, steps):
    writer.commit(make_trial("t1"), steps)
    run = load(writer.path)
    writer.commit(make_trial("t2"), steps)
    assert run.trials.count_rows() == 1
    assert len(list(run.iter_trials())) == 1


def test_a_run_that_was_compacted_meanwhile_says_so(writer, make_trial, steps):
    writer.commit(make_trial("t1"), steps)
    run = load(writer.path)
    writer.finish()
    with pytest.raises(UsageError, match="no longer there") as refused:
        run.trials.to_table()
    assert "open it again" in refused.value.hint


def test_a_run_can_be_moved(run, tmp_path):
    moved = tmp_path / "_elsewhere" / ".hidden"
    shutil.copytree(run.path, moved)
    assert list(load(moved).iter_trials()) == list(run.iter_trials())
    assert load(moved).steps.dataset.count_rows() == 6


def test_a_file_uri_is_read_through_pyarrow(run):
    assert load(f"file://{run.path}").trials.count_rows() == 3


def test_a_missing_run_names_what_was_looked_for(writer):
    with pytest.raises(UsageError, match="no run") as refused:
        load(writer.path.parent / "run-11")
    assert "run-11" in refused.value.where
    assert str(writer.path) in refused.value.hint


def test_a_folder_that_is_no_run_says_so(tmp_path):
    with pytest.raises(UsageError, match=r"run\.json"):
        load(tmp_path)


def test_a_remote_place_without_a_run_says_so():
    with pytest.raises(UsageError, match=r"run\.json"):
        load("mock:///nowhere")


def test_latest_is_the_run_begun_last(tmp_path, manifest, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="no run yet"):
        load("latest")
    for age, name in enumerate(("b", "c", "a")):
        RunWriter.create(f"runs/{name}", manifest).close()
        os.utime(f"runs/{name}/run.json", (1000 + age, 1000 + age))
    assert load("latest").path == "runs/a"


@pytest.mark.parametrize("table", ["trials", "steps"])
@pytest.mark.parametrize("size", [0, 3, 200, -9])
def test_a_cut_off_file_is_named(writer, make_trial, steps, table, size):
    writer.commit(make_trial(), steps)
    writer.finish()
    file = writer.path / table / "compact-000001.parquet"
    file.write_bytes(file.read_bytes()[:size])
    run = load(writer.path)
    for read in (
        lambda: getattr(run, table).to_table(),
        lambda: getattr(run, table).dataset,
        lambda: list(run.iter_trials()),
        lambda: run.trial("t1"),
    ):
        with pytest.raises(ConfigError, match="cannot be read") as refused:
            read()
        assert refused.value.where == str(file)


def test_a_file_damaged_in_the_middle_is_named(writer, make_trial, steps):
    writer.commit(make_trial(), steps)
    writer.finish()
    file = writer.path / "steps" / "compact-000001.parquet"
    data = bytearray(file.read_bytes())
    data[4:600] = b"\xff" * 596
    file.write_bytes(data)
    run = load(writer.path)
    for read in (run.steps.to_table, lambda: run.steps.to_table(filter=pc.field("step") >= 0)):
        with pytest.raises(ConfigError, match="cannot be read") as refused:
            read()
        assert refused.value.where == str(file)


def rewritten(file, **changes):
    """The same file, as another version would have written it."""
    table = pq.read_table(file)
    drop = changes.pop("drop", [])
    metadata = {**table.schema.metadata, **{name.encode(): value for name, value in changes.items()}}
    pq.write_table(table.drop_columns(drop).replace_schema_metadata(metadata), file)


def test_a_file_of_a_newer_version_is_refused(run):
    file = min(Path(run.path, "steps").iterdir())
    rewritten(file, schema_version="2")
    again = load(run.path)
    for read in (again.steps.to_table, lambda: again.steps.dataset, lambda: list(again.iter_trials())):
        with pytest.raises(ConfigError, match="schema version 2"):
            read()


def test_a_file_of_an_older_version_is_upgraded(writer, make_trial, steps):
    writer.commit(make_trial(difficulty="easy", skills=("a",)), steps)
    writer.finish()
    rewritten(
        writer.path / "trials" / "compact-000001.parquet", drop=["difficulty", "skills", "attempt", "variant"]
    )
    run = load(writer.path)
    ((trial, own),) = run.iter_trials()
    assert (trial.difficulty, trial.skills, trial.attempt, trial.variant) == (None, (), 1, "clean")
    assert own == steps
    assert run.trials.to_table().to_pylist()[0]["attempt"] is None
    assert run.trials.dataset.to_table().column("difficulty").null_count == 1
    assert run.trial("t1")[0] == trial


def test_a_file_with_impossible_values_is_named(writer, make_trial, steps):
    writer.commit(make_trial(), steps)
    file = next((writer.path / "trials").glob("*.parquet"))
    table = pq.read_table(file)
    pq.write_table(table.set_column(table.column_names.index("status"), "status", [["great"]]), file)
    with pytest.raises(ConfigError, match="great") as refused:
        list(load(writer.path).iter_trials())
    assert refused.value.where == str(file)


def test_reading_does_not_import_what_only_running_needs(writer, make_trial, steps):
    writer.commit(make_trial(), steps)
    code = (
        "import sys; from evalkit.trajectory.reader import load; run = load(sys.argv[1]);"
        "list(run.iter_trials()); run.trial('t1'); run.trials.to_table();"
        "print(sorted({'pandas', 'inspect_ai', 'litellm', 'docker', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(writer.path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
