"""Does every task of the integrity suite have all its parts, and does it show what it is there for?"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import evalkit
from evalkit.engine.check import check_suite
from evalkit.engine.prepare import RunFlags, prepare
from evalkit.engine.start import start
from evalkit.grading.exploit import exploits_of
from evalkit.tasks.suite import load_suite
from evalkit.trajectory.trial import Trial

SUITE = Path(__file__).parents[2] / "suites" / "integrity"
TASKS = sorted(path.parent for path in SUITE.glob("tasks/*/task.toml"))
PARTS = ["instruction.md", "environment/Dockerfile", "tests/test.sh", "solution/solve.sh", "solution/naive.sh"]


class Silent:
    """Hears nothing."""

    def planned(self, total: int) -> None:
        pass

    def started(self, planned: object) -> None:
        pass

    def stepped(self, planned: object, step: object) -> None:
        pass

    def finished(self, planned: object, trial: object) -> None:
        pass


def settings(task: Path) -> Mapping[str, Any]:
    return tomllib.loads((task / "task.toml").read_text(encoding="utf-8"))["metadata"]["evalkit"]


@pytest.fixture(params=TASKS, ids=lambda task: task.name)
def task(request: pytest.FixtureRequest) -> Path:
    return request.param


def test_the_suite_loads_without_warnings() -> None:
    suite = load_suite(SUITE)
    assert suite.warnings == ()
    assert [task.id for task in suite.tasks] == [task.name for task in TASKS]
    assert {task.recipe.needs_docker for task in suite.tasks} == {None}


def test_there_is_a_task_for_each_way_to_grade() -> None:
    assert {task.id: task.grading_mode for task in load_suite(SUITE).tasks} == {
        "make-slugs": "shared",
        "order-collected-tests": "sealed",
        "parse-durations": "sealed",
        "release-permissions": "snapshot",
        "settle-expenses": "sealed",
    }


def test_there_is_a_twin_of_each_kind() -> None:
    kinds = [settings(task)["twin"]["kind"] for task in TASKS if "twin" in settings(task)]
    assert sorted(kinds) == ["contradicting-check", "must-not-change"]


def test_a_task_has_all_parts_and_says_what_may_change(task: Path) -> None:
    assert [part for part in PARTS if not (task / part).is_file()] == []
    assert [path.name for path in task.rglob("*.sh") if not os.access(path, os.X_OK)] == []
    assert {"required", "allowed", "forbidden"} <= settings(task)["effects"].keys()


def test_visible_tests_come_with_a_naive_grader_and_attacks_of_their_own() -> None:
    visible = [task.name for task in TASKS if "naive" in settings(task)["grading"]]
    own = {task.id: [one.name for one in exploits_of(task) if one.own] for task in load_suite(SUITE).tasks}
    assert visible == ["parse-durations", "settle-expenses"] == [name for name, found in own.items() if found]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory, local_support: None) -> dict[tuple[str, str], Trial]:
    """The careless solution on every task and twin."""
    out = tmp_path_factory.mktemp("integrity") / "run"
    flags = RunFlags(suites=(str(SUITE),), models=("scripted/naive",), out=out)
    run = evalkit.load(start(prepare(flags, use_defaults=False), Silent()).path)
    return {(trial.task_id, trial.variant): trial for trial in run.rows()}


@pytest.mark.local
def test_carelessness_fails_every_task_and_twin(played: dict[tuple[str, str], Trial]) -> None:
    assert {trial.status for trial in played.values()} == {"failed"}
    assert len(played) == len(TASKS) + 2


@pytest.mark.parametrize(
    "kind", [pytest.param("local", marks=pytest.mark.local), pytest.param("docker", marks=pytest.mark.docker)]
)
def test_the_suite_is_proven(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    request.getfixturevalue(f"{kind}_support")
    models = ("scripted/oracle", "scripted/nop", "scripted/naive")
    prepared = prepare(RunFlags(suites=(str(SUITE),), models=models, sandbox=kind), use_defaults=False)
    task = "*" if kind == "local" else "*e*-*x*"  # one with a twin; images are built before
    proof = check_suite(prepared, task, tmp_path / "run", Silent())
    assert {finding.task: finding.problems for finding in proof.findings if finding.problems} == {}
    assert any(finding.twin and finding.twin.holds for finding in proof.findings)


@pytest.mark.local
def test_its_own_attacks_fail_the_sealed_graders(local_support: None, tmp_path: Path) -> None:
    models = ("scripted/oracle", "scripted/nop", "scripted/naive")
    prepared = prepare(RunFlags(suites=(str(SUITE),), models=models), use_defaults=False)
    proof = check_suite(prepared, "[ps]*s", tmp_path / "run", Silent(), exploits="own")
    status = {
        (finding.task.partition("/")[2], one.exploit): one.status
        for finding in proof.findings
        for one in finding.exploits
    }
    assert set(status.values()) == {"failed"}
    assert len(status) == 5
