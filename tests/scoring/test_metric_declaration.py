"""A metric that cannot be what it is declared as is refused where it is declared."""

from __future__ import annotations

import pytest

from evalkit.errors import ConfigError
from evalkit.scoring.metric import Metric
from evalkit.scoring.registry import find_scorers


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"name": "Not A Name"}, "'Not A Name' is no name of a metric: lower-case letters"),
        ({"name": ""}, "is no name"),
        ({"name": 7}, "7 is no name"),
        ({"meaning": " "}, "meaning is one line of text, not ' '"),
        ({"meaning": "a\nb"}, "meaning is one line of text"),
        ({"unit": None}, "unit is one line of text, not None"),
        ({"null_when": ""}, "null_when is one line of text"),
        ({"better": "bigger"}, "better is one of higher, lower, neither, not 'bigger'"),
        (
            {"aggregation": "mean"},
            "aggregation is one of task_mean, ratio_of_sums, ratio_of_means, curve, max, not 'mean'",
        ),
        ({"aggregation": []}, "aggregation is one of"),
        ({"shown": "log"}, "shown is one of value, exp, expm1, not 'log'"),
        ({"aggregation": "curve", "curve": "auc"}, "curve is one of pass^k, pass@k"),
        ({"aggregation": "curve"}, "aggregation `curve` and a curve belong together"),
        ({"curve": "pass^k"}, "aggregation `curve` and a curve belong together"),
        (
            {"aggregation": "curve", "curve": "pass^k", "shown": "exp"},
            "the numbers of a curve are shown as they are",
        ),
        ({"counts_unscored": 1}, "counts_unscored is True or False, not 1"),
        ({"low": 2, "high": 1}, "low, 2, is above high, 1"),
        ({"low": float("nan")}, "low is a finite number, or None for no bound, not nan"),
        ({"high": float("inf")}, "high is a finite number"),
        ({"high": 10**400}, "high is a finite number"),
        ({"low": "0"}, "low is a finite number, or None for no bound, not '0'"),
        ({"of": ("other",)}, "task_mean is `of` no other metric"),
        ({"of": "other"}, "of is a tuple of names of metrics"),
        ({"of": (1,)}, "of is a tuple of names of metrics"),
        ({"aggregation": "ratio_of_sums"}, "ratio_of_sums is `of` two metrics, not ()"),
        ({"aggregation": "ratio_of_sums", "of": ("a", "b", "c")}, "ratio_of_sums is `of` two metrics"),
        ({"aggregation": "ratio_of_means", "of": ("a",)}, "ratio_of_means is `of` two metrics"),
        ({"aggregation": "max", "of": ("a", "b")}, "max is `of` one metric at most"),
        ({"aggregation": "max", "of": ("m",)}, "it is computed of itself"),
    ],
)
def test_a_wrong_declaration_says_what_is_allowed(wrong, said) -> None:
    with pytest.raises(ValueError) as raised:
        Metric(**{"name": "m", "meaning": "x", **wrong})
    assert said in str(raised.value)


@pytest.mark.parametrize(
    "right",
    [
        {"name": "pass^k", "aggregation": "curve", "curve": "pass^k", "of": ("success",)},
        {"aggregation": "ratio_of_sums", "of": ("part", "whole"), "low": 0, "high": 1},
        {"aggregation": "max", "of": ("seconds",)},
        {"shown": "expm1", "low": -5.0},
    ],
)
def test_a_right_declaration_is_taken(right) -> None:
    assert Metric(**{"name": "m", "meaning": "x", **right}).meaning == "x"


def test_a_wrong_declaration_names_the_file_and_the_line_of_the_scorer(home) -> None:
    path = home.scorer("mine", "return ()")
    path.write_text(path.read_text().replace("low=0", "better='up'"))
    with pytest.raises(ConfigError, match="better is one of higher, lower, neither") as raised:
        find_scorers(home.project)
    assert raised.value.where == f"{path}:4"


def test_what_a_metric_is_computed_of_has_scores_of_its_own(home) -> None:
    path = home.scorer("mine", "return ()")
    more = "Metric(name='n', meaning='x', aggregation='max', of=('m',)), "
    twice = "Metric(name='o', meaning='x', aggregation='max', of=('n',)), "
    path.write_text(path.read_text().replace("metrics = (", f"metrics = ({more}{twice}"))
    with pytest.raises(ConfigError, match="computes o of n, which is itself computed of others"):
        find_scorers(home.project)


@pytest.mark.parametrize(
    ("one", "other", "clash"),
    [
        (
            "name='a', aggregation='curve', curve='pass^k'",
            "name='b', aggregation='curve', curve='pass^k'",
            True,
        ),
        ("name='a', aggregation='curve', curve='pass^k'", "name='pass^1'", True),
        ("name='a', aggregation='curve', curve='survival'", "name='a_mean'", True),
        ("name='a', aggregation='curve', curve='calibration'", "name='auroc'", True),
        (
            "name='a', aggregation='curve', curve='pass^k'",
            "name='b', aggregation='curve', curve='pass@k'",
            False,
        ),
        (
            "name='a', aggregation='curve', curve='survival'",
            "name='b', aggregation='curve', curve='survival'",
            False,
        ),
    ],
)
def test_two_metrics_of_a_scorer_never_give_numbers_of_one_name(home, one, other, clash) -> None:
    path = home.scorer("mine", "return ()")
    declared = f"metrics = (Metric({one}, meaning='x'), Metric({other}, meaning='x'), "
    path.write_text(path.read_text().replace("metrics = (", declared))
    if not clash:
        assert len(find_scorers(home.project)) == 1
        return
    with pytest.raises(ConfigError, match="give numbers of the same names"):
        find_scorers(home.project)
