"""A loud fault keeps a call from running, says so as the tool settings want it, and leaves the clean arm alone."""

from __future__ import annotations

import json

import pytest

from evalkit.trajectory.step import Act, Event


def fault(kind: str, more: str = "", *, when: str = 'tool = "bash", matches = "echo"') -> str:
    return f'[[metadata.evalkit.faults]]\nid = "flaky"\nkind = "{kind}"\nwhen = {{ {when} }}\n{more}\n'


def acts_of(steps):
    return [step for step in steps if isinstance(step, Act) and step.tool == "bash"]


def faults_of(steps):
    return [
        (step.parent_step, json.loads(step.detail))
        for step in steps
        if isinstance(step, Event) and step.event == "fault"
    ]


WRITE = "echo done > out; cat out"
PLAIN = {
    "error_500": "[stderr]\n500 Internal Server Error\n[exit code 1]\n",
    "rate_limit": "[stderr]\n429 Too Many Requests, retry-after: 1\n[exit code 1]\n",
    "permission": "[stderr]\nsh: permission denied\n[exit code 126]\n",
    "timeout": "[timed out after 120 s; it was stopped with everything it had started]\n",
}
KINDS = {
    "error_500": "unavailable",
    "rate_limit": "rate_limited",
    "permission": "permission",
    "timeout": "timeout",
}


@pytest.mark.parametrize("kind", PLAIN)
def test_each_kind_strikes_once_and_the_clean_arm_is_untouched(play_faulted, kind):
    variants = play_faulted(fault(kind, "fast = true" if kind == "timeout" else ""), WRITE, WRITE)
    (trial, steps), (clean, clean_steps) = variants["flaky"], variants["clean"]
    struck, after = acts_of(steps)
    assert (struck.observation, struck.error_kind, struck.fault_id) == (PLAIN[kind], KINDS[kind], "flaky")
    assert (after.observation, after.error_kind, after.fault_id) == ("done\n[exit code 0]\n", None, None)
    assert (trial.faults_planned, trial.faults_fired, trial.status) == (1, 1, "passed")
    assert [act.observation for act in acts_of(clean_steps)] == ["done\n[exit code 0]\n"] * 2
    assert (clean.faults_planned, clean.faults_fired, faults_of(clean_steps)) == (0, 0, [])


def test_a_struck_call_does_not_run(play_faulted):
    _, steps = play_faulted(fault("error_500"), WRITE, "ls")["flaky"]
    assert acts_of(steps)[1].observation == "[exit code 0]\n"


def test_the_event_after_the_call_says_what_the_fault_did(play_faulted):
    _, steps = play_faulted(fault("rate_limit", "retry_after_s = 0.5\ntimes = 2"), WRITE, WRITE, WRITE)[
        "flaky"
    ]
    acts = acts_of(steps)
    assert [act.fault_id for act in acts] == ["flaky", "flaky", None]
    assert acts[0].stderr == "429 Too Many Requests, retry-after: 0.5\n"
    whole = {
        "id": "flaky",
        "kind": "rate_limit",
        "loud": True,
        "visible": True,
        "canary": None,
        "retry_after_s": 0.5,
        "true_stdout": None,
    }
    assert faults_of(steps) == [
        (acts[0].step, {**whole, "strike": 1}),
        (acts[1].step, {**whole, "strike": 2}),
    ]


def test_the_variant_stands_in_the_trials_id_unless_it_is_clean(play_faulted):
    variants = play_faulted(fault("permission"), WRITE, WRITE)
    assert variants["flaky"][0].trial_id.startswith("one.flaky.")
    assert not variants["clean"][0].trial_id.startswith("one.clean")
