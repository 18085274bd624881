"""Is a trial in the run whole, or not at all?"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import resource
import threading

import pyarrow.parquet as pq
import pytest

from evalkit.errors import UsageError
from evalkit.trajectory.effect import Effect
from evalkit.trajectory.parquet import ROW_GROUP_BYTES
from evalkit.trajectory.reader import load
from evalkit.trajectory.step import Act, Think
from evalkit.trajectory.writer import RunWriter

HEADER = {"suite": "core", "task_id": "a", "epoch": 1, "agent": "react/m"}


def files_in(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_a_committed_trial_can_be_read_at_once(writer, make_trial, steps):
    trial = make_trial(skills=("shell",), rewards={"r": 1.0}, checks={"unit": True})
    writer.commit(trial, steps)
    assert load(writer.path).trial("t1") == (trial, steps)


def test_a_trial_without_steps_can_be_committed(writer, make_trial):
    writer.commit(make_trial(status="unscored"), ())
    assert load(writer.path).trial("t1")[1] == ()


def test_finishing_leaves_one_file_a_table_and_the_same_rows(writer, make_trial, steps):
    effect = Effect(
        trial_id="t2", step=2, channel="file", resource="/app/a", change="created", class_="intended"
    )
    for name in ("t3", "t1", "t2"):
        writer.commit(make_trial(name), steps, [effect] if name == "t2" else [])
    before = load(writer.path)
    rows = {
        name: getattr(before, name).to_table().sort_by("trial_id") for name in ("trials", "steps", "effects")
    }
    writer.finish()
    after = load(writer.path)
    assert {name: getattr(after, name).to_table() for name in rows} == rows
    assert [files_in(writer.path / name) for name in rows] == [["compact-000001.parquet"]] * 3
    assert files_in(writer.path / "journal") == []
    assert not (writer.path / "owner.json").exists()


def test_steps_are_sorted_by_trial_and_number(writer, make_trial, steps):
    for name in ("t3", "t1", "t2"):
        writer.commit(make_trial(name), steps)
    writer.finish()
    table = load(writer.path).steps.to_table(["trial_id", "step"])
    keys = list(zip(*table.to_pydict().values(), strict=True))
    assert keys == sorted(keys)
    assert len(keys) == 12


def test_a_run_that_goes_on_is_compacted_into_one_file_again(writer, make_trial, steps):
    writer.commit(make_trial("t2"), steps)
    writer.finish()
    with RunWriter.open(writer.path) as again:
        again.commit(make_trial("t1"), steps)
        again.commit(make_trial("t3"), ())
        again.finish()
    assert files_in(writer.path / "steps") == ["compact-000002.parquet"]
    assert [trial.trial_id for trial, _ in load(writer.path).iter_trials()] == ["t1", "t2", "t3"]
    assert load(writer.path).steps.to_table(["trial_id"]).column(0).to_pylist() == ["t1"] * 4 + ["t2"] * 4


def test_finishing_twice_changes_nothing(writer, make_trial, steps):
    writer.commit(make_trial(), steps)
    writer.finish()
    writer.finish()
    assert files_in(writer.path / "trials") == ["compact-000001.parquet"]


def test_a_run_without_trials_can_be_finished_and_read(writer):
    writer.finish()
    run = load(writer.path)
    assert list(run.iter_trials()) == []
    assert run.steps.to_pandas().empty


def test_row_groups_stay_below_their_limit(writer, make_trial):
    text = "".join(chr(33 + number % 90) for number in range(1_000_000))
    steps = [Think(step=number, text=text[number:]) for number in range(70)]
    writer.commit(make_trial("t1"), steps)
    writer.commit(make_trial("t2"), steps)
    writer.finish()
    metadata = pq.read_metadata(writer.path / "steps" / "compact-000001.parquet")
    sizes = [metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups)]
    assert len(sizes) >= 3
    assert max(sizes) <= ROW_GROUP_BYTES
    assert [(trial.trial_id, len(own)) for trial, own in load(writer.path).iter_trials()] == [
        ("t1", 70),
        ("t2", 70),
    ]
    assert load(writer.path).trial("t2")[1] == tuple(steps)


def test_large_files_say_their_version_and_are_zstd(writer, make_trial, steps):
    writer.commit(make_trial(), steps)
    writer.finish()
    metadata = pq.read_metadata(writer.path / "steps" / "compact-000001.parquet")
    assert metadata.metadata[b"schema_version"] == b"1"
    assert metadata.metadata[b"supersedes"] == b"generation <= 1"
    assert metadata.row_group(0).column(0).compression == "ZSTD"
    assert any("DICTIONARY" in name for name in metadata.row_group(0).column(0).encodings)


@pytest.mark.parametrize(
    "trial_id", ["../../etc/passwd", "a/b", "..", "é" * 200, "\x00", "-rf", "con: *?", "x" * 3000]
)
def test_any_trial_id_is_safe_as_a_file_name(writer, make_trial, steps, trial_id):
    writer.begin(trial_id, HEADER).append(steps[0])
    writer.commit(make_trial(trial_id), steps)
    inside = [path for path in writer.path.rglob("*") if path.is_file()]
    assert {path.parent.name for path in inside} == {"run-1", "trials", "steps"}
    assert load(writer.path).trial(trial_id)[1] == steps


def test_trial_ids_that_look_alike_do_not_collide(writer, make_trial, steps):
    writer.commit(make_trial("a/b"), steps)
    writer.commit(make_trial("a?b"), steps[:1])
    assert [len(own) for _, own in load(writer.path).iter_trials()] == [4, 1]


@pytest.mark.parametrize(
    ("numbers", "says"),
    [
        ([Think(step=1)], "step number 1 stands in place 0"),
        ([Think(step=0), Think(step=0)], "step number 0 stands in place 1"),
        ([Think(step=0), Act(step=1, think_step=1)], "think_step 1"),
        ([Act(step=0, think_step=0)], "think_step 0"),
        ([Act(step=0), Act(step=1, think_step=0)], "think_step 0"),
        ([Think(step=0, parent_step=0)], "parent step 0"),
        (
            [Think(step=0), *(Act(step=n, think_step=0, call_index=0) for n in (1, 2))],
            "second call 0 of think step 0",
        ),
    ],
)
def test_steps_that_do_not_fit_together_are_refused(writer, make_trial, numbers, says):
    with pytest.raises(ValueError, match=says):
        writer.commit(make_trial(), numbers)
    assert files_in(writer.path / "steps") == []


def test_results_without_a_call_are_kept(writer, make_trial):
    steps = (Act(step=0, observation="whose?"), Act(step=1, observation="whose?"))
    writer.commit(make_trial(), steps)
    assert load(writer.path).trial("t1")[1] == steps


def test_an_effect_of_another_trial_is_refused(writer, make_trial, steps):
    with pytest.raises(ValueError, match="t2"):
        writer.commit(
            make_trial(), steps, [Effect(trial_id="t2", channel="file", resource="a", change="created")]
        )


def test_an_effect_of_a_step_that_is_not_there_is_refused(writer, make_trial, steps):
    effect = Effect(trial_id="t1", step=9, channel="file", resource="a", change="created")
    with pytest.raises(ValueError, match="step 9"):
        writer.commit(make_trial(), steps, [effect])


def test_a_trial_is_committed_once(writer, make_trial, steps):
    writer.commit(make_trial(), steps)
    with pytest.raises(ValueError, match="before"):
        writer.commit(make_trial(), steps)
    with pytest.raises(ValueError, match="before"):
        writer.begin("t1", HEADER)


def test_the_same_attempt_at_a_planned_row_is_committed_once(writer, make_trial, steps):
    writer.commit(make_trial("t1", task_id="a"), steps)
    with pytest.raises(ValueError, match="attempt 1"):
        writer.commit(make_trial("t2", task_id="a"), steps)
    writer.commit(make_trial("t2", task_id="a", attempt=2), steps)


def test_a_trial_of_another_run_is_refused(writer, make_trial):
    with pytest.raises(ValueError, match="run-2"):
        writer.commit(dataclasses.replace(make_trial(), run_id="run-2"), ())


def test_an_incomplete_header_is_refused(writer):
    with pytest.raises(ValueError, match="suite"):
        writer.begin("t1", {"task_id": "a"})
    with pytest.raises(ValueError, match="mood"):
        writer.begin("t1", {**HEADER, "mood": "good"})


def test_a_folder_that_holds_a_run_is_not_overwritten(writer, manifest):
    with pytest.raises(UsageError, match="not empty") as refused:
        RunWriter.create(writer.path, manifest)
    assert f"evalkit resume {writer.path}" in refused.value.hint


def test_a_run_is_created_in_an_empty_folder(run_path, manifest):
    run_path.mkdir(parents=True)
    RunWriter.create(run_path, manifest).close()
    assert load(run_path).manifest == manifest


def test_a_place_that_cannot_hold_a_folder_is_one_clear_error(tmp_path, manifest):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot write the run"):
        RunWriter.create(tmp_path / "file" / "run", manifest)


def test_writing_to_a_remote_place_is_refused(manifest):
    with pytest.raises(UsageError, match="local"):
        RunWriter.create("s3://bucket/run", manifest)


def test_a_file_uri_is_a_local_place(run_path, manifest):
    RunWriter.create(run_path.as_uri(), manifest).close()
    assert load(run_path.as_uri()).manifest == manifest


@pytest.fixture
def full_disk():
    """Within it, writing more than a few bytes to any file fails, as on a disk without space.

    Never longer than a few lines: pytest's own output may be a file too.
    """

    @contextlib.contextmanager
    def full():
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    return full


def test_a_full_disk_is_one_clear_error_and_leaves_nothing_half_written(writer, make_trial, steps, full_disk):
    writer.commit(make_trial("t1"), steps)
    before = files_in(writer.path)
    with full_disk(), pytest.raises(UsageError, match="cannot write the run"):
        writer.commit(make_trial("t2"), steps)
    assert files_in(writer.path) == before
    writer.commit(make_trial("t2"), steps)
    assert len(list(load(writer.path).iter_trials())) == 2


def test_a_compaction_that_fails_loses_nothing_and_can_be_done_again(writer, make_trial, steps, full_disk):
    writer.commit(make_trial("t1"), steps)
    with full_disk(), pytest.raises(UsageError, match="cannot write the run"):
        writer.finish()
    writer.commit(make_trial("t2"), steps)
    writer.finish()
    assert [len(own) for _, own in load(writer.path).iter_trials()] == [4, 4]


def test_a_journal_on_a_full_disk_is_one_clear_error(writer, full_disk):
    with full_disk(), pytest.raises(UsageError, match="cannot write the run"):
        writer.begin("t1", HEADER).append(Think(step=0, text="x" * 500))


def test_a_run_that_cannot_be_created_leaves_the_folder_empty(run_path, manifest, full_disk):
    run_path.mkdir(parents=True)
    with full_disk(), pytest.raises(UsageError, match="cannot write the run"):
        RunWriter.create(run_path, manifest)
    assert list(run_path.iterdir()) == []


def test_the_journal_holds_one_line_a_step_and_goes_with_the_commit(writer, make_trial, steps):
    journal = writer.begin("t1", HEADER)
    for step in steps:
        journal.append(step)
    lines = [json.loads(line) for line in journal.path.read_text().splitlines()]
    assert [line.get("kind") for line in lines] == [None, "prompt", "think", "act", "event"]
    writer.commit(make_trial(), steps)
    assert files_in(writer.path / "journal") == []


def test_secrets_do_not_reach_the_journal_or_the_steps(writer, make_trial):
    step = Think(step=0, text="export API_KEY=hunter2hunter2")
    journal = writer.begin("t1", HEADER)
    journal.append(step)
    assert "hunter2" not in journal.path.read_text()
    writer.commit(make_trial(), [step])
    writer.finish()
    assert load(writer.path).trial("t1")[1][0].text == "export API_KEY=[redacted:api_key]"


def test_trials_can_be_committed_from_several_threads(writer, make_trial, steps):
    trials = [make_trial(f"t{number}") for number in range(16)]
    threads = [
        threading.Thread(
            target=lambda part: [writer.commit(trial, steps) for trial in part], args=(trials[n::4],)
        )
        for n in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert load(writer.path).trials.count_rows() == 16


def test_two_hundred_trials_are_committed_and_compacted(writer, make_trial, steps):
    for number in range(200):
        writer.commit(make_trial(f"t{number:03d}"), steps)
    writer.finish()
    run = load(writer.path)
    assert (run.trials.count_rows(), run.steps.count_rows()) == (200, 800)


def test_artifacts_are_kept_in_the_run(writer):
    digest, size = writer.artifacts.put(io.BytesIO(b"made"))
    assert (writer.path / "artifacts" / digest[:2] / digest[2:]).read_bytes() == b"made"
    assert size == 4
