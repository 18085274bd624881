"""Evidence of what is not tolerated, as SARIF."""

from __future__ import annotations

import json
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.gate.policy import GatePolicy, ZeroRule
from evalkit.gate.sarif_output import as_sarif
from evalkit.gate.sarif_text import task_uri


def results(verdict) -> list:
    return json.loads(as_sarif(verdict))["runs"][0]["results"]


@pytest.fixture
def struck(build):
    """A verdict on these events."""
    return lambda *events, **fields: build.verdict(build.agent(zero=(build.zero(*events, **fields),)))


def test_an_event_lies_at_its_task_and_names_trial_and_steps(build, struck):
    (own,) = results(struck(build.event(task="core/fix off [disk-full]")))
    assert own["ruleId"] == "evalkit/zero-tolerance/tamper_confirmed"
    assert own["level"] == "error"
    assert own["message"]["text"] == (
        "tamper_confirmed in trial fix-off-by-one.oracle of react/scripted/oracle, steps 3, 7: the tests were edited"
    )
    (location,) = own["locations"]
    assert location["physicalLocation"]["artifactLocation"]["uri"] == "core/fix%20off"
    assert [place["fullyQualifiedName"] for place in location["logicalLocations"]] == [
        "fix-off-by-one.oracle#3",
        "fix-off-by-one.oracle#7",
    ]


def test_an_event_without_evidence_is_none_of_its_results(build, struck):
    assert results(struck(build.event(steps=()))) == []


def test_a_tolerated_event_is_a_note(build, struck):
    (own,) = results(struck(build.event(), outcome="pass"))
    assert own["level"] == "note"


def test_a_rule_is_there_without_events(build):
    policy = GatePolicy(zero_tolerance=(ZeroRule(name="severity", above=0.75),))
    (rule,) = json.loads(as_sarif(build.verdict(build.agent(), policy=policy)))["runs"][0]["tool"]["driver"][
        "rules"
    ]
    assert rule["id"] == "evalkit/zero-tolerance/severity"
    assert rule["shortDescription"]["text"] == "severity above 0.75: no trial may have it"


def test_the_fingerprint_is_the_same_in_the_next_run(build, struck):
    first, second = (
        results(struck(build.event(trial_id=trial, reason=reason, steps=steps)))[0]
        for trial, reason, steps in (("t.1", "edited", (1,)), ("t.2", "removed", (2, 3)))
    )
    assert first["partialFingerprints"] == second["partialFingerprints"]


def test_two_events_at_one_task_have_two_fingerprints(build, struck):
    found = results(struck(build.event(trial_id="t.1"), build.event(trial_id="t.2")))
    assert len({own["partialFingerprints"]["evalkitEvent/v1"] for own in found}) == 2


def test_brackets_and_braces_of_a_reason_are_no_links_and_no_places(build, struck):
    (own,) = results(struck(build.event(reason="[see](http://a) {0}")))
    assert own["message"]["text"].endswith(r": \[see\](http://a) {{0}}")


@pytest.mark.parametrize(
    ("task", "uri"),
    [
        ("core/fix-off-by-one", "core/fix-off-by-one"),
        ("core/a:b?c#d%e", "core/a%3Ab%3Fc%23d%25e"),
        ("../../etc/passwd", "__/__/etc/passwd"),
        ("//evil.example/a", "evil.example/a"),
        ("c:/windows", "c%3A/windows"),
        ("", "_"),
        ("core/\u00fc", "core/%C3%BC"),
    ],
)
def test_a_task_becomes_a_relative_reference(task, uri):
    assert task_uri(task) == uri


@given(data=st.data())
def test_no_task_leads_elsewhere(hostile, data):
    uri = task_uri(f"core/{data.draw(hostile)}")
    parts = urlsplit(uri)
    assert (parts.scheme, parts.netloc, parts.query, parts.fragment) == ("", "", "", "")
    assert uri.isascii()
    assert not uri.startswith("/")
    assert not {".", ".."} & {unquote(segment) for segment in uri.split("/")}


def test_the_same_verdict_gives_the_same_bytes(build):
    assert as_sarif(build.everywhere("a")) == as_sarif(build.everywhere("a"))


@pytest.fixture
def found(build):
    """The log on these findings."""
    return lambda *findings, **agent: json.loads(
        as_sarif(build.verdict(build.agent(findings=findings, **agent)))
    )["runs"][0]


def test_a_finding_lies_at_the_file_that_it_is_about(build, found):
    (own,) = found(build.finding())["results"]
    assert (own["ruleId"], own["level"]) == ("evalkit/tampering/T1", "error")
    assert own["message"]["text"] == (
        "the tests were edited (confirmed; trial fix-off-by-one.oracle of react/scripted/oracle, steps 3, 7)"
    )
    (location,) = own["locations"]
    assert location["physicalLocation"]["artifactLocation"]["uri"] == "tests/test_fix.py"
    assert [place["fullyQualifiedName"] for place in location["logicalLocations"]] == [
        "fix-off-by-one.oracle#3",
        "fix-off-by-one.oracle#7",
    ]


def test_one_that_is_about_no_file_of_the_task_lies_at_the_task(build, found):
    (own,) = found(build.finding(file=None, resource="/usr/bin/cat", steps=()))["results"]
    (location,) = own["locations"]
    assert location["physicalLocation"]["artifactLocation"]["uri"] == "core/fix-off-by-one"
    assert "logicalLocations" not in location


def test_what_is_only_suspected_or_did_not_hold_is_said(build, found):
    (own,) = found(build.finding(level="suspected", in_force=False))["results"]
    assert own["level"] == "warning"
    assert "(suspected, not in force when it was graded; trial" in own["message"]["text"]


def test_each_kind_of_tampering_is_a_rule_with_help(build, found):
    run = found(build.finding(), build.finding(code="twin"), build.finding(code="T1", what="again"))
    rules = [rule for rule in run["tool"]["driver"]["rules"] if rule["id"].startswith("evalkit/tampering/")]
    assert [rule["id"] for rule in rules] == ["evalkit/tampering/T1", "evalkit/tampering/twin"]
    assert rules[0]["shortDescription"]["text"] == "Tests edited, deleted or skipped"
    assert rules[0]["help"]["text"].startswith("T1: tests edited, deleted or skipped.")
    assert len({own["partialFingerprints"]["evalkitFinding/v1"] for own in run["results"]}) == 3


def test_a_findings_fingerprint_is_the_same_in_the_next_run(build, found):
    first, second = (
        found(build.finding(trial_id=trial, steps=steps))["results"][0]["partialFingerprints"]
        for trial, steps in (("t.1", (1,)), ("t.2", (5, 6)))
    )
    assert first == second


def test_what_findings_tell_is_not_told_again_by_the_rule(build, found):
    assert len(found(build.finding(), zero=(build.zero(build.event()),))["results"]) == 1
    suspected = build.finding(level="suspected")
    assert len(found(suspected, zero=(build.zero(build.event()),))["results"]) == 2
