"""A verdict as JSON."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.gate.json_output import as_json


def read(text: str):
    """Strictly: as every other reader of JSON does."""
    text.encode("ascii")
    return json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def test_it_says_the_outcome_and_the_exit_code_first(build):
    told = read(as_json(build.of("inconclusive"), strict=True))
    assert list(told)[:7] == ["format", "version", "outcome", "strict", "exit_code", "headline", "advice"]
    assert (told["outcome"], told["exit_code"], told["strict"]) == ("inconclusive", 4, True)
    assert read(as_json(build.of("inconclusive"), strict=False))["exit_code"] == 0


def test_its_keys_are_those_that_are_documented(build):
    agent = build.agent(zero=(build.zero(build.event()),), required=(build.required(),))
    told = read(as_json(build.verdict(agent), strict=False))
    assert set(told) == {
        *("format", "version", "outcome", "strict", "exit_code", "headline", "advice", "candidate", "baseline"),
        *("policy", "agents", "problems", "warnings"),
    }  # fmt: skip
    assert set(told["candidate"]) == {"name", "runs", "suites", "trials", "unscored", "missing", "epochs"}
    (own,) = told["agents"]
    assert set(own) == {
        *("candidate", "baseline", "outcome", "changes", "metrics", "zero_tolerance", "required", "tasks"),
        "findings",
    }
    assert own["outcome"] == "regressed"
    assert own["zero_tolerance"][0]["events"] == [
        {
            "trial_id": "fix-off-by-one.oracle",
            "task": "core/fix-off-by-one",
            "value": 1.0,
            "steps": [3, 7],
            "reason": "the tests were edited",
            "codes": [],
        }
    ]
    assert told["policy"]["metrics"] == [
        {"metric": "success", "arm": "clean", "limit": "max_drop", "margin": 0.05}
    ]
    assert (own["required"][0]["pass"], own["required"][0]["passed"]) == ("3/4", 4)
    assert own["tasks"][0]["candidate"] == {"passed": 4, "scored": 4, "unscored": 0}


def test_what_is_unknown_is_null(build):
    metric = build.metric("not comparable", baseline=None, candidate=None, difference=None, low=None, p=None)
    own = read(as_json(build.verdict(build.agent(metrics=(metric,))), strict=False))["agents"][0]["metrics"][
        0
    ]
    assert [own[key] for key in ("baseline", "difference", "low", "p", "tasks_needed")] == [None] * 5


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_what_is_no_finite_number_is_null(build, value):
    metric = build.metric(difference=value, high=value)
    event = build.event(value=value)
    verdict = build.verdict(build.agent(metrics=(metric,), zero=(build.zero(event),)))
    (own,) = read(as_json(verdict, strict=False))["agents"]
    assert own["metrics"][0]["difference"] is own["metrics"][0]["high"] is None
    assert own["zero_tolerance"][0]["events"][0]["value"] is None


@given(data=st.data())
def test_any_name_gives_json_that_can_be_stored(build, hostile, data):
    name = data.draw(hostile)
    told = read(as_json(build.everywhere(name), strict=False))
    json.dumps(told, ensure_ascii=False).encode("utf-8")
    if name.isascii():
        assert told["agents"][0]["candidate"] == name


def test_the_same_verdict_gives_the_same_bytes(build):
    suites = {"core": "1", "recovery": None}
    first, second = (
        build.verdict(build.agent(), candidate=build.side(suites=dict(order)))
        for order in (suites.items(), reversed(suites.items()))
    )
    assert as_json(first, strict=False) == as_json(second, strict=False)


def test_evidence_of_tampering_is_told_whole(build):
    event = build.event(codes=("T1",))
    agent = build.agent(zero=(build.zero(event),), findings=(build.finding(),))
    (own,) = read(as_json(build.verdict(agent), strict=False))["agents"]
    assert own["zero_tolerance"][0]["events"][0]["codes"] == ["T1"]
    assert own["findings"] == [
        {
            "trial_id": "fix-off-by-one.oracle",
            "task": "core/fix-off-by-one",
            "code": "T1",
            "level": "confirmed",
            "what": "the tests were edited",
            "steps": [3, 7],
            "in_force": True,
            "resource": "/app/tests/test_fix.py",
            "source": "record",
        }
    ]
