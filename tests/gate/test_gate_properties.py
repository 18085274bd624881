"""What holds of the gate, whatever the runs are."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from evalkit.gate.power import verdict_on
from evalkit.stats.lower_bound import lower_bound, tasks_needed

OUTCOMES = st.sampled_from([0.0, 1.0])
PAIRS = st.lists(
    st.tuples(st.lists(OUTCOMES, min_size=1, max_size=3), st.lists(OUTCOMES, min_size=1, max_size=3)),
    min_size=10,
    max_size=60,
)
"""Of each task the baseline's outcomes, and the candidate's."""
MARGINS = st.floats(0.01, 0.6)


def both(side, pairs):
    """The candidate and the baseline."""
    before = {f"t{n}": own[0] for n, own in enumerate(pairs)}
    after = {f"t{n}": own[1] for n, own in enumerate(pairs)}
    return side(after, name="candidate"), side(before, name="baseline")


def figures(found):
    """What was decided and measured, without words."""
    return (
        found.outcome,
        found.n,
        found.difference,
        found.low,
        found.high,
        found.p,
        found.p_holm,
        found.tolerable,
    )


@given(pairs=PAIRS, margin=MARGINS)
def test_identical_arms_never_regress_and_pass_where_there_are_tasks_enough(
    side, verdict, rule, only, pairs, margin
):
    same = [(own[0], own[0]) for own in pairs]
    found = only(verdict(*both(side, same), rule(margin=margin)))
    assert found.outcome == ("pass" if len(pairs) >= tasks_needed(margin) else "inconclusive")
    assert (found.difference, found.p) == (0, 1)


@given(pairs=PAIRS, margin=MARGINS)
def test_what_passes_is_not_regressed(side, verdict, rule, only, pairs, margin):
    found = only(verdict(*both(side, pairs), rule(margin=margin)))
    assert found.low is not None
    assert (found.outcome == "pass") == (found.low > -margin)
    if found.outcome == "regressed":
        assert found.difference < 0
        assert found.p_holm <= 0.05


@given(pairs=PAIRS, margins=st.tuples(MARGINS, MARGINS))
def test_a_larger_margin_never_loses_a_pass(side, verdict, rule, only, pairs, margins):
    narrow, wide = (only(verdict(*both(side, pairs), rule(margin=margin))) for margin in sorted(margins))
    assert narrow.outcome != "pass" or wide.outcome == "pass"


@given(pairs=PAIRS, margin=MARGINS)
def test_every_epoch_twice_adds_no_precision(side, verdict, rule, only, pairs, margin):
    twice = [(own[0] * 2, own[1] * 2) for own in pairs]
    one, two = (only(verdict(*both(side, some), rule(margin=margin))) for some in (pairs, twice))
    assert figures(one) == figures(two)


@given(tasks=st.integers(2, 58), epochs=st.integers(1, 16))
def test_fewer_than_59_agreeing_tasks_do_not_pass_a_margin_of_5_points(side, verdict, only, tasks, epochs):
    found = only(verdict(*both(side, [([1.0] * epochs, [1.0] * epochs)] * tasks), min_tasks=2))
    assert found.outcome == "inconclusive"
    assert found.needed == 59


@given(pairs=PAIRS)
def test_swapping_the_arms_flips_sign_and_interval(side, verdict, only, pairs):
    there = only(verdict(*both(side, pairs)))
    back = only(verdict(*both(side, [own[::-1] for own in pairs])))
    assert there.difference == -back.difference
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low), abs=1e-12)


@given(pairs=PAIRS, names=st.permutations(range(60)), order=st.randoms(use_true_random=False))
def test_neither_names_nor_order_matter(side, verdict, only, pairs, names, order):
    shuffled = list(enumerate(pairs))
    order.shuffle(shuffled)
    before = {f"x{names[n]}": own[0] for n, own in shuffled}
    after = {f"x{names[n]}": list(reversed(own[1])) for n, own in shuffled}
    found = only(verdict(side(after, agent="b"), side(before, agent="c")))
    assert figures(found) == figures(only(verdict(*both(side, pairs))))


@given(pairs=PAIRS, more=st.data(), margin=MARGINS)
def test_another_metric_never_makes_one_regress(side, verdict, rule, pairs, more, margin):
    shares = st.lists(st.floats(0, 1), min_size=3, max_size=3)
    metrics = [{f"t{n}": more.draw(shares) for n in range(len(pairs))} for _ in range(2)]
    before, after = ({f"t{n}": own[place] * 3 for n, own in enumerate(pairs)} for place in (0, 1))
    sides = [
        side({task: own[:3] for task, own in tries.items()}, metrics={"errors": errors})
        for tries, errors in zip((after, before), metrics, strict=True)
    ]
    rules = [rule(margin=margin), rule("errors", kind="rise")]
    alone = verdict(*sides, rules[0]).agents[0].metrics[0]
    together = verdict(*sides, *rules).agents[0].metrics[0]
    assert together.outcome != "regressed" or alone.outcome == "regressed"
    assert (together.outcome == "pass") == (alone.outcome == "pass")


@given(pairs=PAIRS)
def test_the_same_runs_give_the_same_verdict(side, verdict, pairs):
    assert verdict(*both(side, pairs)) == verdict(*both(side, pairs))


@given(pairs=PAIRS, unscored=st.sets(st.integers(0, 9), max_size=3))
def test_unscored_trials_are_bounded_by_the_worst_case(side, verdict, only, pairs, unscored):
    """Each task has a further epoch of which the candidate's is unscored at times."""
    longer = [(own[0], [*own[1], None if n in unscored else own[1][0]]) for n, own in enumerate(pairs)]
    found = only(verdict(*both(side, longer), max_unscored=0.9))
    assert found.worst_case <= found.difference
    lost = [(own[0], [0.0 if value is None else value for value in own[1]]) for own in longer]
    assert found.worst_case == pytest.approx(only(verdict(*both(side, lost))).difference)


@given(values=st.lists(st.floats(-1, 1), min_size=1, max_size=80), share=st.sampled_from([0.025, 0.05]))
def test_the_bound_lies_between_the_worst_and_the_mean(values, share):
    found = lower_bound(np.array(values), -1.0, share=share)
    assert found is not None
    assert -1 <= found <= np.mean(values) + 1e-9


@given(values=st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=2, max_size=60), margin=MARGINS)
def test_power_simulates_what_the_gate_says(side, verdict, rule, only, values, margin):
    """Of one metric alone, where Holm has nothing to adjust."""
    pairs = [([0.0 if value == 1 else 1.0], [0.0 if value == -1 else 1.0]) for value in values]
    assume(len(pairs) >= 2)
    found = only(verdict(*both(side, pairs), rule(margin=margin), min_tasks=2))
    assert verdict_on(np.array(values), margin) == found.outcome


def test_verdicts_are_frozen(side, verdict):
    found = verdict(side({"t": [1]}), side({"t": [1]}))
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.outcome = "pass"
