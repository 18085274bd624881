"""A gate policy that is none is refused at its line, with what to write instead."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module")
def run(made_run, tmp_path_factory):
    """A run that any policy could be asked of."""
    folder = tmp_path_factory.mktemp("policies") / "run"
    return str(made_run(folder, lambda *_: {}, tasks=12, epochs=1, scorers=("success",)))


POLICIES = {
    "syntax": ("[metrics", "not valid TOML"),
    "unknown-table": ("[metric]\nx = 1", "unknown key metric Did you mean metrics?"),
    "unknown-limit": ("[metrics]\nsuccess = { max_dropp = 0.1 }", "unknown key metrics.success.max_dropp"),
    "no-limit": ("[metrics]\nsuccess = {}", "metrics.success has no limit"),
    "two-limits": ("[metrics]\nsuccess = { max_drop = 0.1, max_rise = 0.1 }", "more than one limit"),
    "below-0": ('[metrics]\nsuccess = { max_drop = "-5pp" }', "A margin is above 0"),
    "zero": ("[metrics]\nsuccess = { max_drop = 0 }", "A margin is above 0"),
    "words": ('[metrics]\nsuccess = { max_drop = "few" }', "which is no amount"),
    "nan": ("[metrics]\nsuccess = { max_drop = nan }", "which is no amount"),
    "all": ("[metrics]\nsuccess = { max_drop = 1 }", "cannot get worse by more than 1"),
    "unknown-metric": ("[metrics]\nsucces = { max_drop = 0.1 }", "gives 'succes'"),
    "wrong-way": ("[metrics]\nsuccess = { max_rise = 0.1 }", "is better when it is higher Write max_drop."),
    "no-cost": ("[metrics]\nsuccess = { max_ratio = 1.1 }", "is no cost"),
    "no-range": (
        "[metrics]\noutput_tokens = { max_drop = 0.1 }",
        "has no range that a drop could be a part of",
    ),
    "shrinking": ("[metrics]\noutput_tokens = { max_ratio = 0.9 }", "Write a ratio above 1"),
    "beyond": ("[metrics]\noutput_tokens = { max_ratio = 4 }", "write less than 4"),
    "no-mean": ("[metrics]\nsteps_to_recover = { max_rise = 0.1 }", "is no mean over tasks"),
    "no-direction": ("[metrics]\nepisodes = { max_rise = 0.1 }", "neither better when it is higher"),
    "thinking-per-action": (
        "[metrics]\nthinking_per_effective_action = { max_rise = 0.1 }",
        "no mean over tasks",
    ),
    "reading": ("[metrics]\nrepeated_4grams = { max_rise = 0.1 }", "neither better when it is higher"),
    "no-scorer": ("[zero_tolerance]\nmeddled = 0", "gives 'meddled'"),
    "negative-events": ("[zero_tolerance]\nretry_storms = -1", "is no number of trials"),
    "nothing": ("", "this policy gates nothing"),
    "no-task": ('[tasks]\nrequire = [{ task = "t999", pass = "1/1" }]', "has no task 't999'"),
    "no-share": ('[tasks]\nrequire = [{ task = "t001", pass = "4/3" }]', "how many of how many"),
    "no-known": (
        '[metrics]\nsuccess = { max_drop = 0.1 }\n[tasks]\nknown_failing = ["x"]',
        "has no task 'x'",
    ),
    "few": (
        "[metrics]\nsuccess = { max_drop = 0.1 }\n[validity]\nmin_tasks = 0",
        "greater than or equal to 2",
    ),
    "unscored": (
        "[metrics]\nsuccess = { max_drop = 0.1 }\n[validity]\nmax_unscored = 1",
        "share from 0 to below 1",
    ),
    "suites": (
        '[metrics]\nsuccess = { max_drop = 0.1 }\n[validity]\nsuite = "any"',
        "'same' or 'shared-tasks'",
    ),
}


@pytest.mark.parametrize(("text", "told"), POLICIES.values(), ids=POLICIES)
def test_policies_that_are_none(command, folder, run, text, told):
    (folder / "gate.toml").write_text(text)
    said = command("gate", run, "--baseline", run, "--policy", "gate.toml", "--strict")
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("evalkit: gate.toml")
    assert told in " ".join(said.err.split())


def test_a_mistyped_limit_is_answered_with_the_nearest(command, folder, run):
    (folder / "gate.toml").write_text("[metrics]\nsuccess = { max_dropp = 0.1 }")
    said = command("gate", run, "--baseline", run, "--policy", "gate.toml")
    assert "Did you mean max_drop?" in said.err
