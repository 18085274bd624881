"""Does every task of the core suite have all its parts, and do its checks keep what its task.toml says?"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evalkit.grading.helper import is_current
from evalkit.tasks.solution import load_solution
from evalkit.tasks.suite import load_suite

SUITE = Path(__file__).parents[2] / "suites" / "core"
TASKS = sorted(path.parent for path in SUITE.glob("tasks/*/task.toml"))
PARTS = ["instruction.md", "environment/Dockerfile", "tests/test.sh", "tests/check.py", "solution/solve.sh"]


def settings(task: Path) -> dict[str, Any]:
    document = tomllib.loads((task / "task.toml").read_text(encoding="utf-8"))
    return document["metadata"]["evalkit"] | {"artifacts": document["artifacts"], "document": document}


def grade(task: Path, app: Path, logs: Path) -> tuple[str, dict[str, str]]:
    """The reward and the status of each check, of the task's own checks on the files in `app`."""
    scratch = logs.parent / "scratch"
    scratch.mkdir(exist_ok=True)
    subprocess.run(
        [sys.executable, "-I", "-B", task / "tests/check.py", app, logs],
        cwd=app,
        env=os.environ | {"TMPDIR": str(scratch)},
        check=True,
        timeout=120,
    )
    report = json.loads((logs / "ctrf.json").read_text())["results"]
    statuses = {test["name"]: test["status"] for test in report["tests"]}
    assert report["summary"]["tests"] == len(report["tests"])
    assert report["summary"]["failed"] == [*statuses.values()].count("failed")
    return (logs / "reward.txt").read_text().strip(), statuses


@pytest.fixture
def app(tmp_path: Path) -> Path:
    """An empty working directory."""
    folder = tmp_path / "app"
    folder.mkdir()
    return folder


@pytest.fixture(params=TASKS, ids=lambda task: task.name)
def task(request: pytest.FixtureRequest) -> Path:
    return request.param


def test_there_are_three_easy_three_medium_and_two_hard_tasks() -> None:
    difficulties = Counter(settings(task)["difficulty"] for task in TASKS)
    assert difficulties == {"easy": 3, "medium": 3, "hard": 2}


def test_every_task_asks_for_another_skill() -> None:
    assert len({skill for task in TASKS for skill in settings(task)["skills"]}) == len(TASKS)


def test_the_suite_loads_without_warnings() -> None:
    suite = load_suite(SUITE)
    assert suite.warnings == ()
    assert [task.id for task in suite.tasks] == [task.name for task in TASKS]


def test_every_task_runs_without_docker() -> None:
    assert {task.id: task.recipe.needs_docker for task in load_suite(SUITE).tasks} == dict.fromkeys(
        task.name for task in TASKS
    )


def test_a_task_has_all_parts(task: Path) -> None:
    assert [part for part in PARTS if not (task / part).is_file()] == []


def test_scripts_are_executable(task: Path) -> None:
    assert [path.name for path in task.rglob("*.sh") if not os.access(path, os.X_OK)] == []


def test_a_task_states_what_may_change(task: Path) -> None:
    effects = settings(task)["effects"]
    assert effects["allowed"]
    assert effects["forbidden"]
    assert set(effects["required"]) == set(settings(task)["artifacts"])


def test_a_task_says_its_difficulty_alike_for_harbor_and_evalkit(task: Path) -> None:
    assert settings(task)["document"]["metadata"]["difficulty"] == settings(task)["difficulty"]


def test_a_solution_has_several_steps_with_thoughts_of_their_own(task: Path) -> None:
    pieces = load_solution(load_suite(task).tasks[0].stages[0])
    written = re.findall(r"^# step: (.+)$", (task / "solution/solve.sh").read_text(), flags=re.MULTILINE)
    assert 3 <= len(pieces) <= 8
    assert [piece.thought for piece in pieces] == written
    assert len(set(written)) == len(written)


def test_all_declared_checks_are_failed_when_the_deliverables_are_missing(task: Path, app: Path) -> None:
    shutil.copytree(task / "environment/app", app, dirs_exist_ok=True)
    for artifact in settings(task)["artifacts"]:
        (app / Path(artifact).relative_to("/app")).unlink(missing_ok=True)
    reward, statuses = grade(task, app, app.parent / "logs")
    assert (reward, [*statuses]) == ("0", settings(task)["grading"]["checks"])
    assert set(statuses.values()) == {"failed"}


def test_a_verdict_that_was_planted_is_replaced(app: Path) -> None:
    task = SUITE / "tasks/repair-inventory"
    shutil.copytree(task / "environment/app", app, dirs_exist_ok=True)
    logs, elsewhere = app.parent / "logs", app.parent / "elsewhere"
    logs.mkdir()
    elsewhere.write_text("untouched")
    (logs / "reward.txt").symlink_to(elsewhere)
    (logs / "reward.json").write_text('{"reward": 1}')
    assert grade(task, app, logs)[0] == "0"
    assert not (logs / "reward.json").exists()
    assert elsewhere.read_text() == "untouched"


def test_a_deliverable_that_is_a_link_does_not_count(app: Path) -> None:
    task = SUITE / "tasks/repair-inventory"
    (app / "inventory.json").symlink_to(task / "tests/expected.json")
    reward, statuses = grade(task, app, app.parent / "logs")
    assert (reward, set(statuses.values())) == ("0", {"failed"})


def test_a_process_that_the_deliverable_leaves_behind_cannot_rewrite_the_verdict(app: Path) -> None:
    logs = app.parent / "logs"
    (app / "pagination.py").write_text(f"""
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for _ in range(20_000):
            try:
                open({str(logs / "reward.txt")!r}, "w").write("1")
            except OSError:
                pass
            time.sleep(0.0005)
    os._exit(0)
""")
    assert grade(SUITE / "tasks/fix-off-by-one", app, logs)[0] == "0"
    assert (logs / "reward.txt").read_text().strip() == "0"


def test_every_task_carries_the_grader_helper_as_it_is_packaged() -> None:
    assert all(is_current(task / "tests/evalkit_grader") for task in TASKS)
    assert len({(task / "tests/test.sh").read_bytes() for task in TASKS}) == 1


def test_checks_carry_the_given_files_unchanged() -> None:
    ledger = SUITE / "tasks/fix-ledger-race"
    assert (ledger / "tests/storage.py").read_bytes() == (ledger / "environment/app/storage.py").read_bytes()
    config = SUITE / "tasks/bisect-config/environment/app"
    assert (config / "current.conf").read_bytes() == (config / "history/0048.conf").read_bytes()


def test_there_is_no_solution_or_bytecode_among_the_starting_files(task: Path) -> None:
    names = {path.name for path in (task / "environment").rglob("*")}
    assert names.isdisjoint({"__pycache__", "solve.sh", "check.py", "evalkit_grader", "expected.json"})
