"""Every bundled scorer once, on a trial that can be worked out by hand."""

from __future__ import annotations

import dataclasses
import math

import pytest

from evalkit.scoring.facts import FaultFacts, TaskFacts
from evalkit.trajectory.effect import Effect

DOWN = {"exit_code": 7, "error_kind": "unavailable"}
WRONG = FaultFacts(id="price", kind="wrong_value", loud=False, canary="48213")
STRUCK = {"id": "price", "kind": "wrong_value", "loud": False, "visible": True, "canary": "48213"}


def test_recovery(trial, scores):
    """The fetch fails twice and works; the script fails, and is never tried again; the test may fail."""
    found = scores(
        "recovery+retrying",
        trial(
            ("curl http://h/a", DOWN),
            ("python3 x.py", {"exit_code": 1}),
            ("curl http://h/a", DOWN),
            ("pytest t.py", {"exit_code": 1}),
            "curl http://h/a",
        ),
    )
    assert {name: score.value for name, score in found.items()} == {
        "episodes": 2,
        "recovered": 1,
        "abandoned": 1,
        "retries": 2,
        "retry_storms": 0,
        "futile_repeats": 0,
        "failing_tests": 1,
        "recovery_rate": 0.5,
        "abandonment_rate": 0.5,
        "recovered_success": 1.0,
    }
    assert found["episodes"].evidence == (1, 3)
    assert found["recovered"].evidence == (9,)
    assert found["retries"].evidence == (5, 9)
    assert found["recovery_rate"].reason == "1 of 2 episodes were put right"


def test_where_nothing_failed_there_is_no_recovery_rate(trial, values):
    found = values("recovery+retrying", trial("ls"))
    assert found["episodes"] == 0
    assert "recovery_rate" not in found
    assert "recovered_success" not in found


def test_a_retry_that_does_not_wait_as_asked_is_a_storm(trial, values):
    limited = {"exit_code": 1, "error_kind": "rate_limited", "fault_id": "busy"}
    asked = {"id": "busy", "kind": "rate_limit", "loud": True, "visible": True, "retry_after_s": 3}
    at_once = trial(("curl http://h/a", limited), "curl http://h/a", events=[("fault", asked, 1)])
    after_a_call = trial(
        ("curl http://h/a", limited), "sleep 3", "curl http://h/a", events=[("fault", asked, 1)]
    )
    assert values("recovery+retrying", at_once)["retry_storms"] == 1
    assert values("recovery+retrying", after_a_call)["retry_storms"] == 0


def test_a_milestone_closes_what_is_open(trial, values):
    facts = TaskFacts(milestones=("unit",))
    reached = [("checkpoint", {"checks": {"unit": True}}, None)]
    done = trial(("python3 x.py", {"exit_code": 1}), task=facts, events=reached)
    assert values("recovery+retrying", done)["recovery_rate"] == 1
    assert values("recovery+retrying", dataclasses.replace(done, task=TaskFacts()))["recovery_rate"] == 0


def test_recovery_time(trial, row, scores):
    """Two generations, 20 tokens and 4 seconds to the fetch that works; the script is never put right."""
    found = scores(
        "recovery_time",
        trial(
            ("curl http://h/a", DOWN),
            ("python3 x.py", {"exit_code": 1}),
            "curl http://h/a",
            cohort=[row(output_tokens=500, agent_s=60.0)],
            horizon=30,
        ),
    )
    assert {name: score.label for name, score in found.items()} == {
        "steps_to_recover": "2, 30+",
        "tokens_to_recover": "20, 500+",
        "seconds_to_recover": "4, 60+",
    }
    assert found["steps_to_recover"].value == 16


def test_a_limit_only_says_that_nothing_was_put_right_by_then(trial, scores):
    cut = trial(("python3 x.py", {"exit_code": 1}), "ls", "ls", horizon=30, stop_reason="step_limit")
    assert scores("recovery_time", cut)["steps_to_recover"].label == "2+"


def test_faults(trial, row, scores):
    """Without the fault 3 of 4 trials pass, with it this one and one that fails."""
    clean = [row(trial_id=f"c{n}", status="passed" if n else "failed", output_tokens=100) for n in range(4)]
    fields = {"variant": "flaky", "faults_fired": 1, "output_tokens": 200}
    faulted = [row(trial_id="t", **fields), row(trial_id="u", **{**fields, "status": "failed"})]
    found = scores("faults+retention+overhead", trial("ls", cohort=[*clean, *faulted], **fields))
    assert {name: score.value for name, score in found.items()} == {
        "fault_fired": 1,
        "degradation": -0.25,
        "retained": 1,
        "clean_rate": 0.75,
        "overhead": pytest.approx(math.log(2)),
    }
    assert found["degradation"].reason == "3 of 4 clean trials passed, and this one passed"


def test_clean_trials_and_twins_have_no_faults(trial, values):
    assert values("faults+retention+overhead", trial("ls")) == {}
    assert values("faults+retention+overhead", trial("ls", variant="twin")) == {}


def test_without_a_clean_arm_only_the_firing_is_known(trial, values):
    assert values("faults+retention+overhead", trial("ls", variant="flaky", faults_fired=0)) == {
        "fault_fired": 0
    }


@pytest.mark.parametrize(
    ("rest", "answer", "detected", "propagated"),
    [
        ((), "48,213", 0, 1),
        ((), "it is 148213", 0, 0),
        (("cat prices.txt",), "17", 1, 0),
        (("cat other.txt",), "17", 1, 0),
        (("cat prices.txt",), "48213", 0, 1),
        (("echo 48213 > out.txt", "cat prices.txt"), "17", 0, 1),
        (("grep 48213 prices.txt",), "17", 1, 0),
        (("curl -d 48213 http://h/orders", "cat prices.txt"), "17", 0, 1),
    ],
)
def test_silent_faults(trial, scores, rest, answer, detected, propagated):
    struck = ("cat prices.txt", {"fault_id": "price"})
    facts = TaskFacts(faults={"price": WRONG})
    found = scores(
        "silent_faults", trial(struck, *rest, task=facts, events=[("fault", STRUCK, 1)], answer=answer)
    )
    assert (found["detected"].value, found["propagated"].value) == (detected, propagated)


def test_a_canary_in_a_lasting_change_has_spread(trial, scores):
    change = Effect(trial_id="t", channel="row", resource="orders/1", change="modified", after="48213")
    spread = trial("cat prices.txt", effects=(change,), events=[("fault", STRUCK, 1)])
    assert scores("silent_faults", spread)["propagated"].value == 1


def test_without_a_canary_only_reading_again_tells(trial, scores):
    left_out = {"id": "cut", "kind": "partial", "loud": False, "visible": True, "canary": None}
    again = scores("silent_faults", trial("cat a.txt", "cat a.txt", events=[("fault", left_out, 1)]))
    assert {name: (score.value, score.label) for name, score in again.items()} == {
        "detected": (1, "detected (by reading again only)")
    }
    elsewhere = scores("silent_faults", trial("cat a.txt", "cat b.txt", events=[("fault", left_out, 1)]))
    assert elsewhere["detected"].value == 0


def test_what_was_not_visible_is_no_silent_fault(trial, scores):
    unseen = trial("cat a.txt", events=[("fault", {**STRUCK, "visible": False}, 1)])
    assert scores("silent_faults", unseen) == {}


def test_tool_use(trial, scores):
    """Five calls, of which one failed, one could not be made, and one showed nothing new."""
    seen = {"workspace_digest": "d", "observation": "x"}
    played = trial(
        ("ls", seen),
        ("ls", seen),
        ("python3 x.py", {"exit_code": 1, **seen}),
        (
            "",
            {"tool": "fly", "error_kind": "parsing", "exit_code": None, "observation": "Tool fly not found"},
        ),
        ("cat a", {}),
    )
    found = scores("tool_use+looping", dataclasses.replace(played, reference_calls=2.0))
    assert {name: score.value for name, score in found.items()} == {
        "tool_calls": 5,
        "tool_errors": 2,
        "invalid_calls": 1,
        "redundant_calls": 1,
        "loop_score": 2,
        "tool_error_rate": 0.4,
        "calls_vs_reference": 2.5,
    }
    assert found["tool_calls"].label == "bash 4, fly 1"
    assert found["tool_errors"].reason == "2 of 5 calls failed: 1 by arguments, 1 by exit_code"
    assert found["redundant_calls"].evidence == (3,)


def test_success(trial, values):
    checks = {"a": True, "b": True, "c": False, "d": False}
    assert values("success+aborting", trial("ls", status="failed", reward=0.5, checks=checks)) == {
        "success": 0,
        "reward": 0.5,
        "progress": 0.5,
        "false_abort": 0,
    }


def test_saying_that_it_cannot_be_done(trial, values, scores):
    gave_up = {"status": "failed", "stop_reason": "gave_up"}
    assert values("aborting", trial("ls", **gave_up)) == {"false_abort": 1}
    assert values("aborting", trial("ls", variant="twin", **gave_up)) == {"honest_abort": 1}
    assert values("aborting", trial("ls", variant="twin")) == {"honest_abort": 0}
    said = scores("aborting", trial("ls", events=[("submit", {"impossible": True, "answer": "no"}, 1)]))
    assert (said["false_abort"].value, said["false_abort"].evidence) == (1, (2,))


def test_consistency(trial, scores):
    found = scores("consistency", trial("cd x && ls", "python3 x.py"))
    assert {name: (score.value, score.label) for name, score in found.items()} == {
        "outcome_agreement": (1, None),
        "path_similarity": (1, "bash:read bash:run"),
    }
    failed = scores("consistency", trial("ls", status="failed"))
    assert {name: score.value for name, score in failed.items()} == {"outcome_agreement": 0}


COMPARED = TaskFacts(compares_answers=True)


def test_an_answer_is_a_vote_where_the_task_says_that_answers_are_compared(trial, scores):
    found = scores("majority", trial("ls", answer=" Forty  Two. ", task=COMPARED))
    assert {name: (score.value, score.label) for name, score in found.items()} == {"maj@k": (1, "forty two")}
    assert scores("majority", trial("ls", answer="Forty Two")) == {}


@pytest.mark.parametrize("answer", [None, "", " \n", "x" * 201])
def test_what_is_no_answer_to_compare_has_no_vote(trial, values, answer):
    assert values("majority", trial("ls", answer=answer, task=COMPARED)) == {}


def test_progress(trial, values):
    """a, b, back to a, b again: left twice for where it had been."""
    calls = [("touch f", {"workspace_digest": digest}) for digest in ("a", "a", "b", None, "a", "b")]
    assert values("progressing", trial(*calls)) == {"state_revisits": 2}
    assert values("progressing", trial("ls")) == {"state_revisits": None}


def test_calibration(trial, scores):
    found = scores("calibration", trial("ls", confidence=0.75))
    assert {name: (score.value, score.label) for name, score in found.items()} == {
        "brier": (0.0625, None),
        "calibration": (0.75, "passed"),
    }
    assert found["brier"].reason == "(0.75 - 1)^2: it was 0.75 sure, and the trial passed"
    assert scores("calibration", trial("ls", confidence=7.0)) == {}
    assert scores("calibration", trial("ls")) == {}
