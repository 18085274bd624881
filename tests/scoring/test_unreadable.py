"""Stored scores that their metric cannot have are told, and take only their own metric out of sight."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evalkit.scoring.metric import Metric
from evalkit.scoring.quantity import Quantity
from evalkit.scoring.scored_trials import Column, LightTrial, ScoredTrials
from evalkit.scoring.summary import summarise
from evalkit.scoring.unreadable import readable

SHARE = Metric(name="m", meaning="a share", low=0, high=1)
LOG = Metric(name="m", meaning="a logarithm of a ratio", shown="exp")
TIMES = Metric(name="m", meaning="times", aggregation="curve", curve="survival")
GOOD = Metric(name="good", meaning="good", low=0)


def trials(*values: float | None, labels: list[str | None] | None = None, damaged: tuple[int, ...] = ()):
    """Trials with these scores of the metric m, and 1 each of the metric `good`."""
    rows = [
        LightTrial(f"t{number}", "s", None, f"k{number}", None, "clean", 1, "a", (), None, "passed")
        for number in range(len(values))
    ]
    told = np.array([math.nan if value is None else value for value in values])
    columns = {
        ("x", "m"): Column(told, labels, damaged=set(damaged)),
        ("x", "good"): Column(np.ones(len(values))),
    }
    return ScoredTrials(rows, columns, {"x": np.ones(len(values), dtype=np.bool_)})


def test_sound_scores_are_left_as_they_are() -> None:
    scored = trials(0, 1, None)
    assert readable(scored, {"x": [SHARE, GOOD]}) == (scored, ())


@pytest.mark.parametrize(
    ("metric", "scored", "said"),
    [
        (
            SHARE,
            trials(0.5, 7, -1),
            "2 of 3 stored scores are none that it can have, such as that of t1: 7 is",
        ),
        (SHARE, trials(None, None, 1, damaged=(1,)), "1 of 2 stored scores"),
        (GOOD, trials(1, 1e200), "1e+200 is too large to be added up"),
        (LOG, trials(1, 800), "800 is too large to be added up"),
        (TIMES, trials(1, 1, labels=["2, 3+", "soon"]), "of t1: the label 'soon' says no times"),
    ],
)
def test_a_metric_with_a_wrong_score_is_told_and_left_out_and_the_others_stay(metric, scored, said) -> None:
    declared = {"x": [metric, GOOD]}
    kept, (unreadable,) = readable(scored, declared)
    assert str(unreadable).startswith("m of x cannot be read: ")
    assert said in str(unreadable)
    summary = summarise(kept, declared)
    assert "good" in summary.names
    assert "m" not in summary.names


def test_what_is_computed_of_wrong_scores_is_left_out_with_them() -> None:
    of = Metric(name="all", meaning="x", aggregation="curve", curve="pass^k", of=("m",))
    kept, (unreadable,) = readable(trials(0.5, 1, labels=[None, None]), {"x": [SHARE, GOOD, of]})
    assert unreadable.problem == "0.5 is neither 0 nor 1, as pass^k needs"
    assert ("x", "m") not in kept.columns


def test_a_metric_that_nobody_declares_has_no_range_but_values_that_can_be_added_up() -> None:
    assert readable(trials(7, -1), {})[1] == ()
    assert len(readable(trials(7, -1e300), {})[1]) == 1


def test_only_what_can_give_the_wanted_numbers_is_computed() -> None:
    declared = {"x": [SHARE, GOOD]}
    (cell,) = summarise(trials(0, 1), declared, wanted=["m"]).cells
    assert set(cell.figures) == {"m"}
    (cell,) = summarise(trials(0, 1), declared, wanted=["good", "pass^1"]).cells
    assert set(cell.figures) == {"good", "pass^1"}


def test_where_a_wanted_number_is_not_known_all_are_computed_to_say_what_there_is() -> None:
    (cell,) = summarise(trials(0, 1), {"x": [SHARE, GOOD]}, wanted=["m", "goood"]).cells
    assert set(cell.figures) == {"m", "good", "pass^1"}


@pytest.mark.parametrize(
    ("curve", "name"),
    [
        ("pass^k", "pass^12"),
        ("pass@k", "pass@2"),
        ("maj@k", "maj@1"),
        ("survival", "m_mean"),
        ("survival", "m"),
        ("calibration", "auroc"),
    ],
)
def test_numbers_of_a_curve_are_wanted_by_their_own_names(curve, name) -> None:
    metric = Metric(name="m", meaning="x", aggregation="curve", curve=curve)
    assert Quantity("x", "m", metric).may_give(name)
    assert not Quantity("x", "m", metric).may_give(f"{name}x")


@pytest.mark.parametrize("label", ["x" * 2_000_000, "1, " * 700_000 + "x" * 9])
def test_a_label_of_any_length_is_told_in_a_line(label) -> None:
    _, (unreadable,) = readable(trials(1, labels=[label]), {"x": [TIMES]})
    assert len(str(unreadable)) < 1000
    assert "more characters)" in str(unreadable)
