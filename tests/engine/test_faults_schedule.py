"""When a fault strikes and when it ends is data: calls are counted, and the same calls are always struck."""

from __future__ import annotations

import json

import pytest

from evalkit.engine.faults import condition
from evalkit.tasks import pattern
from evalkit.trajectory.step import Act, Event

WRITE = "echo done > out"


def fault(more: str, *, kind: str = "error_500", when: str = 'matches = "echo"') -> str:
    return f'[[metadata.evalkit.faults]]\nid = "f"\nkind = "{kind}"\nwhen = {{ {when} }}\n{more}\n'


def struck(recorded) -> list[bool]:
    _, steps = recorded
    return [step.fault_id is not None for step in steps if isinstance(step, Act) and step.tool == "bash"]


@pytest.mark.parametrize(
    ("when", "more", "expected"),
    [
        ('matches = "echo"', "", [True, False, False, False]),
        ('matches = "echo", nth = 2', "", [False, False, True, False]),
        ('matches = "echo", nth = 2', "times = 2", [False, False, True, True]),
        ("", "times = 3", [True, True, True, False]),
        ('tool = "python"', "", [False] * 4),
        ('matches = "out$"', "times = 9", [True, False, False, True]),
    ],
)
def test_matching_calls_are_counted_from_the_first(play_faulted, when, more, expected):
    lines = [WRITE, "ls", "echo more", WRITE]
    assert struck(play_faulted(fault(more, when=when), *lines)["f"]) == expected


def test_a_fault_ends_when_its_condition_holds(play_faulted):
    lines = [WRITE, WRITE, "touch unlocked", WRITE, "rm unlocked", WRITE]
    recorded = play_faulted(fault('until = "test -e unlocked"', kind="permission"), *lines)["f"]
    assert struck(recorded) == [True, True, False, False, False, False]


def test_asking_for_the_condition_is_no_step(play_faulted):
    recorded = play_faulted(fault('until = "echo x; test -e out"'), WRITE, "touch out", WRITE)["f"]
    texts = [step.observation for step in recorded[1] if isinstance(step, Act)]
    assert [text for text in texts if text and "x" in text.split("\n")] == []
    assert len(texts) == 4


def test_a_fault_whose_end_comes_first_has_not_fired(play_faulted):
    trial, steps = play_faulted(fault('until = "true"'), WRITE)["f"]
    reason = [
        json.loads(step.detail)["reason"]
        for step in steps
        if isinstance(step, Event) and step.event == "fault"
    ]
    assert (trial.faults_fired, reason) == (0, ["its end had come before it could strike: true"])


def told(recorded) -> list[dict]:
    return [json.loads(one.detail) for one in recorded[1] if isinstance(one, Event) and one.event == "fault"]


def test_what_until_takes_is_not_the_agents_time(play_faulted):
    recorded = play_faulted(fault('until = "sleep 3; false"'), WRITE, time_limit_s=2.5)["f"]
    trial, _ = recorded
    assert (trial.stop_reason, trial.faults_fired, struck(recorded)) == ("submitted", 1, [True])
    assert trial.agent_s - trial.retry_s < 2.5 < 3 <= trial.retry_s


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("no-such-program --ask", "exit code 127: "),
        ("test -e ((fixed", "exit code 126: "),
        ("/etc/passwd", "exit code 126: "),
    ],
)
def test_a_condition_that_cannot_be_asked_is_said_at_the_end(play_faulted, line, said):
    _, _, end = told(play_faulted(fault(f'until = "{line}"'), WRITE, WRITE)["f"])
    assert end.pop("until_failed").startswith(said)
    assert end == {"id": "f", "kind": "error_500", "fired": True}


def test_a_condition_that_does_not_end_is_stopped_and_said(play_faulted, monkeypatch):
    monkeypatch.setattr(condition, "UNTIL_S", 1.0)
    recorded = play_faulted(fault('until = "sleep 60"'), WRITE)["f"]
    assert struck(recorded) == [True]
    assert told(recorded)[-1]["until_failed"] == "it did not end within 1 s"


def test_a_condition_that_can_be_asked_later_is_no_trouble(play_faulted):
    install = "printf '#!/bin/sh\\n' > mine; chmod +x mine"
    recorded = play_faulted(fault('until = "./mine"'), WRITE, install, WRITE)["f"]
    assert struck(recorded) == [True, False, False]
    assert ["until_failed" in one for one in told(recorded)] == [False]


def test_a_condition_that_does_not_hold_is_no_trouble(play_faulted):
    assert len(told(play_faulted(fault('until = "exit 3"'), WRITE)["f"])) == 1


def test_no_command_line_shows_the_condition(play_faulted):
    peek = "test -e secret-name; cat /proc/[0-9]*/cmdline | tr '\\\\0' ' ' > seen; false"
    show = "grep -c secret-name seen; echo"
    recorded = play_faulted(fault(f'until = "{peek}"', when='matches = "^ls"'), "ls", show)["f"]
    seen = next(step for step in recorded[1] if isinstance(step, Act) and "seen" in (step.arguments or ""))
    assert seen.stdout == "0\n\n"


def test_a_strike_whose_wait_outlasts_the_agents_time_has_struck(play_faulted):
    recorded = play_faulted(fault("wait_s = 30", kind="timeout"), WRITE, time_limit_s=2)["f"]
    trial, steps = recorded
    (act,) = (step for step in steps if isinstance(step, Act))
    assert (trial.stop_reason, trial.faults_fired) == ("time_limit", 1)
    assert (act.fault_id, act.error_kind, act.observation) == ("f", "limit", None)
    assert [(one["strike"], one["visible"]) for one in told(recorded)] == [(1, True)]
    assert [step.parent_step for step in steps if isinstance(step, Event) and step.event == "fault"] == [
        act.step
    ]


def test_a_search_that_was_stopped_is_told_from_one_that_found_nothing(play_faulted, monkeypatch):
    monkeypatch.setattr(pattern, "SEARCH_S", 0.3)
    endless = fault("", when='matches = "(a|aa)+!"')
    (end,) = told(play_faulted(endless, f": {'a' * 80}", WRITE, f": {'a' * 80}")["f"])
    assert end["reason"].startswith(
        "it strikes the 1st call that matches '(a|aa)+!', and there were 0 that it was found in; its search was stopped"
    )
    assert " 2 times, so nobody knows" in end["reason"]


def test_the_tools_that_were_called_are_named_where_the_one_that_is_struck_was_not(play_faulted):
    (end,) = told(play_faulted(fault("", when='tool = "bsh"'), WRITE)["f"])
    assert end["reason"] == (
        "it strikes the 1st call of bsh, and there were 0; no tool of that name was called, only bash; "
        "did you mean bash?"
    )


def test_a_rate_limit_holds_until_its_time_has_passed(play_faulted):
    limit = fault("retry_after_s = 1", kind="rate_limit")
    lines = [WRITE, WRITE, "sleep 1.1", WRITE]
    assert struck(play_faulted(limit, *lines)["f"]) == [True, True, False, False]


def test_a_timeout_waits_and_its_wait_is_time_of_the_tool(play_faulted):
    trial, steps = play_faulted(fault("wait_s = 0.2", kind="timeout"), WRITE, WRITE)["f"]
    first = next(step for step in steps if isinstance(step, Act))
    assert first.duration_s >= 0.2
    assert trial.tool_s >= 0.2


def test_a_timeout_lasts_no_longer_than_the_tool_settings_let_it(play_faulted):
    patient = fault("wait_s = 3000", kind="timeout")
    _, steps = play_faulted(patient, WRITE, WRITE, settings="timeout_s = 0.3")["f"]
    first = next(step for step in steps if isinstance(step, Act))
    assert first.observation == "[timed out after 0.3 s; it was stopped with everything it had started]\n"


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        (
            "error_500",
            {
                "kind": "unavailable",
                "message": "500 Internal Server Error",
                "hint": "The service may be back in a moment: run it again.",
                "exit_code": 1,
            },
        ),
        (
            "rate_limit",
            {
                "kind": "rate_limited",
                "message": "429 Too Many Requests, retry-after: 1",
                "hint": "Wait 1 seconds, then run it again.",
                "retry_after_s": 1.0,
                "exit_code": 1,
            },
        ),
        (
            "permission",
            {
                "kind": "permission",
                "message": "permission denied",
                "hint": "Find out who may do this and put that right, then run it again.",
                "exit_code": 126,
            },
        ),
        (
            "timeout",
            {
                "kind": "timeout",
                "message": "timed out after 120 s; it was stopped with everything it had started",
                "hint": "Run it again. Where it runs out of time again, run it in the background or split it up.",
                "exit_code": 137,
            },
        ),
    ],
)
def test_a_structured_error_says_what_helps(play_faulted, kind, error):
    planned = fault("fast = true" if kind == "timeout" else "", kind=kind)
    _, steps = play_faulted(planned, WRITE, settings='errors = "structured"')["f"]
    first = next(step for step in steps if isinstance(step, Act))
    assert json.loads(first.observation)["error"] == error


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("error_500", "exit code 1\n"),
        ("permission", "exit code 126\n"),
        ("timeout", "timed out after 120 s; it was stopped with everything it had started\n"),
    ],
)
def test_a_terse_error_says_no_more_than_of_any_failure(play_faulted, kind, said):
    planned = fault("fast = true" if kind == "timeout" else "", kind=kind)
    _, steps = play_faulted(planned, WRITE, settings='errors = "terse"')["f"]
    assert next(step for step in steps if isinstance(step, Act)).observation == said
