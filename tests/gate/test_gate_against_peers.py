"""The arithmetic of the gate, against implementations that share none of its code.

statsmodels (Holm, Clopper and Pearson, McNemar's exact test), deltagate and paired-eval are installed for these tests
only: `make test-packages`.
"""

from __future__ import annotations

import importlib
import importlib.util
import os

import numpy as np
import pytest

from evalkit.stats.holm import holm
from evalkit.stats.lower_bound import lower_bound
from evalkit.stats.permutation import sign_flip_p

pytestmark = pytest.mark.filterwarnings("default")  # theirs, as the packages are imported
RANDOM = np.random.default_rng(30)
P_VALUES = [RANDOM.random(n) ** 2 for n in (1, 2, 5, 20)]
OUTCOMES = [(RANDOM.random(n) < 0.6, RANDOM.random(n) < 0.5) for n in (5, 20, 60, 300)]


@pytest.fixture
def peer():
    """A module of a package that is there for tests only: skipped where it is not, and failed where it is required."""

    def load(name: str):
        if importlib.util.find_spec(name.partition(".")[0]) is None:
            if "peers" in os.environ.get("EVALKIT_REQUIRE", "").split(","):
                pytest.fail(f"the package of {name} is required")
            pytest.skip(f"the package of {name} is not installed")
        return importlib.import_module(name)

    return load


@pytest.mark.parametrize("values", P_VALUES, ids=len)
def test_holm_adjusts_as_statsmodels_deltagate_and_paired_eval_do(peer, values):
    ours = holm(values.tolist())
    assert ours == pytest.approx(peer("statsmodels.stats.multitest").multipletests(values, method="holm")[1])
    assert ours == pytest.approx(peer("deltagate.multiplicity").holm_bonferroni(values.tolist()).adjusted)
    assert ours == pytest.approx(peer("paired_eval.claim_eval").holm_adjust(values.tolist()))


@pytest.mark.parametrize(("broken", "n"), [(0, 10), (0, 59), (3, 80), (20, 40), (40, 40)])
def test_where_tasks_only_break_the_bound_is_clopper_and_pearsons(peer, broken, n):
    differences = np.array([-1.0] * broken + [0.0] * (n - broken))
    upper = peer("statsmodels.stats.proportion").proportion_confint(broken, n, alpha=0.1, method="beta")[1]
    assert lower_bound(differences, -1.0) == pytest.approx(-upper, abs=1e-9)


@pytest.mark.parametrize(("a", "b"), OUTCOMES, ids=lambda own: str(len(own)))
def test_of_single_outcomes_a_sign_flip_test_is_mcnemars_exact_one(peer, a, b):
    ours = sign_flip_p(b.astype(float) - a.astype(float))
    only_a, only_b = int((a & ~b).sum()), int((b & ~a).sum())
    table = [[0, only_a], [only_b, 0]]
    assert ours == pytest.approx(
        peer("statsmodels.stats.contingency_tables").mcnemar(table, exact=True).pvalue
    )
    assert ours == pytest.approx(peer("deltagate.mcnemar").mcnemar_test(only_a, only_b, exact=True).p_value)
    assert ours == pytest.approx(peer("paired_eval.claim_eval").mcnemar_exact(only_a, only_b))


@pytest.mark.parametrize("n", [8, 20, 60])
def test_of_shares_of_epochs_it_is_what_random_flips_give(peer, n):
    a, b = RANDOM.integers(0, 5, n) / 4, RANDOM.integers(0, 6, n) / 4
    theirs = peer("paired_eval.claim_eval").paired_compare(b.tolist(), a.tolist(), n_resamples=20_000)
    assert sign_flip_p(b - a) == pytest.approx(theirs["p_value"], abs=0.015)
