"""Verdicts are printed and written where they were asked for, and all forms of one say the same."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.cli.gate_output import deliver, wanted_formats
from evalkit.errors import UsageError
from evalkit.gate.json_output import as_json
from evalkit.gate.junit_output import as_junit
from evalkit.gate.markdown_output import as_markdown
from evalkit.gate.markdown_text import prose
from evalkit.gate.text_output import as_text

OUTCOMES = ("pass", "inconclusive", "regressed", "not comparable")
FILES = {"gate.json", "gate.junit.xml", "gate.md", "gate.sarif"}


@pytest.fixture
def no_summary(monkeypatch):
    """Where these tests run in GitHub Actions, its own summary is left alone."""
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)


@pytest.fixture
def delivered(capsys, no_summary):
    """Deliver a verdict; returns what was printed, and what was said beside it."""

    def run(verdict, *formats, out=None, github=False, strict=False):
        deliver(verdict, wanted_formats(formats, out), out=out, github=github, strict=strict)
        return capsys.readouterr()

    return run


@pytest.mark.parametrize(
    ("name", "begins"),
    [("text", "PASS"), ("json", "{"), ("junit", "<?xml"), ("markdown", "<!--"), ("sarif", "{")],
)
def test_one_format_is_printed(build, delivered, name, begins):
    said = delivered(build.of("pass"), name)
    assert said.out.startswith(begins)
    assert said.err == ""


def test_several_formats_need_a_folder(build):
    with pytest.raises(UsageError, match="only one format can be printed"):
        wanted_formats(("json", "text"), None)


def test_a_format_that_is_not_known_is_answered_with_the_nearest(build):
    with pytest.raises(UsageError) as caught:
        wanted_formats(("juint",), None)
    assert "junit" in (caught.value.hint or "")


def test_files_are_written_and_text_is_printed(build, delivered, tmp_path):
    out = tmp_path / "made" / "here"
    said = delivered(build.of("regressed"), "json", "junit", out=out)
    assert said.out.startswith("REGRESSED")
    assert {path.name for path in out.iterdir()} == {"gate.json", "gate.junit.xml"}
    assert json.loads((out / "gate.json").read_text())["outcome"] == "regressed"


def test_a_folder_alone_gets_every_file(build, delivered, tmp_path):
    delivered(build.of("pass"), out=tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == FILES


def test_files_of_before_are_replaced(build, delivered, tmp_path):
    delivered(build.of("pass"), "json", out=tmp_path)
    delivered(build.of("regressed"), "json", out=tmp_path, strict=True)
    told = json.loads((tmp_path / "gate.json").read_text())
    assert (told["outcome"], told["strict"]) == ("regressed", True)
    assert {path.name for path in tmp_path.iterdir()} == {"gate.json"}


def test_a_folder_that_cannot_be_written_is_a_usage_error(build, delivered, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot write the verdict") as caught:
        delivered(build.of("pass"), "json", out=tmp_path / "file" / "below")
    assert "--out" in (caught.value.hint or "")


def test_somebody_else_s_folder_is_a_usage_error(build, delivered, tmp_path, somebody):
    with somebody(), pytest.raises(UsageError, match="cannot write the verdict"):
        delivered(build.of("pass"), "json", out=tmp_path)


def test_for_github_text_comes_first_and_then_the_annotations(build, delivered):
    lines = delivered(build.of("regressed"), github=True).out.splitlines()
    assert lines[0].startswith("REGRESSED")
    assert [line.split(" ")[0] for line in lines[-2:]] == ["::error", "::error"]


def test_in_github_actions_no_agent_s_name_is_obeyed(build, delivered, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    lines = delivered(build.verdict(build.agent("::error::all is lost"))).out.splitlines()
    assert lines[0].startswith("::stop-commands::")
    assert lines[-1] == f"::{lines[0].removeprefix('::stop-commands::')}::"


def test_for_github_a_format_for_programs_stays_clean(build, delivered):
    said = delivered(build.of("regressed"), "json", github=True)
    assert json.loads(said.out)["outcome"] == "regressed"
    assert said.err.startswith("::error title=evalkit gate::REGRESSED")


def test_for_github_the_summary_is_written(build, delivered, tmp_path, monkeypatch):
    summary = tmp_path / "summary"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    delivered(build.of("pass"), github=True)
    assert "PASS" in summary.read_text(encoding="utf-8")


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("outcome", OUTCOMES)
def test_all_forms_of_a_verdict_say_the_same(build, outcome, strict):
    assert_agree(build.of(outcome), outcome, strict=strict)


@pytest.mark.parametrize(
    ("tasks", "fails", "outcome"),
    [(80, 0, "pass"), (80, 4, "regressed"), (12, 0, "inconclusive"), (0, 0, "not comparable")],
)
def test_all_forms_of_a_judgement_say_the_same(side, verdict, tasks, fails, outcome):
    names = [f"t{number:02}" for number in range(tasks)]
    before = side({name: [1, 1, 1] for name in names or ["t"]}, name="old")
    now = side({name: [0 if fails and place % fails == 0 else 1] * 3 for place, name in enumerate(names)})
    assert_agree(verdict(now, before), outcome, strict=True)


def assert_agree(verdict, outcome, *, strict):
    code = verdict.exit_code(strict=strict)
    told = json.loads(as_json(verdict, strict=strict))
    root = ET.fromstring(as_junit(verdict, strict=strict))
    properties = {own.get("name"): own.get("value") for own in root[0].iter("property")}
    assert (told["outcome"], told["exit_code"], told["headline"]) == (outcome, code, verdict.headline)
    assert (properties["outcome"], properties["exit_code"]) == (outcome, str(code))
    assert as_text(verdict).splitlines()[:2] == [verdict.headline, verdict.advice]
    assert prose(verdict.headline) in as_markdown(verdict, strict=strict)
    bad = [
        case
        for case in root.iter("testcase")
        if case.get("classname") == "gate" and {"failure", "error"} & {child.tag for child in case}
    ]
    assert bool(bad) == (code != 0)


@given(data=st.data())
def test_no_name_adds_a_line_to_the_text(build, hostile, data):
    text = as_text(build.everywhere(data.draw(hostile)))
    assert len(text.splitlines()) == len(as_text(build.everywhere("a")).splitlines())
    text.encode("utf-8")
