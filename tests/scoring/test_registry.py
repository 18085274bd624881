"""A scorer is found by its name, and what is wrong with one is said by file and line."""

from __future__ import annotations

import importlib.metadata

import pytest

from evalkit.errors import ConfigError, UsageError
from evalkit.project import Project
from evalkit.scoring.metric import Metric
from evalkit.scoring.registry import find_scorers, scorer_names

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


def test_a_package_offers_scorers_under_an_entry_point(home, monkeypatch) -> None:
    point = importlib.metadata.EntryPoint("packaged", "scorers_of_a_package:Mine", "evalkit.scorers")
    path = home.scorer("scorers_of_a_package", ONE, metric="packaged")
    monkeypatch.syspath_prepend(str(path.parent))
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda *, group: (point,))
    named = find_scorers(home.project, ["packaged"])[0]
    assert (named.name, [m.name for m in named.scorer.metrics]) == ("packaged", ["packaged"])
    assert scorer_names(home.project) == ("packaged", "scorers_of_a_package")


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
    assert "Did you mean first_look?" in str(raised.value)


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


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "M"},
        {"aggregation": "ratio_of_sums"},
        {"aggregation": "curve"},
        {"curve": "pass^k"},
        {"low": 2, "high": 1},
    ],
)
def test_a_declaration_that_contradicts_itself_is_refused(wrong) -> None:
    with pytest.raises(ValueError, match=r"m"):
        Metric(**{"name": "m", "meaning": "x", **wrong})
