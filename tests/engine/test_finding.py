"""What proves a task, and what does not."""

import pytest

from evalkit.engine.finding import Claim, judge
from evalkit.trajectory.trial import Trial


def trial(model, status, *, epoch=1, checks=None, reward=None, message=None, naive=None):
    return Trial(
        run_id="r", trial_id=f"{model}{epoch}", suite="s", task_id="t", epoch=epoch, agent=f"react/{model}",
        model=model, status=status, checks=checks, reward=reward, error_message=message,
        error_origin="grader" if message else None, naive_passed=naive,
    )  # fmt: skip


def problems(*trials):
    (finding,) = judge([("s", "t", "clean"), ("s", "t", "clean")], trials)
    return finding.problems


def oracle(status, epoch, **values):
    return trial("scripted/oracle", status, epoch=epoch, **values)


def nop(status, **values):
    return trial("scripted/nop", status, **values)


def test_two_equal_passes_and_a_failing_nop_prove_a_task():
    assert problems(oracle("passed", 1), oracle("passed", 2), nop("failed")) == ()


def test_an_oracle_that_fails_names_the_failed_checks():
    first = oracle("failed", 1, checks={"unit": False, "style": True})
    second = oracle("failed", 2, checks={"unit": False, "style": True})
    assert problems(first, second, nop("failed")) == ("the oracle failed 2 of 2 times; failed checks: unit",)


def test_an_oracle_judged_differently_is_not_deterministic():
    found = problems(oracle("passed", 1, reward=1.0), oracle("passed", 2, reward=2.0), nop("failed"))
    assert "not deterministic" in found[0]


def test_a_nop_that_passes_shows_a_blind_grader():
    assert "doing nothing passes" in problems(oracle("passed", 1), oracle("passed", 2), nop("passed"))[0]


def test_what_is_unscored_proves_nothing():
    found = problems(oracle("passed", 1), oracle("unscored", 2, message="no reward"), nop("failed"))
    assert found[0] == "scripted/oracle is unscored (grader): no reward"


def test_what_is_missing_proves_nothing():
    assert "interrupted" in problems(oracle("passed", 1), nop("failed"))[0]
    assert "interrupted" in problems(oracle("passed", 1), oracle("passed", 2))[0]


def faulted(model, status, fired=1):
    return Trial(
        run_id="r", trial_id=f"{model}f", suite="s", task_id="t", variant="flaky", epoch=1, agent=f"react/{model}",
        model=f"scripted/{model}", status=status, faults_planned=1, faults_fired=fired,
    )  # fmt: skip


def fault_problems(*trials):
    clean = (oracle("passed", 1), oracle("passed", 2), nop("failed"))
    reasons = {"naivef": "nobody called"}
    (finding,) = judge([("s", "t", "clean"), ("s", "t", "flaky")], (*clean, *trials), reasons)
    return finding.problems


def test_a_fault_is_proven_by_an_oracle_that_recovers_and_a_careless_solution_that_fails():
    assert fault_problems(faulted("oracle", "passed"), faulted("naive", "failed")) == ()


def test_a_fault_that_the_oracle_cannot_get_over_is_not_proven():
    found = fault_problems(faulted("oracle", "failed"), faulted("naive", "failed"))
    assert found == ("fault flaky: the oracle does not recover from it",)


def test_a_fault_that_the_careless_solution_survives_is_not_proven():
    found = fault_problems(faulted("oracle", "passed"), faulted("naive", "passed"))
    assert "costs nobody anything" in found[0]


def test_a_fault_that_did_not_fire_is_not_proven_and_the_finding_says_why():
    found = fault_problems(faulted("oracle", "passed"), faulted("naive", "failed", fired=0))
    assert found == ("fault flaky: it did not fire for naive: nobody called",)


def test_a_fault_that_nobody_met_is_not_proven():
    assert len(fault_problems()) == 2


def with_naive_grader(said):
    trials = [oracle("passed", 1, naive=said), oracle("passed", 2, naive=True), nop("failed", naive=False)]
    claims = {("s", "t"): Claim(naive=True)}
    (finding,) = judge([("s", "t", "clean")], trials, claims=claims)
    return finding.problems


def test_a_naive_grader_that_passes_the_oracle_is_fit():
    assert with_naive_grader(True) == ()


@pytest.mark.parametrize("said", [False, None])
def test_a_naive_grader_that_does_not_pass_the_oracle_says_nothing_of_hacks(said):
    assert with_naive_grader(said) == ("its naive grader does not pass the oracle",)
