"""Places that claim no more than was measured, and who is on the frontier."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.scoring.per_task import Means
from evalkit.scoring.ranks import Rank, frontier, ranks

UNITS = [("s", f"t{n:03}", "clean") for n in range(60)]


def means(values):
    tasks = np.arange(len(values))
    return Means(tasks, tasks, np.array(values, dtype=float), len(values), 0)


def test_who_is_surely_better_stands_before_and_others_share_their_places():
    best, good, alike = [1.0] * 60, [1.0, 0.0, 0.0] * 20, [0.0, 1.0, 0.0] * 20
    assert ranks({"best": means(best), "b": means(good), "c": means(alike)}, UNITS) == {
        "best": Rank(1, 1),
        "b": Rank(2, 3),
        "c": Rank(2, 3),
    }


def test_of_a_cost_the_lower_is_the_better():
    found = ranks({"dear": means([9.0] * 30), "cheap": means([1.0] * 30)}, UNITS, higher_is_better=False)
    assert found == {"dear": Rank(2, 2), "cheap": Rank(1, 1)}


def test_a_few_tasks_tell_nobody_apart():
    found = ranks({"a": means([1.0] * 4), "b": means([0.0] * 4)}, UNITS)
    assert found == {"a": Rank(1, 2), "b": Rank(1, 2)}


def test_many_comparisons_make_each_less_sure():
    """Ten of ten tasks are enough for two agents (p = .002), and not where fifty are compared."""
    pair = {"a": means([1.0] * 10), "b": means([0.0] * 10)}
    others = {f"c{n}": means([0.5] * 10) for n in range(48)}
    assert ranks(pair, UNITS)["a"] == Rank(1, 1)
    assert ranks({**pair, **others}, UNITS)["a"] == Rank(1, 50)


@given(
    st.dictionaries(
        st.sampled_from("abcdef"), st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=30, max_size=30)
    )
)
def test_places_hold_together(own):
    found = ranks({name: means(values) for name, values in own.items()}, UNITS)
    assert all(1 <= rank.best <= rank.worst <= len(own) for rank in found.values())
    for a, b in itertools.permutations(own, 2):
        if found[a].worst < found[b].best:
            assert np.mean(own[a]) > np.mean(own[b])


POINTS = st.dictionaries(
    st.sampled_from("abcdefgh"),
    st.tuples(
        st.one_of(st.none(), st.integers(0, 5).map(float)), st.one_of(st.none(), st.integers(0, 5).map(float))
    ),
)


@given(POINTS)
def test_on_the_frontier_is_whom_nobody_beats(points):
    found = frontier(points)
    for name, (cost, won) in points.items():
        if cost is None or won is None:
            assert name not in found
            continue
        beaten = [
            other
            for other, (price, success) in points.items()
            if price is not None
            and success is not None
            and price <= cost
            and success >= won
            and (price < cost or success > won)
        ]
        assert (name in found) == (not beaten and won > 0)


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_agents_changes_nothing(seed):
    dice = random.Random(seed)
    own = {
        name: means([float(dice.random() < 0.1 * place) for _ in range(40)])
        for place, name in enumerate("abcdefgh")
    }
    items = list(own.items())
    dice.shuffle(items)
    assert ranks(dict(items), UNITS) == ranks(own, UNITS)
