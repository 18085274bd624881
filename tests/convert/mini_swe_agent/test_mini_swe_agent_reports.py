"""Reports beside trajectories, and which files are taken for either."""

from __future__ import annotations

import json

import pytest

import evalkit
from evalkit.convert.importer import Options
from evalkit.convert.importing import import_run
from evalkit.convert.mini_swe_agent import IMPORTER
from evalkit.convert.notes import Refused
from evalkit.convert.source import Source

# ---- reports


def test_the_report_decides_whatever_the_exit_says(files, answer, result, trajectory, report):
    files.write("one__one-1.report.json", report(resolved=True))
    columns = files.convert(
        trajectory(answer(), result(), status="Timeout", exception_str="litellm.Timeout")
    ).columns
    assert (columns["status"], columns["reward"], columns["stop_reason"]) == ("passed", 1.0, "error")
    assert files.notes.warnings["a trial that died of its infrastructure counts as its report says"] == 1


@pytest.mark.parametrize("name", ["one__one-1.report.json", "report.json", "one__one-1.report.json.gz"])
def test_where_a_report_may_lie(files, name, answer, result, trajectory, report):
    place = files.write(name, report(resolved=False, broken=True))
    told = files.convert(trajectory(answer(), result()))
    assert told.columns["status"] == "failed"
    assert told.columns["error_type"] is None
    assert told.columns["checks"] == {"FAIL_TO_PASS:test_a": True, "PASS_TO_PASS:test_b": False}
    assert files.read(place) == []


def test_a_report_about_another_instance_is_not_used(files, answer, result, trajectory, report):
    files.write("report.json", report(instance="other__other-2"))
    assert files.convert(trajectory(answer(), result())).columns["status"] == "unscored"
    assert "report.json is about another instance, and is not used" in files.notes.warnings


def test_a_damaged_report_is_a_loss(files, answer, result, trajectory):
    files.write("one__one-1.report.json", '{"one__one-1": {"resolved": tr')
    assert files.convert(trajectory(answer(), result())).columns["status"] == "unscored"
    assert [line.partition(":")[0] for line in files.notes.losses] == ["its report one__one-1.report.json"]


def test_a_report_that_does_not_say_is_no_failure(files, answer, result, trajectory, report):
    files.write("one__one-1.report.json", report(resolved="perhaps"))
    columns = files.convert(trajectory(answer(), result())).columns
    assert (columns["status"], columns.get("reward"), columns["error_type"]) == ("unscored", None, "unjudged")


def test_a_test_that_passed_and_failed_counts_as_failed(files, answer, result, trajectory, report):
    whole = report()
    whole["one__one-1"]["tests_status"]["FAIL_TO_PASS"] = {"success": ["t", 7], "failure": ["t"]}
    files.write("report.json", whole)
    assert files.convert(trajectory(answer(), result())).columns["checks"]["FAIL_TO_PASS:t"] is False


def test_a_damaged_trajectory_leaves_its_report(files, report):
    files.write("one__one-1.report.json", report())
    told = files.convert('{"info": {}, "messages": [')
    assert (told.columns["status"], told.steps) == ("passed", ())
    assert len(files.notes.losses) == 1


def test_a_report_alone_is_of_the_agent_beside_it(files, answer, trajectory, report):
    place = files.write("two__two-2.report.json", report(instance="two__two-2"))
    assert files.read(place)[0].agent == "mini-swe-agent/unknown"
    files.write("one__one-1.traj.json", trajectory(answer()))
    told = files.read(place)[0]
    assert (told.agent, told.task_id, told.suite) == (
        "mini-swe-agent/maker/model-1",
        "two__two-2",
        "swe-bench",
    )
    other = json.dumps(trajectory(answer())).replace("maker/model-1", "maker/model-2")
    files.write("three__three-3.traj.json", other)
    assert files.read(place)[0].agent == "mini-swe-agent/unknown"


# ---- files


def test_names_and_heads_that_are_recognised(files, answer, trajectory, report):
    for name, content, known in (
        ("a.traj.json", "", True),
        ("run.json", trajectory(answer()), True),
        ("report.json", report(), True),
        ("x.report.json.gz", report(), True),
        ("report.json", {"mean": 1}, False),
        ("run.json", {"messages": [], "info": {}}, False),
        ("run.jsonl", trajectory(answer()), False),
    ):
        assert IMPORTER.recognises(Source(files.write(name, content))) is known, name


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ({"trajectory_format": "swe-agent-2", "messages": [], "info": {}}, "not of mini-swe-agent"),
        ({"info": {}}, "it has no list of messages"),
        ({"info": {}, "messages": {}}, "it has no list of messages"),
        ({"messages": []}, "it has no info"),
        ("[", "not JSON"),
    ],
)
def test_what_is_refused(files, content, why):
    with pytest.raises(Refused, match=why):
        files.convert(content)


def test_a_missing_format_key_and_an_unknown_version_are_no_harm(files, answer, result, trajectory, acts):
    whole = trajectory(answer(), result())
    del whole["trajectory_format"]
    assert len(acts(files.convert(whole))) == 1
    assert len(acts(files.convert({**whole, "trajectory_format": "mini-swe-agent-7"}))) == 1


def test_further_runs_of_an_instance_are_epochs_and_copies_are_left_out(
    files, tmp_path, answer, result, trajectory, report
):
    files.write("a/one__one-1/one__one-1.traj.json", trajectory(answer(), result()))
    files.write("b/one__one-1/one__one-1.traj.json.gz", trajectory(answer("Another."), result()))
    files.write("copy/one__one-1/one__one-1.traj.json", trajectory(answer(), result()))
    files.write("a/one__one-1/report.json", report())
    files.write("copy/one__one-1/report.json", report())
    done = import_run("mini-swe-agent", [files.folder], tmp_path / "run", Options())
    found = [(trial.epoch, trial.status) for trial, _ in evalkit.load(done.path).iter_trials()]
    assert sorted(found) == [(1, "passed"), (2, "unscored")]
    assert done.adding.copies == 1
