import pytest
from durations import overlap, parse, render


@pytest.mark.parametrize(("text", "expected"), [("1h30m", 5400), ("", 0), ("2d", 172800), ("1m5s", 65)])
def test_parse(text, expected):
    assert parse(text) == expected


@pytest.mark.parametrize(("seconds", "expected"), [(3661, "1h1m1s"), (90000, "1d1h"), (7200, "2h")])
def test_render(seconds, expected):
    assert render(seconds) == expected


def test_spans_that_meet_share_nothing():
    assert overlap((0, 10), (10, 20)) == 0


def test_a_span_inside_another_is_shared_whole():
    assert overlap((0, 100), (20, 30)) == 10


def test_spans_apart_share_nothing():
    assert overlap((50, 60), (0, 10)) == 0
