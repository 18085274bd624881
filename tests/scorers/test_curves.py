"""Numbers that several trials make together."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.measures.waited import Waited, notation
from evalkit.scoring.curves import curve
from evalkit.scoring.metric import Metric
from evalkit.scoring.point import Point

TASKS = st.sampled_from(["k", "l", "m"])
SHARES = st.sampled_from([0.0, 1.0])
TIMES = st.lists(st.builds(Waited, st.integers(0, 40), st.booleans()), max_size=4).map(notation)
POINTS = {
    "pass^k": st.builds(Point, TASKS, SHARES),
    "pass@k": st.builds(Point, TASKS, SHARES),
    "agreement": st.builds(Point, TASKS, SHARES),
    "maj@k": st.builds(Point, TASKS, SHARES, st.sampled_from(["x", "y", None])),
    "similarity": st.builds(
        Point, TASKS, st.sampled_from([None, 1.0]), st.sampled_from(["a b", "a", "b a c"])
    ),
    "survival": st.builds(Point, TASKS, st.none(), TIMES),
    "calibration": st.builds(
        Point, TASKS, st.sampled_from([0.0, 0.25, 1.0]), st.sampled_from(["passed", "failed"])
    ),
    "quartiles": st.builds(Point, TASKS, st.sampled_from([None, 0.0, 0.25, 1.0])),
}
KINDS = pytest.mark.parametrize("kind", POINTS)


def metric(kind: str) -> Metric:
    return Metric(name="number", meaning="m", aggregation="curve", curve=kind)


@KINDS
@given(st.data())
def test_the_order_of_trials_and_tasks_never_matters(kind, data):
    points = data.draw(st.lists(POINTS[kind], max_size=12))
    shuffled = data.draw(st.permutations(points))
    before = curve(metric(kind), points)
    assert curve(metric(kind), shuffled) == {
        name: None if value is None else pytest.approx(value) for name, value in before.items()
    }


@KINDS
@given(st.data())
def test_numbers_are_bounded(kind, data):
    points = data.draw(st.lists(POINTS[kind], max_size=12))
    most = 40 if kind == "survival" else 1
    assert all(value is None or 0 <= value <= most for value in curve(metric(kind), points).values())


@KINDS
def test_without_trials_there_is_nothing(kind):
    assert set(curve(metric(kind), []).values()) <= {None}


@given(st.lists(POINTS["pass^k"], min_size=1, max_size=8))
def test_duplicating_every_epoch_leaves_plain_means_unchanged(points):
    for kind, name in (("pass^k", "pass^1"), ("pass@k", "pass@1")):
        assert curve(metric(kind), points * 2)[name] == pytest.approx(curve(metric(kind), points)[name])


@given(st.lists(POINTS["maj@k"], min_size=1, max_size=8))
def test_duplicating_every_epoch_leaves_the_majority_of_one_unchanged(points):
    once = curve(metric("maj@k"), points)
    twice = curve(metric("maj@k"), points * 2)
    assert twice.get("maj@1") == (pytest.approx(once["maj@1"]) if once else None)


@given(st.lists(POINTS["pass^k"], min_size=1, max_size=12))
def test_more_attempts_never_make_all_likelier_nor_one_unlikelier(points):
    of_one = [dataclasses.replace(point, task="k") for point in points]
    every, some = (list(curve(metric(kind), of_one).values()) for kind in ("pass^k", "pass@k"))
    assert every == sorted(every, reverse=True)
    assert some == sorted(some)


def test_k_goes_to_the_most_epochs_of_a_task_and_to_16():
    points = [Point("k", 1.0)] * 3 + [Point("l", 0.0)]
    assert curve(metric("pass^k"), points) == {"pass^1": 0.5, "pass^2": 1.0, "pass^3": 1.0}
    assert list(curve(metric("pass@k"), [Point("k", 1.0)] * 20)) == [f"pass@{k}" for k in range(1, 17)]


def test_times_to_recovery_by_hand():
    """Of 2, 5, 10+ and 10+: a half is left from 5 on; the area is 2 + 3/4 of 3 + 1/2 of 5."""
    points = [Point("k", None, "2, 10+"), Point("l", None, "5, 10+")]
    assert curve(metric("survival"), points) == {"number": 5.0, "number_mean": pytest.approx(6.75)}


def test_the_median_is_unknown_where_most_never_recovered():
    assert curve(metric("survival"), [Point("k", None, "2, 10+, 10+")]) == {
        "number": None,
        "number_mean": pytest.approx(2 + 8 * 2 / 3),
    }


def test_what_was_put_right_at_once_took_no_time():
    assert curve(metric("survival"), [Point("k", None, "0, 0, 0+")]) == {"number": 0.0, "number_mean": 0.0}


def test_a_confidence_of_few_trials_has_no_calibration_error():
    numbers = curve(metric("calibration"), [Point("k", 0.9, "passed"), Point("l", 0.2, "failed")])
    assert numbers == {"expected_calibration_error": None, "auroc": 1.0, "risk_coverage_area": 0.25}


def test_a_metric_without_a_curve_is_refused():
    with pytest.raises(ValueError, match="has no curve"):
        curve(Metric(name="plain", meaning="m"), [])


def test_quartiles_are_those_of_the_means_of_tasks():
    points = [
        Point(task, value) for task, value in zip("kkllmn", (0.0, 2.0, 2.0, 2.0, 3.0, 4.0), strict=True)
    ]
    assert curve(metric("quartiles"), points) == {"number": 2.5, "number_q1": 1.75, "number_q3": 3.25}
    assert curve(metric("quartiles"), points[:2]) == {"number": 1.0}
