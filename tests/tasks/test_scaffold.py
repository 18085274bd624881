"""A new suite loads at once, and never takes the place of something."""

from pathlib import Path

import pytest

from evalkit.errors import UsageError
from evalkit.grading.helper import NAME, is_current
from evalkit.tasks.scaffold import new_suite
from evalkit.tasks.solution import load_solution
from evalkit.tasks.suite import load_suite


def test_a_new_suite_loads_without_warnings(tmp_path: Path) -> None:
    written = new_suite(tmp_path / "mine", "mine")

    suite = load_suite(tmp_path / "mine")
    assert all(path.is_file() for path in written)
    assert (suite.name, suite.warnings) == ("mine", ())
    assert [task.grading_mode for task in suite.tasks] == ["sealed"]


def test_the_solution_of_a_new_suite_has_several_steps(tmp_path: Path) -> None:
    new_suite(tmp_path / "mine", "mine")

    (task,) = load_suite(tmp_path / "mine").tasks
    assert [piece.thought.split()[0] for piece in load_solution(task.stages[0])] == ["I", "The", "I"]


def test_a_new_suite_is_graded_by_the_helper_as_it_is_packaged(tmp_path: Path) -> None:
    new_suite(tmp_path / "mine", "mine")

    assert is_current(tmp_path / "mine/tasks/sum-orders/tests" / NAME)


def test_a_new_suite_does_not_overwrite(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")

    with pytest.raises(UsageError, match="something is there already"):
        new_suite(tmp_path, "mine")

    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_new_suite_does_not_replace_a_file(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("x")

    with pytest.raises(UsageError, match="something is there already"):
        new_suite(tmp_path / "mine", "mine")


@pytest.mark.parametrize("name", ["", "a b", "../x", "-x", "a\n"])
def test_a_name_that_is_no_file_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="cannot name a suite"):
        new_suite(tmp_path / "mine", name)
