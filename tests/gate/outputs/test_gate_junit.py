"""A verdict as JUnit's XML."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.gate.junit_output import as_junit
from evalkit.gate.policy import MetricRule
from evalkit.gate.verdict import Problem


def read(text: str) -> ET.Element:
    text.encode("ascii")
    return ET.fromstring(text)


def result(case: ET.Element) -> str:
    """`passed`, or which other result a case has."""
    found = [child.tag for child in case if child.tag in ("failure", "error", "skipped")]
    assert len(found) <= 1
    return found[0] if found else "passed"


def only(root: ET.Element, name: str) -> ET.Element:
    (case,) = [case for case in root.iter("testcase") if case.get("name") == name]
    return case


def test_there_is_a_suite_for_the_comparison_and_one_for_each_agent(build):
    root = read(as_junit(build.verdict(build.agent("a"), build.agent("b")), strict=False))
    assert [suite.get("name") for suite in root] == ["evalkit gate", "a", "b"]
    cases = [(case.get("classname"), case.get("name")) for case in root[1].iter("testcase")]
    assert cases == [("gate", "success"), ("core", "fix-off-by-one")]


@pytest.mark.parametrize(
    ("task", "expected", "message"),
    [
        ({"passed": "1/4", "before": "3/4"}, "failure", "passed 1 of 4 (baseline 3 of 4)"),
        ({"passed": "2/4", "before": "3/4"}, "passed", None),
        (
            {"passed": "0/0"},
            "error",
            "nothing of it is scored, 4 unscored (baseline 4 of 4)",
        ),
        (
            {"passed": "0/4", "before": "0/4", "known_failing": True},
            "skipped",
            "known to fail; passed 0 of 4 (baseline 0 of 4)",
        ),
        ({"passed": "0/1", "before": "0/0"}, "failure", "passed 0 of 1 (baseline nothing of it scored)"),
    ],
)
def test_a_task_fails_where_less_than_half_of_its_trials_passed(build, task, expected, message):
    root = read(as_junit(build.verdict(build.agent(tasks=(build.task(**task),))), strict=False))
    case = only(root, "fix-off-by-one")
    assert result(case) == expected
    assert [child.get("message") for child in case] == ([] if message is None else [message])


def test_a_fault_stands_in_the_name(build):
    agent = build.agent(tasks=(build.task(variant="disk-full"),))
    assert only(read(as_junit(build.verdict(agent), strict=False)), "fix-off-by-one [disk-full]") is not None


@pytest.mark.parametrize(
    ("outcome", "strict", "expected"),
    [
        ("pass", False, "passed"),
        ("regressed", False, "failure"),
        ("not comparable", False, "error"),
        ("inconclusive", False, "skipped"),
        ("inconclusive", True, "failure"),
    ],
)
def test_a_metric_tells_its_verdict_with_reason_and_figures(build, outcome, strict, expected):
    root = read(as_junit(build.verdict(build.agent(metrics=(build.metric(outcome),))), strict=strict))
    case = only(root, "success")
    assert result(case) == expected
    said = "".join(case.itertext())
    assert "success fell by 1 points" in said
    assert "difference -1.0 points" in said


def test_an_event_and_a_required_task_are_cases(build):
    agent = build.agent(zero=(build.zero(build.event()),), required=(build.required("regressed"),))
    root = read(as_junit(build.verdict(agent), strict=False))
    event = only(root, "zero tolerance: tamper_confirmed")
    assert result(event) == "failure"
    assert "fix-off-by-one.oracle (core/fix-off-by-one), steps 3, 7: the tests were edited" in event[0].text
    required = only(root, "required: core/fix-off-by-one")
    assert required[0].get("message") == "core/fix-off-by-one passed 1 of 4 times, and 3 of 4 is asked for"


def test_what_cannot_be_compared_is_an_error(build):
    root = read(as_junit(build.of("not comparable"), strict=False))
    case = only(root, "the two runs can be compared")
    assert result(case) == "error"
    assert case[0].get("message") == "the grader of core/a has changed"
    assert root.get("errors") == "1"


def test_the_counts_are_those_of_the_cases(build):
    rule = MetricRule(name="output_tokens", kind="ratio", margin=1.15)
    agent = build.agent(
        metrics=(build.metric("regressed"), build.metric("inconclusive", rule=rule)),
        tasks=(build.task("0/4"), build.task("0/0", task_id="b"), build.task(task_id="c")),
    )
    root = read(as_junit(build.verdict(agent, build.agent("b")), strict=False))
    for suite in root:
        results = [result(case) for case in suite.iter("testcase")]
        assert suite.get("tests") == str(len(results))
        for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert suite.get(name) == str(results.count(tag))
    assert [root.get(name) for name in ("tests", "failures", "errors")] == ["8", "2", "1"]


@given(data=st.data())
def test_any_name_gives_well_formed_xml(build, hostile, data):
    name = data.draw(hostile)
    root = read(as_junit(build.everywhere(name), strict=False))
    assert root.get("tests") == str(len(list(root.iter("testcase"))))
    for element in root.iter():
        assert element.tag in {
            *("testsuites", "testsuite", "testcase", "properties", "property"),
            *("failure", "error", "skipped", "system-out"),
        }


def test_long_names_are_cut_and_stay_apart(build):
    long = "x" * 65_536
    agent = build.agent(tasks=tuple(build.task(task_id=f"{long}{end}") for end in "ab"))
    names = [
        case.get("name") for case in read(as_junit(build.verdict(agent), strict=False))[1].iter("testcase")
    ]
    assert len(set(names)) == 3
    assert max(map(len, names)) == 1000


def test_the_same_verdict_gives_the_same_bytes(build):
    assert as_junit(build.everywhere("a"), strict=False) == as_junit(build.everywhere("a"), strict=False)


def test_a_problem_without_agents_is_told(build):
    root = read(as_junit(build.verdict(problems=(Problem(what="no trials", hint="Run it."),)), strict=False))
    assert [root.get(name) for name in ("tests", "failures", "errors")] == ["1", "0", "1"]
