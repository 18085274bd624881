"""Student's quantile and the binomial bound, against scipy's."""

from __future__ import annotations

import pytest
from scipy.stats import beta, t

from evalkit.stats.quantile import binomial_bound, student_quantile


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 7, 30, 199, 1999, 2000, 10_000])
@pytest.mark.parametrize("share", [0.5, 0.9, 0.975, 0.999])
def test_students_quantile_is_scipys(freedom, share):
    assert student_quantile(share, freedom) == pytest.approx(t.ppf(share, freedom), rel=1e-7, abs=1e-9)


@pytest.mark.parametrize(
    ("passed", "n"), [(1, 1), (1, 2), (3, 8), (8, 8), (1, 500), (250, 500), (499, 500), (3_000, 10_000)]
)
def test_the_binomial_bound_is_scipys(passed, n):
    assert binomial_bound(passed, n, 0.025) == pytest.approx(beta.ppf(0.025, passed, n - passed + 1))


def test_none_passed_bounds_nothing():
    assert binomial_bound(0, 8, 0.025) == 0


@pytest.mark.parametrize(("share", "freedom"), [(0.4, 3), (1.0, 3), (0.9, 0)])
def test_what_has_no_quantile_is_refused(share, freedom):
    with pytest.raises(ValueError, match="degree"):
        student_quantile(share, freedom)


def test_more_passed_than_there_are_is_refused():
    with pytest.raises(ValueError, match="passed"):
        binomial_bound(3, 2, 0.025)
