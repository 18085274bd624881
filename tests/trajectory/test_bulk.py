"""Are trials that come all at once the same rows as those that are committed one by one?"""

from __future__ import annotations

import dataclasses
import random

import pyarrow.parquet as pq
import pytest

from evalkit.trajectory.bulk import BulkTrials
from evalkit.trajectory.reader import load
from evalkit.trajectory.step import Prompt
from evalkit.trajectory.writer import RunWriter

TABLES = ("trials", "steps")


def in_any_order(count):
    ids = [f"t{number:03d}" for number in range(count)]
    random.Random(5).shuffle(ids)
    return ids


def rows_of(run, table):
    return getattr(load(run), table).to_table().to_pylist()


@pytest.mark.parametrize(
    "limits", [{}, {"piece_steps": 8}, {"piece_characters": 100}], ids=["one piece", "by steps", "by text"]
)
def test_they_are_the_same_rows_in_one_sorted_file_a_table(tmp_path, manifest, make_trial, steps, limits):
    ids = in_any_order(60)
    with RunWriter.create(tmp_path / "one", manifest) as writer:
        for name in ids:
            writer.commit(make_trial(name), steps)
        writer.finish()
    with RunWriter.create(tmp_path / "bulk", manifest) as writer:
        bulk = BulkTrials(tmp_path / "bulk", **limits)
        for name in ids:
            bulk.add(make_trial(name), steps)
        bulk.write()
        writer.finish()
    for table in TABLES:
        assert rows_of(tmp_path / "bulk", table) == rows_of(tmp_path / "one", table)
        (file,) = (tmp_path / "bulk" / table).iterdir()
        stored = pq.read_table(file).column("trial_id").to_pylist()
        assert stored == sorted(stored)
    assert load(tmp_path / "bulk").trial("t007") == (make_trial("t007"), steps)


def test_a_run_that_was_made_at_once_can_be_added_to(tmp_path, manifest, make_trial, steps):
    run = tmp_path / "run"
    with RunWriter.create(run, manifest) as writer:
        bulk = BulkTrials(run)
        bulk.add(make_trial("b"), steps)
        bulk.write()
        writer.finish()
    with RunWriter.open(run) as writer:
        writer.commit(make_trial("a"), steps)
        writer.finish()
    assert [trial.trial_id for trial in load(run).rows()] == ["a", "b"]


def test_nothing_counts_before_it_is_written_and_what_is_left_is_swept_away(
    tmp_path, manifest, make_trial, steps
):
    run = tmp_path / "run"
    with RunWriter.create(run, manifest):
        bulk = BulkTrials(run, piece_steps=1)
        bulk.add(make_trial("a"), steps)
        assert any((run / "steps").iterdir())
        assert not load(run).rows()
    with RunWriter.open(run) as writer:
        writer.finish()
    assert [path for table in TABLES for path in (run / table).iterdir()] == []


def test_texts_are_made_valid_and_secrets_taken_out(tmp_path, manifest, make_trial):
    run = tmp_path / "run"
    secret = "sk-" + "Ab3dEf6hIj9kLm2nOp5qRs8t"
    with RunWriter.create(run, manifest) as writer:
        bulk = BulkTrials(run)
        bulk.add(make_trial("a", answer=f"key {secret}"), (Prompt(step=0, role="user", text="a\ud800b"),))
        bulk.write()
        writer.finish()
    trial, (prompt,) = load(run).trial("a")
    assert secret not in str(trial.answer)
    assert prompt == dataclasses.replace(prompt, text="a\ufffdb", replaced_chars=1)


@pytest.mark.parametrize("limits", [{}, {"piece_steps": 1}], ids=["one piece", "many pieces"])
def test_attempts_can_be_numbered_at_the_end(tmp_path, manifest, make_trial, steps, limits):
    run = tmp_path / "run"
    with RunWriter.create(run, manifest) as writer:
        bulk = BulkTrials(run, **limits)
        for number, name in enumerate("abc", 1):
            bulk.add(dataclasses.replace(make_trial(name), attempt=number), steps)
        bulk.write({"a": 2, "b": 1})
        writer.finish()
    found = {trial.trial_id: trial.attempt for trial in load(run, every_attempt=True).rows()}
    assert found == {"a": 2, "b": 1, "c": 3}
    assert load(run).trial("c")[0].attempt == 3
