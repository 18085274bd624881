"""Finding the project, its settings, and content by name."""

from pathlib import Path

import pytest

from evalkit import _content
from evalkit.errors import ConfigError, UsageError
from evalkit.project import Project, find_project


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory: a project with one suite, one scorer and one report of its own."""
    for name in ("suites/mine/suite.toml", "scorers/brevity.py", "reports/board.html.j2", "cli.py"):
        path = tmp_path / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("raise RuntimeError('content is never imported')\n")
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


@pytest.fixture
def bundled(tmp_path: Path) -> Path:
    """A folder in place of what is bundled, so that names can be chosen freely."""
    root = tmp_path / "bundled"
    for name in ("suites/core/suite.toml", "scorers/success.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("bundled\n")
    return root


def test_without_evalkit_toml_the_working_directory_is_the_project(folder: Path) -> None:
    project = find_project()

    assert (project.root, project.path) == (folder, None)
    assert project.settings.run.epochs is None


def test_the_nearest_evalkit_toml_above_decides(folder: Path) -> None:
    (folder / "evalkit.toml").write_text("[run]\nepochs = 4\n")

    project = find_project(folder / "suites" / "mine")

    assert (project.root, project.path) == (folder, folder / "evalkit.toml")
    assert project.settings.run.epochs == 4


def test_every_documented_key_is_read(folder: Path) -> None:
    (folder / "evalkit.toml").write_text(
        'tools = ["my_tools.py@search"]\n'
        '[run]\nsuites = ["suites/smoke"]\nmodels = ["openai/gpt-5-mini"]\nthinking = ["low", 4096, -1]\n'
        'sandbox = "docker"\ntool_settings = "tools.toml"\napprovals = "approvals.toml"\ncost_limit = 5.0\n'
        '[gate]\npolicy = "gate.toml"\nbaseline = "baseline.json"\n[sandbox]\nreadonly = ["/data"]\n'
    )

    project = find_project()

    settings = project.settings
    assert settings.tools == ("my_tools.py@search",)
    assert settings.run.thinking == ("low", "4096", "-1")
    assert (settings.run.sandbox, settings.run.cost_limit) == ("docker", 5.0)
    assert settings.sandbox.readonly == ("/data",)
    assert project.file(settings.gate.policy or "") == folder / "gate.toml"


@pytest.mark.parametrize(
    ("text", "expected", "hint"),
    [
        ("[run]\nepoch = 4\n", ":2: unknown key run.epoch", "Did you mean epochs?"),
        ("[gates]\n", ":1: unknown key gates", "Did you mean gate?"),
        ("[sandbox]\nwritable = []\n", ":2: unknown key sandbox.writable", "Known here: readonly, runtime."),
        ("[run]\n\nepochs = 0\n", ":3: run.epochs: should be greater than or equal to 1, not 0", None),
        ("[run]\ncost_limit = -1\n", ":2: run.cost_limit: should be greater than 0, not -1", None),
        ('[run]\nmodels = "x"\n', ":2: run.models: should be a list", None),
        ('[run]\nmodels = ["a", ""]\n', ":2: run.models[1]: should not be empty", None),
        ("run = 1\n", ":1: run: should be a table", None),
        ("[run\n", ":1: not valid TOML: Expected ']' at the end of a table declaration", None),
    ],
)
def test_a_mistake_in_evalkit_toml_gives_one_exact_error(
    folder: Path, text: str, expected: str, hint: str | None
) -> None:
    (folder / "evalkit.toml").write_text(text)

    with pytest.raises(ConfigError) as caught:
        find_project()

    assert str(caught.value).split("\n")[0] == f"{folder}/evalkit.toml{expected}"
    assert caught.value.hint == hint


def test_evalkit_toml_that_is_a_folder_is_an_error(folder: Path) -> None:
    (folder / "evalkit.toml").mkdir()

    with pytest.raises(ConfigError, match=r"evalkit\.toml: a file was expected, this is a folder"):
        find_project()


def test_names_are_those_of_the_project_and_those_bundled(folder: Path, bundled: Path) -> None:
    (folder / "scorers" / "_draft.py").write_text("")
    (folder / "scorers" / "notes.txt").write_text("")
    (folder / "scorers" / "__pycache__").mkdir()

    project = Project(folder, bundled=bundled)

    assert project.names("suites") == ("core", "mine")
    assert project.names("scorers") == ("brevity", "success")
    assert project.names("reports") == ("board",)


def test_a_name_is_looked_up_in_the_project_then_in_what_is_bundled(folder: Path, bundled: Path) -> None:
    project = Project(folder, bundled=bundled)

    assert project.resolve("suites", "mine") == folder / "suites" / "mine"
    assert project.resolve("scorers", "brevity") == folder / "scorers" / "brevity.py"
    assert project.resolve("reports", "board") == folder / "reports" / "board.html.j2"
    assert project.resolve("scorers", "success") == bundled / "scorers" / "success.py"


def test_an_existing_path_is_used_as_it_is(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("")
    project = find_project()

    assert project.resolve("scorers", "scorers/brevity.py") == folder / "scorers" / "brevity.py"
    assert project.resolve("scorers", str(tmp_path / "other.py")) == tmp_path / "other.py"


def test_a_relative_path_is_also_looked_up_from_the_project(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert Project(folder).resolve("suites", "suites/mine") == folder / "suites" / "mine"


def test_two_different_files_of_one_name_are_both_named(folder: Path, bundled: Path) -> None:
    (folder / "scorers" / "success.py").write_text("another\n")

    with pytest.raises(UsageError) as caught:
        Project(folder, bundled=bundled).resolve("scorers", "success")

    own, other = folder / "scorers" / "success.py", bundled / "scorers" / "success.py"
    assert caught.value.message == f"two different scorers have the name 'success': {own} and {other}"
    assert caught.value.hint == "Rename yours, or give the path instead of the name."


def test_two_different_folders_of_one_name_are_both_named(folder: Path, bundled: Path) -> None:
    (folder / "suites" / "core").mkdir()
    (folder / "suites" / "core" / "suite.toml").write_text("another\n")

    with pytest.raises(UsageError, match="two different suites have the name 'core'"):
        Project(folder, bundled=bundled).resolve("suites", "core")


def test_a_copy_of_what_is_bundled_is_no_conflict(folder: Path, bundled: Path) -> None:
    (folder / "suites" / "core").mkdir()
    (folder / "suites" / "core" / "suite.toml").write_text("bundled\n")

    assert Project(folder, bundled=bundled).resolve("suites", "core") == folder / "suites" / "core"


def test_a_project_that_is_what_is_bundled_has_no_conflicts(bundled: Path) -> None:
    project = Project(bundled, bundled=bundled)

    assert project.resolve("scorers", "success") == bundled / "scorers" / "success.py"
    assert project.names("scorers") == ("success",)


def test_an_unknown_name_is_answered_with_the_nearest_and_the_list(folder: Path, bundled: Path) -> None:
    with pytest.raises(UsageError) as caught:
        Project(folder, bundled=bundled).resolve("suites", "croe")

    assert str(caught.value) == "there is no suite 'croe'\nDid you mean core? Known suites: core, mine."


def test_a_path_that_does_not_exist_is_named(folder: Path, bundled: Path) -> None:
    with pytest.raises(UsageError, match=r"no suite is at suites/core"):
        Project(folder, bundled=bundled).resolve("suites", "suites/core")


@pytest.mark.parametrize("name", ["", "\0", "x" * 5000])
def test_an_impossible_name_is_a_usage_error(folder: Path, bundled: Path, name: str) -> None:
    with pytest.raises(UsageError):
        Project(folder, bundled=bundled).resolve("suites", name)


def test_the_bundled_core_suite_is_found_from_anywhere(folder: Path) -> None:
    assert find_project().resolve("suites", "core") == _content.ROOT / "suites" / "core"
