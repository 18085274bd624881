"""Does a sum say when it is not known?"""

from __future__ import annotations

from evalkit.trajectory.totals import total, total_at_least


def test_a_sum_over_an_unknown_is_unknown():
    assert total([1, None, 2]) is None


def test_a_sum_of_known_numbers_is_their_sum():
    assert total([1, 0.5]) == 1.5


def test_a_sum_of_nothing_is_zero():
    assert total([]) == 0


def test_a_lower_bound_leaves_the_unknown_out():
    assert total_at_least([1, None, 2]) == 3
