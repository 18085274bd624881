"""What the scores of a run add up to."""

from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.errors import ConfigError
from evalkit.scoring.curves import curve
from evalkit.scoring.estimate import Estimate
from evalkit.scoring.metric import Metric
from evalkit.scoring.point import Point
from evalkit.scoring.scored_trials import Column, LightTrial, ScoredTrials
from evalkit.scoring.summary import Cell, Summary, summarise

SHARE = Metric(name="m", meaning="a share", low=0, high=1)
AMOUNT = Metric(name="m", meaning="an amount", low=0)
RATIO = (
    Metric(name="part", meaning="part", low=0),
    Metric(name="whole", meaning="whole", low=0),
    Metric(name="m", meaning="of all", aggregation="ratio_of_sums", of=("part", "whole"), low=0, high=1),
)
PASS_K = (
    Metric(name="success", meaning="passed", low=0, high=1),
    Metric(
        name="pass^k", meaning="all pass", aggregation="curve", curve="pass^k", of=("success",), low=0, high=1
    ),
)

Row = tuple[str, dict[str, float | None]]
"""A task, and its scores by metric."""


def trial(task: str, number: int, **columns: object) -> LightTrial:
    given: dict[str, object] = {
        "trial_id": f"t{number}",
        "suite": "s",
        "suite_digest": None,
        "task_id": task,
        "task_digest": None,
        "variant": "clean",
        "epoch": number,
        "agent": "a",
        "skills": (),
        "difficulty": None,
        "status": "passed",
    }
    return LightTrial(**{**given, **columns})  # type: ignore[arg-type]


def run_of(rows: Sequence[Row], trials: Sequence[LightTrial] | None = None) -> ScoredTrials:
    """A run of trials with scores of the scorer `x`."""
    names = list(dict.fromkeys(name for _, scores in rows for name in scores))
    columns = {
        ("x", name): Column(
            np.array([math.nan if (value := scores.get(name)) is None else value for _, scores in rows]),
            [None] * len(rows),
        )
        for name in names
    }
    trials = trials or [trial(task, number) for number, (task, _) in enumerate(rows)]
    return ScoredTrials(trials, columns, {"x": np.ones(len(rows), dtype=np.bool_)})


def values(*pairs: tuple[str, float | None]) -> list[Row]:
    return [(task, {"m": value}) for task, value in pairs]


def told(summary: Summary, name: str = "m") -> Estimate:
    (own,) = summary.cells
    return own.figures[name].estimate


def cells(summary: Summary) -> dict[tuple[str, str, str | None], Cell]:
    return {(own.agent, own.arm, own.group): own for own in summary.cells}


def test_epochs_are_averaged_first_and_then_tasks_with_equal_weights():
    found = told(summarise(run_of(values(("a", 1), ("a", 0), ("a", 1), ("a", 1), ("b", 0))), {"x": [SHARE]}))
    assert found.value == pytest.approx((3 / 4 + 0) / 2)
    assert (found.n, found.trials, found.unknown) == (2, 5, 0)


def test_an_amount_has_students_interval_that_ends_where_its_range_does():
    found = told(summarise(run_of(values(("a", 0), ("b", 1), ("c", 8))), {"x": [AMOUNT]}))
    assert found.value == 3
    assert found.high == pytest.approx(3 + 4.302653 * 4.358899 / math.sqrt(3), rel=1e-6)
    assert found.low == 0


def test_tasks_that_all_pass_leave_room_for_further_ones():
    found = told(summarise(run_of(values(*((f"t{i}", 1) for i in range(8)))), {"x": [SHARE]}))
    assert found.value == found.high == 1
    assert found.low == pytest.approx(0.025 ** (1 / 8))


def test_amounts_that_are_all_equal_have_no_interval():
    found = told(summarise(run_of(values(("a", 3), ("b", 3), ("c", 3))), {"x": [AMOUNT]}))
    assert (found.value, found.low, found.high) == (3, None, None)


def test_one_task_has_no_interval_however_many_epochs():
    found = told(summarise(run_of(values(("a", 1), ("a", 0), ("a", 1))), {"x": [SHARE]}))
    assert found.value == pytest.approx(2 / 3)
    assert (found.low, found.high, found.n) == (None, None, 1)


def test_unknown_is_counted_and_never_zero():
    found = told(summarise(run_of(values(("a", 1), ("a", None), ("b", None), ("c", 1))), {"x": [SHARE]}))
    assert (found.value, found.n, found.trials, found.unknown) == (1, 2, 2, 2)


def test_where_nothing_is_known_there_is_no_number():
    summary = summarise(run_of(values(("a", None), ("b", None))), {"x": [SHARE, *RATIO[:2]]})
    assert told(summary) == Estimate(None, None, None, 0, 0, 2)
    assert "m" not in summary.names


def test_a_ratio_is_one_of_sums_over_all_trials():
    rows = [
        ("a", {"part": 1.0, "whole": 1.0}),
        ("b", {"part": 2.0, "whole": 9.0}),
        ("c", {"part": None, "whole": 5.0}),
    ]
    found = told(summarise(run_of(rows), {"x": RATIO}))
    assert found.value == pytest.approx(3 / 10)
    assert (found.n, found.trials, found.unknown) == (2, 2, 1)
    assert found.low is not None
    assert found.high is not None
    assert 0 < found.low < 0.3 < found.high < 1


def test_a_ratio_to_nothing_is_undefined():
    found = told(
        summarise(
            run_of([("a", {"part": 0.0, "whole": 0.0}), ("b", {"part": 0.0, "whole": 0.0})]), {"x": RATIO}
        )
    )
    assert (found.value, found.low, found.high) == (None, None, None)


def test_a_ratio_without_bounds_is_drawn_again_by_task():
    ratio = dataclasses.replace(RATIO[2], high=None)
    rows = [(f"t{i}", {"part": float(i), "whole": 2.0}) for i in range(20)]
    found = told(summarise(run_of(rows), {"x": [*RATIO[:2], ratio]}))
    assert found.value == pytest.approx(4.75)
    assert found.low == pytest.approx(4.75 - 1.26, abs=0.2)
    assert found.high == pytest.approx(4.75 + 1.26, abs=0.2)


def test_the_largest_value_of_all_trials():
    largest = dataclasses.replace(AMOUNT, aggregation="max")
    found = told(summarise(run_of(values(("a", 1), ("a", 7), ("b", None), ("c", 2))), {"x": [largest]}))
    assert (found.value, found.low, found.high) == (7, None, None)


def test_logarithms_of_ratios_are_shown_as_their_geometric_mean():
    geometric = Metric(name="m", meaning="cost against the reference", shown="exp")
    found = told(summarise(run_of(values(("a", math.log(2)), ("b", math.log(8)))), {"x": [geometric]}))
    assert found.value == pytest.approx(4)
    assert found.low is not None
    assert found.high is not None
    assert found.low * found.high == pytest.approx(16)
    more = dataclasses.replace(geometric, shown="expm1")
    assert told(summarise(run_of(values(("a", math.log(2)))), {"x": [more]})).value == pytest.approx(1)


def test_what_is_too_large_for_a_number_is_none():
    huge = Metric(name="m", meaning="cost against the reference", shown="exp")
    assert told(summarise(run_of(values(("a", 800), ("b", 900))), {"x": [huge]})).value is None
    assert told(summarise(run_of(values(("a", 1.7e308), ("b", 1.7e308))), {"x": [AMOUNT]})).value is None


def test_pass_hat_k_rests_on_the_tasks_that_have_k_attempts():
    rows = [
        (task, {"success": float(c)})
        for task, outcomes in {"a": "1101", "b": "111", "c": "0"}.items()
        for c in outcomes
    ]
    summary = summarise(run_of(rows), {"x": PASS_K})
    assert summary.names == ("success", "pass^1", "pass^2", "pass^3", "pass^4")
    assert told(summary, "pass^1").value == pytest.approx((3 / 4 + 1 + 0) / 3)
    assert told(summary, "pass^2").value == pytest.approx((3 / 6 + 1) / 2)
    assert [told(summary, f"pass^{k}").n for k in (1, 2, 3, 4)] == [3, 2, 2, 1]
    assert told(summary, "pass^4") == Estimate(0, None, None, 1, 8, 0)


def test_pass_hat_1_of_the_graders_word_is_there_without_any_score():
    statuses = ("passed", "failed", "unscored", "passed")
    trials = [trial(f"t{i}", i, status=status) for i, status in enumerate(statuses)]
    found = told(summarise(ScoredTrials(trials, {}, {}), {}), "pass^1")
    assert (found.value, found.n, found.trials, found.unknown) == (pytest.approx(2 / 3), 3, 3, 1)


def test_a_curve_over_all_points_is_drawn_again_by_task():
    waited = Metric(name="m", meaning="steps to recover", aggregation="curve", curve="survival", low=0)
    labels = [f"{i % 5 + 1}, {i % 3 + 2}+" for i in range(12)]
    scored = run_of(values(*((f"t{i}", None) for i in range(12))))
    scored = ScoredTrials(
        scored.trials, {("x", "m"): Column(np.full(12, math.nan), list(labels))}, scored.scored_by
    )
    summary = summarise(scored, {"x": [waited]})
    assert summary.names == ("pass^1", "m", "m_mean")
    mean = told(summary, "m_mean")
    assert mean.value is not None
    assert mean.low is not None
    assert mean.high is not None
    assert mean.low < mean.value < mean.high
    assert (mean.n, mean.trials, mean.unknown) == (12, 12, 0)


def test_a_task_counts_once_however_many_faults_it_has():
    """t passes under 1 of its 3 faults, u under its only one, which was tried twice."""
    variants = [("t", "a"), ("t", "b"), ("t", "c"), ("u", "a"), ("u", "a")]
    trials = [trial(task, i, variant=variant) for i, (task, variant) in enumerate(variants)]
    scores = values(("t", 0), ("t", 0), ("t", 1), ("u", 1), ("u", 1))
    found = told(summarise(run_of(scores, trials), {"x": [SHARE]}))
    assert found.value == pytest.approx((1 / 3 + 1) / 2)
    assert (found.n, found.trials) == (2, 5)


def test_a_ratio_of_means_counts_each_task_and_each_of_its_faults_once():
    metrics = [dataclasses.replace(RATIO[2], aggregation="ratio_of_means", high=None), *RATIO[:2]]
    pairs = [("t", "a", 1, 1), ("t", "a", 0, 1), ("t", "b", 1, 0.5), ("u", "a", 0, 1)]
    trials = [trial(task, i, variant=variant) for i, (task, variant, *_) in enumerate(pairs)]
    rows: list[Row] = [(task, {"part": part, "whole": whole}) for task, _, part, whole in pairs]
    found = told(summarise(run_of(rows, trials), {"x": metrics}))
    assert found.value == pytest.approx(((0.5 + 1) / 2 + 0) / ((1 + 0.5) / 2 + 1))


def test_tasks_that_say_nothing_of_a_ratio_do_not_make_it_surer():
    told_by = [("a", 1, 1), ("b", 2, 2), ("c", 1, 2)]
    silent = [(f"s{n}", 0, 0) for n in range(27)]
    few, many = (
        told(summarise(run_of([(t, {"part": a, "whole": b}) for t, a, b in rows]), {"x": RATIO}))
        for rows in (told_by, [*told_by, *silent])
    )
    assert (few.value, few.low, few.high, few.n) == (many.value, many.low, many.high, 3)
    one = told(
        summarise(run_of([("a", {"part": 1, "whole": 1}), ("b", {"part": 0, "whole": 0})]), {"x": RATIO})
    )
    assert (one.value, one.low, one.high, one.n) == (1, None, None, 1)


def test_arms_are_summed_up_apart_and_a_task_with_two_faults_is_one_task():
    variants = ("clean", "timeout", "stale", "twin")
    trials = [trial("t", i, variant=variant) for i, variant in enumerate(variants)]
    scored = run_of(values(("t", 1), ("t", 0), ("t", 1), ("t", 0)), trials)
    found = {
        arm: own.figures["m"].estimate
        for (_, arm, _), own in cells(summarise(scored, {"x": [SHARE]})).items()
    }
    assert {arm: (estimate.value, estimate.n) for arm, estimate in found.items()} == {
        "clean": (1, 1),
        "faulted": (0.5, 1),
        "twin": (0, 1),
    }


def test_a_trial_with_two_skills_counts_in_each():
    trials = [trial("t", 0, skills=("edit", "read")), trial("u", 1, skills=("edit",)), trial("v", 2)]
    summary = summarise(run_of(values(("t", 1), ("u", 0), ("v", 0)), trials), {"x": [SHARE]}, by="skill")
    found = {group: own.figures["m"].estimate for (_, _, group), own in cells(summary).items()}
    assert {group: (estimate.value, estimate.n) for group, estimate in found.items()} == {
        "edit": (0.5, 2),
        "read": (1, 1),
        "(none)": (0, 1),
    }


@pytest.mark.parametrize(
    ("by", "groups"),
    [
        ("suite", ["s", "z"]),
        ("difficulty", ["(none)", "hard"]),
        ("task", ["s/t", "z/t"]),
        ("variant", ["clean"]),
    ],
)
def test_trials_are_grouped_by(by, groups):
    trials = [trial("t", 0, suite="z"), trial("t", 1, difficulty="hard")]
    summary = summarise(run_of(values(("t", 1), ("t", 0)), trials), {"x": [SHARE]}, by=by)
    assert sorted(own.group or "" for own in summary.cells) == groups


def test_scores_that_no_scorer_declares_any_more_are_plain_means():
    summary = summarise(
        run_of([("a", {"old": 2.0, "m": 1.0}), ("b", {"old": 4.0, "m": 1.0})]), {"x": [SHARE]}
    )
    (own,) = summary.cells
    assert own.figures["old"].quantity.metric is None
    assert own.figures["old"].estimate.value == 3
    assert own.figures["m"].quantity.metric is SHARE
    gone = summarise(run_of(values(("a", 2), ("b", 4))), {})
    assert told(gone).value == 3


def test_a_metric_that_is_not_stored_yet_is_left_out():
    new = Metric(name="new", meaning="declared since", aggregation="ratio_of_sums", of=("m", "newer"))
    newer = Metric(name="newer", meaning="declared since")
    assert summarise(run_of(values(("a", 1))), {"x": [SHARE, new, newer]}).names == ("pass^1", "m")


def test_one_name_of_two_scorers_says_whose_it_is():
    column = Column(np.array([1.0, 0.0]))
    scored = ScoredTrials([trial("a", 0), trial("b", 1)], {("x", "m"): column, ("y", "m"): column}, {})
    assert summarise(scored, {"x": [SHARE]}).names == ("pass^1", "x/m", "y/m")


def test_stored_values_out_of_the_declared_range_still_have_an_interval():
    found = told(summarise(run_of(values(("a", 1), ("b", 3))), {"x": [SHARE]}))
    assert found.value == 2
    assert found.low is not None


def test_trials_that_a_scorer_has_not_seen_are_counted():
    scored = run_of(values(("a", 1), ("b", 1)))
    summary = summarise(
        ScoredTrials(scored.trials, scored.columns, {"x": np.array([True, False])}), {"x": [SHARE]}
    )
    assert summary.not_scored == {"x": 1}


OUTCOMES = st.lists(
    st.tuples(
        st.sampled_from("abcdef"),
        st.one_of(st.none(), st.sampled_from([0.0, 0.25, 1 / 3, 1.0]), st.floats(0, 1)),
    ),
    min_size=1,
    max_size=30,
)
KINDS = st.sampled_from([SHARE, AMOUNT])


@given(OUTCOMES, KINDS, st.randoms(use_true_random=False))
def test_order_never_matters(outcomes: list[tuple[str, float | None]], kind: Metric, shuffler: random.Random):
    rows = values(*outcomes)
    trials = [trial(task, number) for number, (task, _) in enumerate(rows)]
    order = list(range(len(rows)))
    shuffler.shuffle(order)
    shuffled = run_of([rows[i] for i in order], [trials[i] for i in order])
    assert told(summarise(shuffled, {"x": [kind]})) == told(summarise(run_of(rows, trials), {"x": [kind]}))


@given(OUTCOMES, KINDS)
def test_names_of_tasks_never_matter(outcomes: list[tuple[str, float | None]], kind: Metric):
    other = [(chr(ord("z") - ord(task) + ord("a")), value) for task, value in outcomes]
    assert told(summarise(run_of(values(*other)), {"x": [kind]})) == told(
        summarise(run_of(values(*outcomes)), {"x": [kind]})
    )


@given(OUTCOMES, KINDS)
def test_every_epoch_twice_adds_no_precision(outcomes: list[tuple[str, float | None]], kind: Metric):
    once = told(summarise(run_of(values(*outcomes)), {"x": [kind]}))
    twice = told(summarise(run_of(values(*outcomes, *outcomes)), {"x": [kind]}))
    assert twice.n == once.n
    assert [twice.value, twice.low, twice.high] == pytest.approx([once.value, once.low, once.high], abs=1e-9)


@given(OUTCOMES)
def test_a_shares_interval_holds_its_value_and_keeps_to_its_range(outcomes: list[tuple[str, float | None]]):
    found = told(summarise(run_of(values(*outcomes)), {"x": [SHARE]}))
    if found.low is None or found.high is None or found.value is None:
        assert found.n < 2
        return
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.low < found.high


COUNTS = st.lists(
    st.tuples(st.sampled_from("abcdef"), st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=20
)


@given(COUNTS, st.randoms(use_true_random=False))
def test_a_ratio_is_the_same_in_any_order(rows: list[tuple[str, int, int]], shuffler: random.Random):
    ratio = dataclasses.replace(RATIO[2], high=None)
    given_rows: list[Row] = [
        (task, {"part": float(part), "whole": float(whole)}) for task, part, whole in rows
    ]
    trials = [trial(task, number) for number, (task, _) in enumerate(given_rows)]
    order = list(range(len(rows)))
    shuffler.shuffle(order)
    shuffled = run_of([given_rows[i] for i in order], [trials[i] for i in order])
    declared = {"x": [*RATIO[:2], ratio]}
    assert told(summarise(shuffled, declared)) == told(summarise(run_of(given_rows, trials), declared))


WAITED = Metric(name="m", meaning="steps to recover", aggregation="curve", curve="survival", low=0)


def waited(labels: Sequence[str | None]) -> ScoredTrials:
    scored = run_of(values(*((f"t{i}", None) for i in range(len(labels)))))
    columns = {("x", "m"): Column(np.full(len(labels), math.nan), list(labels))}
    return ScoredTrials(scored.trials, columns, scored.scored_by)


TIMES = st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=1, max_size=4)


@given(st.lists(TIMES, min_size=1, max_size=8))
def test_survival_is_what_the_curve_says(tasks: list[list[tuple[int, bool]]]):
    labels = [", ".join(f"{time}{'' if seen else '+'}" for time, seen in times) for times in tasks]
    expected = curve(WAITED, [Point(f"t{i}", None, label) for i, label in enumerate(labels)])
    summary = summarise(waited(labels), {"x": [WAITED]})
    assert [told(summary, name).value for name in expected] == pytest.approx(list(expected.values()))


def test_scores_that_no_curve_can_be_made_of_are_a_clear_error():
    with pytest.raises(ConfigError, match="the scores of m cannot be summed up: 'soon' is no time"):
        summarise(waited(["2, 3", "soon"]), {"x": [WAITED]})
