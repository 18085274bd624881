"""Does every task of the recovery suite have its faults and careless solution, and do its checks tell right from wrong?

What the faults do to agents that play these tasks is tested in tests/engine/test_personas_under_faults.py.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest

from evalkit.tasks.faults import FaultKind
from evalkit.tasks.solution import load_solution
from evalkit.tasks.stage import Stage
from evalkit.tasks.suite import load_suite
from evalkit.tasks.task import Task

SUITE = Path(__file__).parents[2] / "suites" / "recovery"
TASKS = {task.id: task for task in load_suite(SUITE).tasks}
STAGES = [(task.id, number) for task in TASKS.values() for number in range(len(task.stages))]
NONCE = "0123456789abcdef"


@pytest.fixture(params=TASKS)
def task(request: pytest.FixtureRequest) -> Task:
    return TASKS[request.param]


@pytest.fixture(params=STAGES, ids=lambda stage: f"{stage[0]}-{stage[1] + 1}")
def stage(request: pytest.FixtureRequest) -> tuple[Task, int]:
    """A task, and the number of one of its stages."""
    name, number = request.param
    return TASKS[name], number


def solve(task: Task, upto: int, app: Path, script: str) -> None:
    """Do the stages up to one as Harbor would: each solution as one plain script."""
    shutil.copytree(task.path / "environment/app", app)
    for stage in task.stages[: upto + 1]:
        solution = stage.solution_dir / script
        done = subprocess.run(
            ["sh", solution], check=False, cwd=app, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stderr


def grade(stage: Stage, app: Path) -> tuple[float, dict[str, bool]]:
    """The reward and the checks that the stage's own grader gives."""
    tests = app.parent / "tests"
    shutil.rmtree(tests, ignore_errors=True)
    for folder in stage.verifier.folders:
        shutil.copytree(folder, tests, dirs_exist_ok=True)
    logs = app.parent / "logs"
    subprocess.run(
        [tests / "test.sh", app, logs], cwd=app, input=f"{NONCE}\n", text=True, check=True, timeout=60
    )
    word = json.loads((logs / "verdict.json").read_text())
    assert word["nonce"] == NONCE
    assert float((logs / "reward.txt").read_text()) == word["reward"]
    return word["reward"], word["checks"]


@pytest.fixture
def app(stage: tuple[Task, int], tmp_path: Path) -> Path:
    """A folder in which the stage has been done as it should be."""
    task, number = stage
    solve(task, number, tmp_path / "app", "solve.sh")
    return tmp_path / "app"


def delivered(stage: Stage, app: Path) -> list[Path]:
    """The files that the stage is to deliver."""
    places = [app / Path(path).relative_to("/app") for path in stage.artifact_paths]
    return [file for place in places for file in ([place] if place.is_file() else sorted(place.rglob("*")))]


def test_the_suite_loads_without_warnings_and_without_docker() -> None:
    suite = load_suite(SUITE)
    assert suite.warnings == ()
    assert [task.id for task in suite.tasks if task.recipe.needs_docker] == []


def test_together_the_tasks_carry_every_kind_of_fault() -> None:
    kinds = {fault.kind for task in TASKS.values() for fault in task.settings.faults}
    assert kinds == set(get_args(FaultKind))


def test_a_task_has_two_faults_or_more(task: Task) -> None:
    assert len(task.settings.faults) >= 2


def test_scripts_are_executable(task: Task) -> None:
    scripts = [path for path in task.path.rglob("*.sh") if path.name != "verdict.sh"]
    assert [path.name for path in scripts if not os.access(path, os.X_OK)] == []


def test_the_shared_part_of_the_graders_is_the_same_in_every_task() -> None:
    assert len({(task.path / "tests/verdict.sh").read_bytes() for task in TASKS.values()}) == 1


def test_every_stage_has_a_careful_and_a_careless_solution(stage: tuple[Task, int]) -> None:
    careful, careless = (
        load_solution(stage[0].stages[stage[1]], [name]) for name in ("solve.sh", "naive.sh")
    )
    assert careful != careless


def test_what_silent_faults_show_is_what_both_solutions_build_on(task: Task) -> None:
    if all(fault.is_loud for fault in task.settings.faults):
        return
    for name in ("solve.sh", "naive.sh"):
        pieces = [piece for stage in task.stages for piece in load_solution(stage, [name])]
        assert [piece for piece in pieces if "${OBSERVED-$(" in piece.command]


@pytest.mark.parametrize("script", ["solve.sh", "naive.sh"])
def test_in_a_world_without_faults_both_solutions_pass(
    stage: tuple[Task, int], script: str, tmp_path: Path
) -> None:
    task, number = stage
    solve(task, number, tmp_path / "app", script)
    reward, checks = grade(task.stages[number], tmp_path / "app")
    assert (reward, set(checks.values())) == (1, {True})


def test_exactly_the_declared_checks_are_reported(task: Task, tmp_path: Path) -> None:
    solve(task, len(task.stages), tmp_path / "app", "solve.sh")
    found = [
        f"{stage.name}/{name}" if stage.name else name
        for stage in task.stages
        for name in grade(stage, tmp_path / "app")[1]
    ]
    assert task.settings.grading is not None
    assert found == list(task.settings.grading.checks)


def test_doing_nothing_fails(stage: tuple[Task, int], tmp_path: Path) -> None:
    task, number = stage
    shutil.copytree(task.path / "environment/app", tmp_path / "app")
    assert grade(task.stages[number], tmp_path / "app")[0] == 0


def lines(change: Callable[[list[str]], list[str]]) -> Callable[[str], str]:
    return lambda text: "".join(change(text.splitlines(keepends=True)))


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda text: text[:-2] + ("1" if text[-2] != "1" else "2") + "\n", id="a wrong value"),
        pytest.param(lines(lambda rows: rows[:-1]), id="the last row missing"),
        pytest.param(lines(lambda rows: rows[:1] + rows[2:]), id="a row in the middle missing"),
        pytest.param(lines(lambda rows: [*rows, rows[-1]]), id="a row twice"),
        pytest.param(lines(lambda rows: ["x." + rows[0], *rows[1:]]), id="the first column renamed"),
        pytest.param(lines(lambda rows: rows[: len(rows) // 2]), id="half a file"),
        pytest.param(lambda text: text[: len(text) // 2], id="half a line"),
        pytest.param(lambda text: text.rstrip("\n"), id="the last line not ended"),
        pytest.param(lambda _: "", id="empty"),
        pytest.param(lines(lambda rows: [*rows[:-2], *rows[-1:], *rows[-2:-1]]), id="another order"),
    ],
)
def test_what_is_not_quite_right_fails(
    stage: tuple[Task, int], app: Path, damage: Callable[[str], str]
) -> None:
    part = stage[0].stages[stage[1]]
    for file in delivered(part, app):
        right = file.read_text()
        if damage(right) == right:  # a file of one line has no rows to exchange
            continue
        file.write_text(damage(right))
        assert grade(part, app)[0] == 0, file.name
        file.write_text(right)
    assert grade(part, app)[0] == 1


def test_a_link_to_the_right_file_is_no_delivery(stage: tuple[Task, int], app: Path) -> None:
    part = stage[0].stages[stage[1]]
    file = delivered(part, app)[0]
    file.rename(app / "elsewhere")
    file.symlink_to(app / "elsewhere")
    assert grade(part, app)[0] == 0
