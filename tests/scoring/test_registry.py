"""A scorer is found by its name, and what is wrong with one is said by file and line."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

import pytest

from evalkit.errors import ConfigError, UsageError
from evalkit.project import Project
from evalkit.scoring.registry import find_scorer, find_scorers, scorer_names

ONE = 'yield Score("m", 1, "r")'


def test_all_scorers_of_the_project_and_the_bundled_ones_are_found(home) -> None:
    home.scorer("mine", ONE)
    project = Project(home.project.root)
    assert {"mine", "success"} <= set(scorer_names(project))
    assert {named.name for named in find_scorers(project)} == set(scorer_names(project))


def test_a_file_is_a_scorer_too(home, tmp_path) -> None:
    path = home.scorer("mine", ONE).rename(tmp_path / "elsewhere.py")
    assert [named.name for named in find_scorers(home.project, [str(path)])] == ["elsewhere"]


def test_a_name_given_twice_is_one_scorer(home) -> None:
    home.scorer("mine", ONE)
    assert len(find_scorers(home.project, ["mine", "mine"])) == 1


def test_a_package_offers_scorers_under_an_entry_point(home, monkeypatch, tmp_path) -> None:
    point = importlib.metadata.EntryPoint("packaged", "scorers_of_a_package:Mine", "evalkit.scorers")
    path = home.scorer("scorers_of_a_package", ONE, metric="packaged")
    monkeypatch.syspath_prepend(str(path.rename(tmp_path / path.name).parent))
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda *, group: (point,))
    named = find_scorers(home.project, ["packaged"])[0]
    assert (named.name, [m.name for m in named.scorer.metrics]) == ("packaged", ["packaged"])
    assert scorer_names(home.project) == ("packaged",)


def test_a_package_and_a_file_under_one_name_are_refused_by_naming_both(home, monkeypatch) -> None:
    point = importlib.metadata.EntryPoint("mine", "package:Mine", "evalkit.scorers")
    path = home.scorer("mine", ONE)
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda *, group: (point,))
    with pytest.raises(UsageError, match="different scorers have the name 'mine'") as raised:
        find_scorers(home.project, ["mine"])
    assert str(path) in str(raised.value)
    assert "package:Mine" in str(raised.value)


@pytest.mark.parametrize(
    ("value", "said"),
    [("no_such_package:Mine", "ModuleNotFoundError"), ("json:dumps", "no subclass of evalkit.Scorer")],
)
def test_a_package_whose_scorer_is_none_is_refused(home, monkeypatch, value, said) -> None:
    point = importlib.metadata.EntryPoint("packaged", value, "evalkit.scorers")
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda *, group: (point,))
    with pytest.raises(ConfigError, match=said):
        find_scorers(home.project, ["packaged"])


def test_a_misspelled_name_is_answered_with_the_nearest(home) -> None:
    home.scorer("first_look", ONE)
    with pytest.raises(UsageError, match="there is no scorer 'frist_look'") as raised:
        find_scorers(home.project, ["frist_look"])
    assert raised.value.hint == "Did you mean first_look? Scorers: first_look."
    with pytest.raises(UsageError) as raised:
        find_scorers(home.project, ["zzz"])
    assert raised.value.hint == "Scorers: first_look."


def test_two_scorers_cannot_declare_the_same_metric(home) -> None:
    home.scorer("one", ONE)
    home.scorer("two", ONE)
    with pytest.raises(ConfigError, match="the scorers one and two both declare the metric m"):
        find_scorers(home.project)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def broken(:\n", "SyntaxError"),
        ("import no_such_module_anywhere\n", ":1: this scorer cannot be loaded: ModuleNotFoundError"),
        ("x = 1\n", "0 scorers are in this file"),
        (
            "from evalkit import Scorer\nclass A(Scorer): pass\nclass B(Scorer): pass\n",
            "2 scorers are in this file: A, B",
        ),
        ("from evalkit import Scorer\nclass A(Scorer): pass\n", "A declares no metrics"),
        ("from evalkit import Scorer\nclass A(Scorer): metrics = [1]\n", "A declares no metrics"),
        ("from evalkit import Scorer\nclass A(Scorer): metrics = (1,)\n", "no evalkit.Metric"),
        (
            "from evalkit import Metric, Scorer\nclass A(Scorer): metrics = (Metric(name='m', meaning='x'),)\n",
            "has no method score",
        ),
        (
            "from evalkit import *\nclass A(Scorer):\n    metrics = (Metric(name='m', meaning='x'),) * 2\n",
            "declares the metric m twice",
        ),
        (
            (
                "from evalkit import Metric, Scorer\nclass A(Scorer):\n    version = 2\n"
                "    metrics = (Metric(name='m', meaning='x'),)\n    def score(self, trial): return ()\n"
            ),
            "has no version",
        ),
        (
            (
                "from evalkit import Metric, Scorer\nclass A(Scorer):\n"
                "    metrics = (Metric(name='m', meaning='x', aggregation='ratio_of_sums', of=('a', 'b')),)\n"
                "    def score(self, trial): return ()\n"
            ),
            "computes m of a, which it does not declare",
        ),
        (
            "from evalkit import Metric, Scorer\nclass A(Scorer):\n    def __init__(self, x): pass\n",
            "cannot be made without arguments",
        ),
        (
            "from evalkit import Metric\nMetric(name='Not A Name', meaning='')\n",
            ":2: this scorer cannot be loaded",
        ),
    ],
)
def test_what_is_wrong_with_a_file_is_said(home, text, said) -> None:
    path = home.scorer("mine", ONE)
    path.write_text(text)
    with pytest.raises(ConfigError) as raised:
        find_scorers(home.project)
    assert said in str(raised.value)
    assert str(path) in str(raised.value)


def test_a_folder_or_another_file_is_no_scorer(home, tmp_path) -> None:
    (tmp_path / "notes.txt").write_text("")
    for path in (tmp_path, tmp_path / "notes.txt"):
        with pytest.raises(UsageError, match="no file of a scorer"):
            find_scorers(home.project, [str(path)])


def test_a_bundled_scorers_name_is_refused_to_another_scorer_by_naming_both(home) -> None:
    own = home.scorer("success", ONE)
    bundled = home.project.bundled / "scorers" / "success.py"
    bundled.parent.mkdir()
    bundled.write_text(own.read_text().replace("'m'", "'n'"))
    for names in ([], ["success"], [str(own)]):
        with pytest.raises(ConfigError, match="different scorers have the name 'success'") as raised:
            find_scorers(home.project, names)
        assert str(own) in str(raised.value)
        assert str(bundled) in str(raised.value)
    found = find_scorer(home.project, "success")
    assert (found.source, found.passed_over) == (str(bundled), str(own))


def test_a_copy_of_a_bundled_scorer_is_that_scorer(home) -> None:
    own = home.scorer("success", ONE)
    bundled = home.project.bundled / "scorers" / "success.py"
    bundled.parent.mkdir()
    bundled.write_bytes(own.read_bytes())
    assert [named.name for named in find_scorers(home.project)] == ["success"]
    assert len(find_scorers(home.project, ["success", str(own), str(bundled)])) == 1


def test_a_file_that_declares_the_metric_of_a_scorer_that_was_not_asked_for_is_refused(
    home, tmp_path
) -> None:
    path = home.scorer("other", ONE).rename(tmp_path / "other.py")
    home.scorer("one", ONE)
    with pytest.raises(ConfigError, match="the scorers one and other both declare the metric m"):
        find_scorers(home.project, [str(path)])
    with pytest.raises(ConfigError, match="different scorers have the name 'one'"):
        find_scorers(home.project, [str(_changed(path.rename(tmp_path / "one.py")))])


def test_a_file_with_the_name_of_a_broken_scorer_is_refused(home, tmp_path) -> None:
    path = home.scorer("one", ONE).rename(tmp_path / "one.py")
    home.scorer("one", ONE).write_text("raise ValueError")
    with pytest.raises(ConfigError, match="different scorers have the name 'one'"):
        find_scorers(home.project, [str(path)])


def test_a_scorer_is_found_beside_others_that_are_broken(home) -> None:
    home.scorer("one", ONE)
    home.scorer("broken", ONE).write_text("raise ValueError")
    assert [named.name for named in find_scorers(home.project, ["one"])] == ["one"]


def test_a_name_and_its_file_are_one_scorer(home) -> None:
    path = home.scorer("mine", ONE)
    assert len(find_scorers(home.project, ["mine", str(path)])) == 1


def test_what_lies_in_the_working_directory_under_a_scorers_name_is_not_meant(
    home, tmp_path, monkeypatch
) -> None:
    path = home.scorer("mine", ONE)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    assert [named.source for named in find_scorers(home.project, ["mine"])] == [str(path)]


def test_a_folder_beside_the_scorers_is_none(home) -> None:
    path = home.scorer("mine", ONE)
    (path.parent / "shared").mkdir()
    assert scorer_names(home.project) == ("mine",)


def _changed(path: Path) -> Path:
    path.write_text(path.read_text().replace("'m'", "'another'"))
    return path


def test_a_metric_with_the_name_of_a_curves_number_is_refused(home) -> None:
    home.scorer("one", ONE).write_text(
        "from evalkit import Metric, Scorer\n"
        "class One(Scorer):\n"
        "    metrics = (Metric(name='k', meaning='all', aggregation='curve', curve='pass^k', low=0, high=1),)\n"
        "    def score(self, trial): yield from ()\n"
    )
    home.scorer("other", ONE, metric="pass^2")
    with pytest.raises(ConfigError, match=r"give numbers of the same name"):
        find_scorers(home.project)
