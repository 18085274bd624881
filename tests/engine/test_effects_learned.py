"""What `suite check` proves and learns about side effects."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evalkit.engine.check import Proof, check_suite
from evalkit.engine.effects.proof import Left, complaints, learned_from
from evalkit.engine.prepare import RunFlags, prepare
from evalkit.errors import ConfigError
from evalkit.tasks.learned import Learned, write_learned
from evalkit.tasks.suite import load_suite
from evalkit.trajectory.reader import Run
from evalkit.trajectory.trial import Trial

from .conftest import TOML, MakeSuite, Quiet, RunSuite

BEATS = """
[environment.healthcheck]
command = "(while :; do echo >> /tmp/beat; sleep 0.01; done) > /dev/null 2>&1 & sleep 0.1"
"""


def trial(model: str, number: int = 1, **more: object) -> Trial:
    return Trial(
        run_id="r", trial_id=f"{model}{number}", suite="s", task_id="t", epoch=number, agent=model,
        model=f"scripted/{model}", **{"status": "failed", "effects_measured": True, **more},
    )  # type: ignore[arg-type]  # fmt: skip


def test_doing_nothing_teaches_all_and_the_oracle_its_caches_alone() -> None:
    left = {
        "nop1": Left(collateral=("/tmp/beat",), noise=("/var/log/x",)),
        "oracle1": Left(collateral=("/tmp/litter",), noise=("/app/__pycache__/a.pyc", "/var/log/y")),
    }
    found = learned_from(
        [trial("nop", checks={"kept": True, "made": False}), trial("oracle", status="passed")], left
    )
    assert found == Learned(("/app/__pycache__/a.pyc", "/tmp/beat", "/var/log/x"), ("kept",))


def test_nothing_is_learned_where_doing_nothing_was_not_judged_or_measured() -> None:
    assert learned_from([trial("oracle")], {}) is None
    assert learned_from([trial("nop", status="unscored")], {"nop1": Left()}) is None
    assert learned_from([trial("nop")], {"nop1": Left(unmeasured=True)}) is None


def test_complaints_name_the_first_few() -> None:
    [said] = complaints("the oracle", Left(collateral=tuple(f"/{number}" for number in range(7))))
    assert said.startswith(
        "the oracle leaves what is neither allowed nor noise: /0, /1, /2, /3, /4 and 2 more;"
    )


@pytest.fixture
def check(local_support: None, tmp_path: Path, quiet: Quiet):
    """Prove a suite as the command does."""
    numbers = iter(range(100))

    def run(suite: Path, *, learn: bool = False) -> Proof:
        models = ("scripted/oracle", "scripted/nop", "scripted/naive")
        prepared = prepare(RunFlags(suites=(str(suite),), models=models), start=tmp_path, use_defaults=False)
        return check_suite(prepared, None, tmp_path / f"proof{next(numbers)}", quiet, learn=learn)  # type: ignore[arg-type]

    return run


@pytest.mark.local
def test_an_oracle_that_litters_is_not_proven(check, make_suite: MakeSuite) -> None:
    caches = "mkdir -p /tmp/__pycache__; echo > /tmp/__pycache__/a.pyc"
    solve = f"#!/bin/sh\n# step: Do.\necho done > out; echo x > /tmp/litter; {caches}\n"
    [finding] = check(make_suite(one={"solution/solve.sh": solve})).findings
    said = "declare it under [metadata.evalkit.effects], or take it out of the solution"
    assert finding.problems == (f"the oracle leaves what is neither allowed nor noise: /tmp/litter; {said}",)


@pytest.mark.local
def test_what_changes_by_itself_is_learned_kept_and_then_noise(
    check, make_suite: MakeSuite, run_suite: RunSuite
) -> None:
    path = make_suite(one={"task.toml": TOML + BEATS})
    [finding] = check(path).findings
    assert "/tmp/beat" in finding.problems[0]

    proof = check(path, learn=True)
    assert proof.findings[0].problems == ()
    suite = load_suite(path)
    write_learned(path, proof.learned, {task.id: task.digest for task in suite.tasks})
    assert load_suite(path).tasks[0].learned.noise == ("/tmp/beat",)
    assert load_suite(path).digest == suite.digest

    run: Run = run_suite(path)
    [(_, _, effects)] = run.iter_whole()
    assert {one.resource: one.class_ for one in effects} == {"/app/out": "intended", "/tmp/beat": "noise"}


def test_what_was_learned_of_another_state_of_a_task_is_not_used(make_suite: MakeSuite) -> None:
    path = make_suite(one={}, two={})
    digests = {task.id: task.digest for task in load_suite(path).tasks}
    write_learned(path, {"one": Learned(("/a",), ("c",)), "two": Learned(("/b",))}, digests)
    (path / "one" / "instruction.md").write_text("Other words.\n")
    suite = load_suite(path)
    assert [task.learned for task in suite.tasks] == [Learned(), Learned(("/b",))]
    [warning] = suite.warnings
    assert "not used for one, which has changed since" in warning


def test_learning_about_some_tasks_keeps_what_is_known_of_others(make_suite: MakeSuite) -> None:
    path = make_suite(one={}, two={})
    digests = {task.id: task.digest for task in load_suite(path).tasks}
    write_learned(path, {"one": Learned(("/a",))}, digests)
    write_learned(path, {"two": Learned(("/b",))}, digests)
    assert list(json.loads((path / "learned.json").read_text())["tasks"]) == ["one", "two"]


@pytest.mark.parametrize(
    "text", ["", "[]", '{"version": 2, "tasks": {}}', '{"version": 1, "tasks": {"one": {}}}', "\0"]
)
def test_a_file_that_is_none_of_ours_is_refused_by_name(make_suite: MakeSuite, text: str) -> None:
    path = make_suite()
    (path / "learned.json").write_text(text)
    with pytest.raises(ConfigError, match=r"learned\.json"):
        load_suite(path)
