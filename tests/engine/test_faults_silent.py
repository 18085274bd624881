"""A fault that tells a lie lets the call run, and the record knows the lie from the truth."""

from __future__ import annotations

import json

import pytest

from evalkit.engine.faults import canary
from evalkit.trajectory.step import Act, Event

SHOW = "echo done > out; printf 'rows: 2\\ntotal: 1250.75\\n'"
TRUTH = "rows: 2\ntotal: 1250.75\n"
NUMBER = canary.like("1250.75", "one", "lie", TRUTH)
WORD = canary.word("one", "lie")
SHOWN = {
    "partial": "rows: 2\n",
    "empty": "",
    "wrong_value": f"rows: 2\ntotal: {NUMBER}\n",
    "schema_drift": f"{WORD}:\n  rows: 2\n  total: 1250.75\n",
    "garbled": f"rows: 2{WORD}1250.75\n".replace(WORD, WORD),
}


def fault(kind: str, more: str = "", *, when: str = 'matches = "printf"') -> str:
    return f'[[metadata.evalkit.faults]]\nid = "lie"\nkind = "{kind}"\nwhen = {{ {when} }}\n{more}\n'


def acts_of(steps):
    return [step for step in steps if isinstance(step, Act) and step.tool == "bash"]


def faults_of(steps):
    return [json.loads(step.detail) for step in steps if isinstance(step, Event) and step.event == "fault"]


@pytest.mark.parametrize("kind", ["partial", "empty", "wrong_value", "schema_drift"])
def test_each_kind_lies_once_and_the_clean_arm_hears_the_truth(play_faulted, kind):
    variants = play_faulted(fault(kind), SHOW, SHOW)
    struck, after = acts_of(variants["lie"][1])
    assert struck.observation == f"{SHOWN[kind]}[exit code 0]\n"
    assert (struck.stdout, struck.exit_code, struck.error_kind) == (SHOWN[kind], 0, None)
    assert (struck.fault_id, after.fault_id, after.stdout) == ("lie", None, TRUTH)
    (told,) = faults_of(variants["lie"][1])
    marks = {"wrong_value": NUMBER, "schema_drift": WORD}
    assert (told["canary"], told["true_stdout"], told["loud"]) == (marks.get(kind), TRUTH, False)
    assert [act.stdout for act in acts_of(variants["clean"][1])] == [TRUTH, TRUTH]
    assert variants["lie"][0].status == "passed"


@pytest.mark.parametrize("loud", [False, True])
def test_garbled_output_holds_the_canary_and_says_so_where_it_is_loud(play_faulted, loud):
    _, steps = play_faulted(fault("garbled", "loud = true" if loud else ""), SHOW)["lie"]
    (act,) = acts_of(steps)
    assert (WORD in act.stdout, len(act.stdout)) == (True, len(TRUTH))
    said = ("checksum mismatch\n", 1) if loud else ("", 0)
    assert (act.stderr, act.exit_code) == said


def test_a_loud_partial_result_says_that_it_is_truncated(play_faulted):
    _, steps = play_faulted(fault("partial", "loud = true"), SHOW)["lie"]
    (act,) = acts_of(steps)
    assert act.observation == "rows: 2\n[stderr]\ntruncated\n[exit code 1]\n"


def test_a_stale_result_is_what_the_same_call_showed_before(play_faulted):
    count = "date +%N >> log; wc -l < log; true printf"
    _, steps = play_faulted(fault("stale"), count, count, count)["lie"]
    first, second, third = acts_of(steps)
    assert [act.stdout for act in (first, second, third)] == ["1\n", "1\n", "3\n"]
    assert [act.fault_id for act in (first, second, third)] == [None, "lie", None]
    unseen, seen = faults_of(steps)
    assert (unseen["visible"], unseen["strike"]) == (False, 1)
    assert (seen["visible"], seen["strike"], seen["true_stdout"]) == (True, 1, "2\n")


def test_what_the_author_calls_the_canary_is_the_canary(play_faulted):
    _, steps = play_faulted(fault("wrong_value", 'canary = "99123.40"'), SHOW)["lie"]
    assert acts_of(steps)[0].stdout == "rows: 2\ntotal: 99123.40\n"
    assert faults_of(steps)[0]["canary"] == "99123.40"


@pytest.mark.parametrize(
    ("kind", "line", "reason"),
    [
        ("partial", "printf x", "too little was printed to be cut"),
        ("empty", ": printf", "nothing was printed"),
        ("garbled", ": printf", "nothing was printed"),
        ("wrong_value", "printf %s ---", "what was printed holds no value of its own"),
        (
            "schema_drift",
            "printf 'a sentence'",
            "what was printed is neither JSON, nor a table, nor key and value lines",
        ),
        ("stale", "printf x", "there was no earlier observation of the same call that was different"),
        ("empty", "printf x; exit 3", "the call itself ended with exit code 3"),
    ],
)
def test_a_fault_that_changes_nothing_in_the_observation_has_not_fired(play_faulted, kind, line, reason):
    trial, steps = play_faulted(fault(kind), line)["lie"]
    (act,) = acts_of(steps)
    met, end = faults_of(steps)
    assert (act.fault_id, met["visible"], trial.faults_planned, trial.faults_fired) == (None, False, 1, 0)
    assert end == {"id": "lie", "kind": kind, "fired": False, "reason": reason}


def test_what_the_model_cannot_see_has_not_fired(play_faulted):
    line = "seq 1 99999 | tr '\\n' ' '; printf 'x 7 y'; seq 1 99999 | tr '\\n' ' '; echo"
    settings = 'output_bytes = 100\nkeep = "head"'
    trial, steps = play_faulted(fault("wrong_value"), line, settings=settings)["lie"]
    assert (acts_of(steps)[0].fault_id, trial.faults_fired) == (None, 0)
