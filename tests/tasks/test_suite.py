"""A suite is a folder with suite.toml, a plain folder of tasks, or one task."""

from collections.abc import Callable
from pathlib import Path

import pytest

from evalkit.errors import ConfigError
from evalkit.tasks.suite import load_suite

WriteTask = Callable[..., Path]


@pytest.fixture
def suite(write_task: WriteTask, tmp_path: Path) -> Path:
    """Two tasks in `tasks/`, and a suite.toml that names them."""
    write_task(name="one", under="s/tasks")
    write_task(name="two", under="s/tasks")
    (tmp_path / "s" / "suite.toml").write_text('name = "mine"\n')
    return tmp_path / "s"


def _write(suite: Path, text: str) -> Path:
    (suite / "suite.toml").write_text(text)
    return suite


def test_a_suite_file_gives_name_limits_and_weights(suite: Path) -> None:
    loaded = load_suite(
        _write(
            suite,
            'name = "mine"\nversion = "2"\ndescription = "d"\ntasks = ["tasks/*"]\n'
            "[run]\nepochs = 4\nstep_limit = 30\ntime_limit_s = 60\ncost_limit = 1.5\n[weights]\none = 2\n",
        )
    )

    assert (loaded.name, loaded.version, loaded.description) == ("mine", "2", "d")
    assert [task.id for task in loaded.tasks] == ["one", "two"]
    assert (loaded.run.epochs, loaded.run.step_limit, loaded.run.token_limit) == (4, 30, None)
    assert loaded.weights == {"one": 2.0, "two": 1.0}


def test_a_plain_folder_of_tasks_is_a_suite(suite: Path) -> None:
    loaded = load_suite(suite / "tasks")

    assert (loaded.name, loaded.version) == ("tasks", None)
    assert [task.id for task in loaded.tasks] == ["one", "two"]
    assert loaded.run.epochs is None


def test_one_task_is_a_suite(suite: Path) -> None:
    loaded = load_suite(suite / "tasks" / "one")

    assert loaded.name == "one"
    assert [task.id for task in loaded.tasks] == ["one"]


def test_the_suite_file_itself_names_the_suite(suite: Path) -> None:
    assert load_suite(suite / "suite.toml") == load_suite(suite)


def test_defaults_reach_every_task_and_are_warned_about_once(suite: Path) -> None:
    (suite / "tasks" / "one" / "task.toml").write_text("[agent]\ntimeout_sec = 5\n")

    loaded = load_suite(_write(suite, 'name = "mine"\n[defaults.agent]\ntimeout_sec = 30\ntimeout = 1\n'))

    one, two = loaded.tasks
    assert (one.agent_timeout_s, two.agent_timeout_s) == (5, 60)
    assert loaded.warnings == (
        f"{suite}/suite.toml:4: unknown key defaults.agent.timeout. Did you mean timeout_sec?",
    )


def test_a_folder_without_task_toml_is_left_out_with_a_warning(suite: Path) -> None:
    (suite / "tasks" / "draft").mkdir()
    (suite / "tasks" / "README.md").write_text("x")

    loaded = load_suite(suite)

    assert len(loaded.tasks) == 2
    assert loaded.warnings == (f"{suite}/tasks/draft: no task.toml here, so this is not taken as a task",)


def test_a_task_named_by_two_patterns_is_taken_once(suite: Path) -> None:
    loaded = load_suite(_write(suite, 'name = "mine"\ntasks = ["tasks/*", "tasks/one"]\n'))

    assert [task.id for task in loaded.tasks] == ["one", "two"]


def test_an_unknown_task_id_is_answered_with_the_nearest(suite: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load_suite(suite).task("onn")

    assert caught.value.hint == "Did you mean one?"


# name: (suite.toml, text that follows the suite's path, hint)
BAD_SUITES: dict[str, tuple[str, str, str | None]] = {
    "malformed": ("name = \n", "/suite.toml:1: not valid TOML: Invalid value", None),
    "no name": ('version = "1"\n', "/suite.toml: name: this key is required", None),
    "a name that is no file name": (
        'name = "a/b"\n',
        "/suite.toml:1: name: should match pattern '^[A-Za-z0-9][A-Za-z0-9._-]*$', not 'a/b'",
        None,
    ),
    "an unknown key": (
        'name = "a"\nweight = 1\n',
        "/suite.toml:2: unknown key weight",
        "Did you mean weights?",
    ),
    "an unknown limit": (
        'name = "a"\n[run]\nsteps = 1\n',
        "/suite.toml:3: unknown key run.steps",
        "Known here: cost_limit, epochs, max_trials, step_limit, time_limit_s, token_limit.",
    ),
    "a negative limit": (
        'name = "a"\n[run]\nepochs = -1\n',
        "/suite.toml:3: run.epochs: should be greater than or equal to 1, not -1",
        None,
    ),
    "an infinite limit": (
        'name = "a"\n[run]\ncost_limit = inf\n',
        "/suite.toml:3: run.cost_limit: should be a finite number, not inf",
        None,
    ),
    "a default that no task could have": (
        'name = "a"\n[defaults.verifier]\ntimeout_sec = -1\n',
        "/suite.toml:3: defaults.verifier.timeout_sec: should be greater than 0, not -1",
        None,
    ),
    "an unknown default of ours": (
        'name = "a"\n[defaults.metadata.evalkit]\nminuts = 1\n',
        "/suite.toml:3: unknown key defaults.metadata.evalkit.minuts",
        "Did you mean minutes?",
    ),
    "a pattern that matches nothing": (
        'name = "a"\ntasks = ["tasks/*", "more/*"]\n',
        "/suite.toml:2: 'more/*' matches no task",
        "Tasks here: tasks/one, tasks/two.",
    ),
    "a task that is not there": (
        'name = "a"\ntasks = [\n  "tasks/one",\n  "tasks/three",\n]\n',
        "/suite.toml:4: 'tasks/three' matches no task",
        "Tasks here: tasks/one, tasks/two.",
    ),
    "no pattern": (
        'name = "a"\ntasks = []\n',
        "/suite.toml:2: tasks: should have at least 1 item, not 0",
        None,
    ),
    "a pattern that climbs": (
        'name = "a"\ntasks = ["../*"]\n',
        "/suite.toml:2: '../*' leaves the suite's folder",
        "Patterns are relative to suite.toml.",
    ),
    "an absolute pattern": (
        'name = "a"\ntasks = ["/etc/*"]\n',
        "/suite.toml:2: '/etc/*' leaves the suite's folder",
        "Patterns are relative to suite.toml.",
    ),
    "a weight of no task": (
        'name = "a"\n[weights]\ntoo = 2\n',
        "/suite.toml:3: a weight is given for 'too', which is no task of this suite",
        "Did you mean two?",
    ),
    "a negative weight": (
        'name = "a"\n[weights]\none = -2\n',
        "/suite.toml:3: weights.one: should be greater than or equal to 0, not -2",
        None,
    ),
    "no weight at all": (
        'name = "a"\n[weights]\none = 0\ntwo = 0\n',
        "/suite.toml:2: every task weighs 0, so no mean can be taken",
        None,
    ),
}


@pytest.mark.parametrize("mistake", BAD_SUITES)
def test_a_mistake_in_suite_toml_gives_one_exact_error(suite: Path, mistake: str) -> None:
    text, expected, hint = BAD_SUITES[mistake]

    with pytest.raises(ConfigError) as caught:
        load_suite(_write(suite, text))

    assert str(caught.value).split("\n")[0] == f"{suite}{expected}"
    assert caught.value.hint == hint


def test_two_tasks_of_one_id_are_both_named(suite: Path, write_task: WriteTask) -> None:
    write_task(name="one", under="s/more")

    with pytest.raises(ConfigError) as caught:
        load_suite(_write(suite, 'name = "a"\ntasks = ["tasks/*",\n"more/*"]\n'))

    assert str(caught.value) == (
        f"{suite}/suite.toml:3: two tasks have the id 'one': tasks/one and more/one\n"
        "A task's id is the name of its folder; rename one."
    )


def test_a_task_that_is_a_link_to_outside_is_refused(suite: Path, write_task: WriteTask) -> None:
    outside = write_task(name="three", under="elsewhere")
    (suite / "tasks" / "three").symlink_to(outside)

    with pytest.raises(ConfigError, match="tasks/three leads outside the suite's folder"):
        load_suite(suite)


def test_an_empty_folder_is_no_suite(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="the folder holds no tasks"):
        load_suite(tmp_path)


def test_a_missing_folder_is_no_suite(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no suite or task is here"):
        load_suite(tmp_path / "nothing")


def test_a_broken_task_is_named_not_the_suite(suite: Path) -> None:
    (suite / "tasks" / "two" / "instruction.md").unlink()

    with pytest.raises(ConfigError, match=r"tasks/two/instruction.md: the file does not exist"):
        load_suite(suite)
