"""Are the logs of an evaluation that Inspect tried again attempts at the same trials?"""

from __future__ import annotations

import json

import pytest

import evalkit
from evalkit.convert.importer import Options
from evalkit.convert.importing import import_run
from evalkit.errors import UsageError
from evalkit.trajectory.reader import load


def log(created, *samples, task_id="T", status="success"):
    """The log of one attempt at a task."""
    evaluated = {"task": "sums", "task_id": task_id, "run_id": f"r{created}", "model": "openai/gpt-9"}
    if created is not None:
        evaluated["created"] = f"2026-01-02T12:00:{created:02d}+00:00"
    return {"version": 2, "status": status, "eval": evaluated, "plan": {}, "samples": list(samples)}


def sample(identity, uuid, *, died=False, epoch=1):
    told = {"id": identity, "epoch": epoch, "uuid": uuid, "messages": [{"role": "user", "content": "2 + 2?"}]}
    how = {"error": {"message": "RuntimeError: no"}} if died else {"scores": {"match": {"value": "C"}}}
    return {**told, **how}


@pytest.fixture
def imported(tmp_path):
    """Import these logs in this order; (task, epoch, attempt, status) of every trial."""

    def run(*logs):
        files = []
        for number, told in enumerate(logs):
            files.append(tmp_path / f"{number}.json")
            files[-1].write_text(json.dumps(told))
        done = import_run("inspect", files, tmp_path / "run", Options())
        rows = load(done.path, every_attempt=True).rows()
        return sorted((row.task_id, row.epoch, row.attempt, row.status) for row in rows), done

    return run


FIRST = log(1, sample("a", "a1"), sample("b", "b1", died=True), status="error")
SECOND = log(2, sample("a", "a1"), sample("b", "b2", died=True), status="error")
THIRD = log(3, sample("a", "a1"), sample("b", "b3"))
ALL = [("a", 1, 1, "passed"), ("b", 1, 1, "unscored"), ("b", 1, 2, "unscored"), ("b", 1, 3, "passed")]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0), (2, 0, 1)])
def test_attempts_are_numbered_in_time_whatever_the_order_of_the_files(imported, order):
    rows, done = imported(*([FIRST, SECOND, THIRD][place] for place in order))
    assert rows == ALL
    assert [(row.task_id, row.attempt, row.status) for row in sorted(shown(done), key=by_task)] == [
        ("a", 1, "passed"),
        ("b", 3, "passed"),
    ]
    assert (done.adding.copies, done.adding.repeats) == (2, 0)


def by_task(row):
    return row.task_id


def shown(done):
    return list(evalkit.load(done.path).rows())


def test_the_steps_of_every_attempt_are_kept(imported):
    _, done = imported(FIRST, SECOND, THIRD)
    assert [len(steps) for _, steps in load(done.path, every_attempt=True).iter_trials()] == [1] * 4


def test_the_order_of_reading_counts_where_a_time_is_unknown(imported):
    rows, _ = imported(log(9, sample("b", "1", died=True)), log(None, sample("b", "2")))
    assert rows == [("b", 1, 1, "unscored"), ("b", 1, 2, "passed")]


def test_another_evaluation_of_the_same_task_is_a_further_epoch(imported):
    rows, done = imported(log(1, sample("b", "1")), log(2, sample("b", "2"), task_id="U"))
    assert [row[:3] for row in rows] == [("b", 1, 1), ("b", 2, 1)]
    assert done.adding.repeats == 1


def test_epochs_are_tried_again_each_for_itself(imported):
    rows, _ = imported(
        log(1, sample("b", "1"), sample("b", "2", epoch=2, died=True)),
        log(2, sample("b", "1"), sample("b", "3", epoch=2)),
    )
    assert [row[:3] for row in rows] == [("b", 1, 1), ("b", 2, 1), ("b", 2, 2)]


def test_samples_of_one_log_are_no_attempts_at_one_another(imported):
    rows, _ = imported(log(1, sample("b", "1"), sample("b", "2")), log(2, sample("b", "3")))
    assert [row[:3] for row in rows] == [("b", 1, 1), ("b", 1, 2), ("b", 2, 1)]


def test_the_headers_that_inspect_keeps_beside_the_logs_are_left_alone(tmp_path):
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "a.json").write_text(json.dumps(FIRST))
    heads = {f"{name}.eval": {**FIRST, "samples": None} for name in "ab"}
    (folder / "logs.json").write_text(json.dumps(heads))
    done = import_run("auto", [folder], tmp_path / "run", Options())
    assert (len(done.files), done.left_alone, done.incomplete) == (1, 1, [])
    with pytest.raises(UsageError, match="of no format"):
        import_run("auto", [folder / "logs.json"], tmp_path / "other", Options())


@pytest.mark.parametrize(
    "before", [{}, {"plan": {"eval": 1, "steps": [{"eval": {}}]}}, {"note": 'so "eval": { is \\" no key'}]
)
def test_a_log_is_known_whatever_comes_before_what_was_evaluated(tmp_path, before):
    file = tmp_path / "log.json"
    file.write_text(json.dumps({**before, **{k: v for k, v in FIRST.items() if k not in before}}))
    assert import_run("auto", [tmp_path], tmp_path / "run", Options()).adding.trials == 2
