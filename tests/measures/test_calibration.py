"""Confidence against outcome."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.measures.calibration import auroc, brier, expected_calibration_error, risk_coverage_area

ANSWERS = st.lists(st.tuples(st.integers(0, 10).map(lambda tenth: tenth / 10), st.booleans()), max_size=30)
ALL = (brier, expected_calibration_error, auroc, risk_coverage_area)


def test_perfect_and_worst():
    assert brier([(1.0, True), (0.0, False)]) == 0
    assert brier([(0.0, True), (1.0, False)]) == 1
    assert auroc([(0.9, True), (0.1, False)]) == 1
    assert auroc([(0.1, True), (0.9, False)]) == 0
    assert auroc([(0.5, True), (0.5, False)]) == 0.5
    assert risk_coverage_area([(0.9, True), (0.1, False)]) == 0.25


def test_nothing_to_say_is_none():
    assert [measure([]) for measure in ALL] == [None, None, None, None]
    assert auroc([(0.5, True)]) is None


def test_the_calibration_error_needs_many_answers():
    assert expected_calibration_error([(0.5, True)] * 199) is None
    assert expected_calibration_error([(0.5, True)] * 200) == 0.5
    assert expected_calibration_error([(0.3, True)] * 60 + [(0.3, False)] * 140) == pytest.approx(0.0)


def test_an_upper_edge_belongs_to_its_bin():
    lower, upper = [(0.05, False)] * 100, [(0.1, True)] * 100
    assert expected_calibration_error(lower + upper) == pytest.approx(abs(0.075 - 0.5))


@pytest.mark.parametrize("confidence", [-0.1, 1.1, float("nan")])
@pytest.mark.parametrize("measure", ALL)
def test_what_is_no_confidence_is_refused(measure, confidence):
    with pytest.raises(ValueError, match="from 0 to 1"):
        measure([(confidence, True)])


@given(ANSWERS, st.randoms())
def test_they_are_bounded_and_the_order_does_not_matter(answers, random):
    before = [measure(answers) for measure in ALL]
    assert all(value is None or 0 <= value <= 1 for value in before)
    random.shuffle(answers)
    assert [measure(answers) for measure in ALL] == [
        None if value is None else pytest.approx(value) for value in before
    ]


@given(ANSWERS)
def test_auroc_is_the_share_of_pairs_in_the_right_order(answers):
    pairs = [
        1.0 if sure > unsure else 0.5 if sure == unsure else 0.0
        for sure, passed in answers
        for unsure, other in answers
        if passed and not other
    ]
    assert auroc(answers) == (pytest.approx(sum(pairs) / len(pairs)) if pairs else None)
