"""A disk is not filled where it would hide what the task needs, or take what is graded with it."""

from __future__ import annotations

import pytest

from evalkit.engine.prepare import RunFlags, prepare
from evalkit.errors import ConfigError

FULL = """
[[metadata.evalkit.faults]]
id = "full"
kind = "disk_full"
path = "{}"
"""
HEAD = 'schema_version = "1.4"\n{}\n[environment]\nnetwork_mode = "no-network"\n'


@pytest.fixture
def planned(make_suite, tmp_path, monkeypatch):
    """The variants of a task that declares `artifacts`, has a full disk at `path`, and these further files."""
    monkeypatch.chdir(tmp_path)

    def plan(path: str, artifacts: str = 'artifacts = ["/app/out"]', further: str = "", **files: str):
        toml = HEAD.format(artifacts) + further + FULL.format(path)
        named = {name.replace("__", "/"): text for name, text in files.items()}
        suite = make_suite(one={"task.toml": toml, **named})
        asked = RunFlags(suites=(str(suite),), models=("scripted/oracle",))
        return [trial.variant for trial in prepare(asked).plan]

    return plan


PLANNED = ["clean", "full"]
COPIES = "FROM debian:bookworm-slim\nWORKDIR /app\nCOPY app/ /app/\n"


def test_a_folder_of_its_own_can_be_full(planned):
    assert planned("/app/spool") == PLANNED


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/app", "the working directory /app lies in it"),
        ("/app/out", "/app/out, which is graded, lies in it"),
        ("/logs/x", "the sandbox needs it"),
        ("/", "the sandbox needs it"),
        ("/app/spool/../../etc", "should not contain"),
    ],
)
def test_a_disk_that_holds_what_is_needed_cannot_be_full(planned, path, why):
    with pytest.raises(ConfigError, match=why):
        planned(path)


@pytest.mark.parametrize("path", ["/app/out/parts", "/app/out/a/b/c", "/app/out/"])
def test_a_disk_inside_what_is_delivered_cannot_be_full(planned, path):
    with pytest.raises(ConfigError, match="/app/out, which is graded") as refused:
        planned(path)
    assert refused.value.hint


def test_a_disk_inside_a_whole_working_directory_that_is_delivered_cannot_be_full(planned):
    with pytest.raises(ConfigError, match="it lies in /app, which is graded") as refused:
        planned("/app/spool", 'artifacts = ["/app"]')
    assert "exclude" in (refused.value.hint or "")


def test_what_a_deliverable_leaves_out_can_be_full(planned):
    assert planned("/app/spool", 'artifacts = [{ source = "/app", exclude = ["spool"] }]') == PLANNED


def test_what_is_kept_for_regrading_leaves_nothing_out(planned):
    kept = '[metadata.evalkit.grading]\nmode = "sealed"\nkeep = ["/app/spool"]\n'
    excluded = 'artifacts = [{ source = "/app", exclude = ["spool"] }]'
    with pytest.raises(ConfigError, match="which is graded"):
        planned("/app/spool", excluded, kept)


def test_a_working_directory_that_is_graded_as_it_is_left_has_no_disk_in_it(planned):
    with pytest.raises(
        ConfigError, match="the task grades the working directory /app as it is left"
    ) as refused:
        planned("/app/spool", "")
    assert "artifacts" in (refused.value.hint or "")


def test_a_disk_outside_the_working_directory_that_is_graded_can_be_full(planned):
    assert planned("/var/spool/jobs", "") == PLANNED


def test_a_task_that_is_graded_in_place_while_its_processes_live_keeps_its_disk(planned):
    assert planned("/app/spool", "", '[metadata.evalkit.grading]\nmode = "shared"\n') == PLANNED


def test_what_a_copied_folder_has_there_would_be_hidden(planned):
    with pytest.raises(ConfigError, match=r"copies /app/spool/first\.job there, which would be hidden"):
        planned(
            "/app/spool", environment__Dockerfile=COPIES, **{"environment__app__spool__first.job": "a job"}
        )


def test_a_file_that_only_keeps_a_folder_there_is_not_missed(planned):
    keeps = {"environment__app__spool__.gitkeep": "", "environment__app__tool": "a tool"}
    assert planned("/app/spool", environment__Dockerfile=COPIES, **keeps) == PLANNED


def test_what_a_step_brings_there_would_be_hidden(planned):
    files = {
        "steps__first__instruction.md": "Write.\n",
        "steps__first__workdir__spool__list": "1\n",
        "steps__first__tests__test.sh": "echo 1 > /logs/verifier/reward.txt\n",
    }
    with pytest.raises(ConfigError, match="a step brings /app/spool/list, which would be hidden"):
        planned("/app/spool", further='[[steps]]\nname = "first"\n', **files)


def test_a_disk_does_not_go_through_a_step_after_which_everything_is_halted(planned):
    steps = '[metadata.evalkit.grading]\nmode = "{}"\n[[steps]]\nname = "first"\n[[steps]]\nname = "second"\n'
    files = {
        f"steps__{step}__{name}": "echo 1 > /logs/verifier/reward.txt\n"
        for step in ("first", "second")
        for name in ("instruction.md", "tests__test.sh")
    }
    with pytest.raises(ConfigError, match="everything is halted after its step first"):
        planned("/var/spool/jobs", "", steps.format("snapshot"), **files)
    assert planned("/var/spool/jobs", "", steps.format("shared"), **files) == PLANNED
