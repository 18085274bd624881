"""A digest changes exactly when something that counts changes."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from evalkit.tasks.digest import packaged_files, task_digest
from evalkit.tasks.suite import load_suite


@pytest.fixture
def task(tmp_path: Path) -> Path:
    """A folder with files that count and files that do not."""
    files = [
        "task.toml", "instruction.md", "README.md", "extra.txt", "environment/Dockerfile",
        "environment/sub/a.log",
        "tests/test.sh", "tests/__pycache__/a.pyc", "tests/a~", "solution/solve.sh", "exploits/a.sh",
        "steps/one/instruction.md",
    ]  # fmt: skip
    for name in files:
        path = tmp_path / "task" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x\n")
    return tmp_path / "task"


def test_the_digest_is_harbors_content_hash(task: Path) -> None:
    content = hashlib.sha256(b"x\n").hexdigest()
    names = ["README.md", "environment/Dockerfile", "environment/sub/a.log", "instruction.md",
             "solution/solve.sh", "steps/one/instruction.md", "task.toml", "tests/test.sh"]  # fmt: skip
    lines = "".join(f"{name}\0{content}\n" for name in names)

    assert packaged_files(task) == names
    assert task_digest(task) == hashlib.sha256(lines.encode()).hexdigest()


def test_a_gitignore_takes_the_place_of_the_usual_ignored_names(task: Path) -> None:
    (task / ".gitignore").write_text("*.log\n")

    names = packaged_files(task)

    assert "environment/sub/a.log" not in names
    assert "tests/a~" in names


def test_a_harborignore_leaves_out_tests_but_not_the_environment(task: Path) -> None:
    (task / "tests" / ".harborignore").write_text("*.tmp\n")
    (task / "environment" / ".harborignore").write_text("*.log\n")
    (task / "tests" / "a.tmp").write_text("x")

    names = packaged_files(task)

    assert "tests/a.tmp" not in names
    assert "environment/sub/a.log" in names
    assert not any(name.endswith(".harborignore") for name in names)


def test_the_digest_changes_with_content_and_with_names(task: Path) -> None:
    before = task_digest(task)

    (task / "tests" / "test.sh").write_text("y\n")
    changed = task_digest(task)
    (task / "tests" / "test.sh").rename(task / "tests" / "test2.sh")

    assert len({before, changed, task_digest(task)}) == 3


def test_the_digest_does_not_change_with_what_does_not_count(task: Path) -> None:
    before = task_digest(task)

    (task / "extra.txt").write_text("changed")
    (task / "tests" / "__pycache__" / "b.pyc").write_text("new")
    (task / "tests" / "test.sh").chmod(0o755)

    assert task_digest(task) == before


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ('name = "s"\n# a comment\n', True),
        ('name = "s"\ndescription = "new"\n', True),
        ('name = "t"\n', False),
        ('name = "s"\n[run]\nepochs = 2\n', False),
        ('name = "s"\n[weights]\none = 2\n', False),
        ('name = "s"\n[defaults.agent]\ntimeout_sec = 1\n', False),
    ],
)
def test_a_suites_digest_changes_with_settings_that_change_results(
    write_task: Callable[..., Path], tmp_path: Path, text: str, same: bool
) -> None:
    write_task(name="one", under="s/tasks")
    file = tmp_path / "s" / "suite.toml"
    file.write_text('name = "s"\n')
    before = load_suite(file).digest

    file.write_text(text)

    assert (load_suite(file).digest == before) is same


def test_a_suites_digest_changes_with_its_tasks(write_task: Callable[..., Path], tmp_path: Path) -> None:
    one = write_task(name="one", under="tasks")
    before = load_suite(tmp_path / "tasks").digest

    (one / "instruction.md").write_text("Do something else.\n")
    changed = load_suite(tmp_path / "tasks").digest
    write_task(name="two", under="tasks")

    assert len({before, changed, load_suite(tmp_path / "tasks").digest}) == 3
