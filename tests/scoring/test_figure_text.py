"""How numbers are written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.scoring.figure_text import change_text, interval_text, number_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (0.0, "0.00"),
        (1.0, "1.00"),
        (0.998, "0.998"),
        (0.0004, "0.00040"),
        (0.5, "0.50"),
        (1234.0, "1,234"),
    ],
)
def test_a_number_has_the_digits_that_it_needs(value, text):
    assert number_text(value) == text


def test_what_is_not_0_is_never_written_as_0():
    assert change_text(-0.062, -0.25, -0.0001) == "-0.062 [-0.250, -0.0001]"
    assert change_text(-0.062, -0.25, -0.0) == "-0.062 [-0.250, 0.000]"


def test_no_value_is_a_dash_and_never_0():
    assert interval_text(None, None, None) == change_text(None, None, None) == "-"
    assert number_text(None, 1.0) == "-"


@given(st.floats(0, 1))
def test_only_none_and_all_are_written_as_such(share):
    text = interval_text(share, 0.0, 1.0).split()[0]
    assert (text == "1.00") == (share > 0.999995)
    assert (text == "0.00") == (share < 0.000005)


@given(st.floats(-1e6, 1e6), st.floats(0, 1e3), st.floats(0, 1e3))
def test_a_change_keeps_the_signs_that_tell_whether_0_is_within(value, below, above):
    low, high = value - below, value + above
    told = change_text(value, low, high).replace("[", "").replace("]", "").replace(",", "").split()
    for number, text in zip((value, low, high), told, strict=True):
        assert (text[0] == "-") == (number < 0)
        assert (text[0] == "+") == (number > 0)
