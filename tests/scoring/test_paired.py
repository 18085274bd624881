"""What differs between two agents at the same tasks."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.errors import NotComparable, UsageError
from evalkit.scoring.agent_match import match_agents
from evalkit.scoring.difference import Difference
from evalkit.scoring.metric import Metric
from evalkit.scoring.paired import Comparison, Side, compare
from evalkit.scoring.scored_trials import Column, LightTrial, ScoredTrials

SHARE = Metric(name="m", meaning="a share", low=0, high=1, better="higher")
AMOUNT = Metric(name="m", meaning="an amount", low=0, better="lower")
RATIO = (
    Metric(name="part", meaning="part"),
    Metric(name="whole", meaning="whole"),
    Metric(name="m", meaning="of all", aggregation="ratio_of_sums", of=("part", "whole"), low=0, high=1),
)
WAITED = Metric(name="m", meaning="steps to recover", aggregation="curve", curve="survival", low=0)

Tries = Mapping[str, Sequence[float | None]]
"""By task, the values of its epochs."""


def light(task: str, epoch: int, **columns: object) -> LightTrial:
    given: dict[str, object] = {
        "trial_id": f"{task}.{epoch}",
        "suite": "s",
        "suite_digest": "s1",
        "task_id": task,
        "task_digest": "d1",
        "variant": "clean",
        "epoch": epoch,
        "agent": "a",
        "skills": (),
        "difficulty": None,
        "status": "passed",
    }
    return LightTrial(**{**given, **columns})  # type: ignore[arg-type]


def side(
    tries: Tries, *, metric: str = "m", labels: Mapping[str, str] | None = None, **columns: object
) -> Side:
    trials = [light(task, epoch, **columns) for task, own in tries.items() for epoch in range(len(own))]
    values = np.array([math.nan if value is None else value for own in tries.values() for value in own])
    texts = [(labels or {}).get(trial.task_id) for trial in trials]
    scored = ScoredTrials(
        trials, {("x", metric): Column(values, texts)}, {"x": np.ones(len(trials), dtype=np.bool_)}
    )
    return Side(scored, str(columns.get("agent", "a")))


def ratio_side(tries: Mapping[str, tuple[float, float]]) -> Side:
    trials = [light(task, 1) for task in tries]
    columns = {
        ("x", name): Column(np.array([own[place] for own in tries.values()]))
        for place, name in enumerate(("part", "whole"))
    }
    return Side(ScoredTrials(trials, columns, {}), "a")


def told(comparison: Comparison, name: str = "m") -> Difference:
    (own,) = comparison.cells
    return own.figures[name].difference


def of(ours: Tries, theirs: Tries, metric: Metric = SHARE) -> Difference:
    return told(compare(side(ours), side(theirs), {"x": [metric]}))


def flipped(found: Difference) -> Difference:
    def minus(value: float | None) -> float | None:
        return None if value is None else -value + 0.0

    return dataclasses.replace(
        found,
        a=found.b,
        b=found.a,
        value=minus(found.value),
        low=minus(found.high),
        high=minus(found.low),
        higher=found.lower,
        lower=found.higher,
    )


def test_a_worked_example():
    found = of({"t": [0, 0], "u": [1, 0], "v": [1], "w": [1]}, {"t": [1, 0], "u": [1, 1], "v": [1], "w": [0]})
    assert (found.a, found.b, found.value) == pytest.approx((0.625, 0.625, 0))
    assert (found.n, found.higher, found.lower, found.equal) == (4, 2, 1, 1)
    assert found.p == 1
    better = of({task: [0] for task in "abcdef"}, {task: [1] for task in "abcdef"})
    assert better.p == pytest.approx(2 / 64)
    assert (better.value, better.high) == (1, 1)
    assert better.low == pytest.approx(2 * 0.025 ** (1 / 6) - 1)


def test_amounts_have_students_interval_of_their_differences():
    found = of({"t": [1], "u": [4], "v": [9]}, {"t": [2], "u": [6], "v": [12]}, AMOUNT)
    assert found.value == 2
    assert found.low is not None
    assert found.low == pytest.approx(2 - 4.302653 / math.sqrt(3))


def test_only_tasks_with_a_value_on_both_sides_are_paired():
    found = of({"t": [1], "u": [None], "v": [0]}, {"t": [0], "u": [1], "w": [1]})
    assert (found.n, found.a, found.b) == (1, 1, 0)
    assert (found.low, found.high) == (None, None)


def test_where_nothing_is_known_on_a_side_there_is_no_number():
    found = of({"t": [None], "u": [None]}, {"t": [1], "u": [1]})
    assert (found.n, found.a, found.b, found.value) == (0, None, None, None)


def test_with_itself_every_difference_is_0():
    tries = {task: [value, 1 - value] for task, value in zip("abcde", (0, 0.1, 0.25, 1 / 3, 1), strict=True)}
    for metric in (SHARE, AMOUNT):
        found = of(tries, tries, metric)
        assert (found.value, found.p, found.equal) == (0, 1, 5)


def test_logarithms_of_ratios_differ_by_a_share():
    metric = Metric(name="m", meaning="cost against the reference", shown="exp")
    found = of({"t": [0.0], "u": [1.0]}, {"t": [math.log(2)], "u": [1 + math.log(2)]}, metric)
    assert found.relative
    assert found.value == pytest.approx(1)
    assert (found.a, found.b) == pytest.approx((math.exp(0.5), 2 * math.exp(0.5)))


def test_ratios_differ_as_ratios_and_have_no_p():
    ours = ratio_side({"t": (1, 2), "u": (1, 8), "v": (4, 5), "w": (0, 0), "x": (3, 5)})
    theirs = ratio_side({"t": (2, 2), "u": (3, 8), "v": (4, 5), "w": (2, 5), "x": (1, 5)})
    found = told(compare(ours, theirs, {"x": RATIO}))
    assert (found.a, found.b) == pytest.approx((9 / 20, 12 / 25))
    assert found.value == pytest.approx(12 / 25 - 9 / 20)
    assert (found.p, found.n, found.higher, found.lower, found.equal) == (None, 5, 2, 1, 1)
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.value < found.high


def test_ratios_at_their_ends_differ_and_have_an_interval():
    ours, theirs = (ratio_side({f"t{n}": (part, 2) for n in range(8)}) for part in (0, 2))
    found = told(compare(ours, theirs, {"x": RATIO}))
    assert found.value == found.high == 1
    assert found.low is not None
    assert 0.2 < found.low < 0.9


def test_the_faults_of_a_task_are_no_tasks():
    """Four faults that all agree say as much as one does."""

    def run(passed: int, variants: int) -> Side:
        tries = [(f"t{task}", float(task < passed), f"f{n}") for task in range(8) for n in range(variants)]
        trials = [light(task, 0, variant=variant) for task, _, variant in tries]
        values = np.array([value for _, value, _ in tries])
        columns = {("x", "m"): Column(values)}
        return Side(ScoredTrials(trials, columns, {"x": np.ones(len(tries), dtype=np.bool_)}), "a")

    once, four = (told(compare(run(0, n), run(5, n), {"x": [SHARE]})) for n in (1, 4))
    assert once == four
    assert (four.n, four.higher) == (8, 5)
    assert four.p == pytest.approx(2 / 2**5)


@given(st.lists(st.tuples(*[st.integers(0, 9)] * 4), min_size=1, max_size=12))
def test_swapping_two_ratios_flips_sign_and_interval(rows: list[tuple[int, int, int, int]]):
    ours = ratio_side({f"t{i}": (float(row[0]), float(row[1])) for i, row in enumerate(rows)})
    theirs = ratio_side({f"t{i}": (float(row[2]), float(row[3])) for i, row in enumerate(rows)})
    there, back = (told(compare(*pair, {"x": RATIO})) for pair in ((ours, theirs), (theirs, ours)))
    assert there == flipped(back)


TRIES = st.dictionaries(
    st.sampled_from("abcdefgh"),
    st.lists(st.one_of(st.none(), st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1)), min_size=1, max_size=4),
    min_size=1,
)


@given(TRIES, TRIES, st.sampled_from([SHARE, AMOUNT]))
def test_swapping_two_agents_flips_sign_and_interval(ours: Tries, theirs: Tries, metric: Metric):
    if not ours.keys() & theirs.keys():
        return
    there, back = of(ours, theirs, metric), flipped(of(theirs, ours, metric))
    exact = ("n", "higher", "lower", "equal")
    assert [getattr(there, name) for name in exact] == [getattr(back, name) for name in exact]
    for name in ("a", "b", "value", "low", "high", "p"):
        assert getattr(there, name) == pytest.approx(getattr(back, name), abs=0.005), name


@given(TRIES, TRIES)
def test_every_epoch_twice_adds_no_precision(ours: Tries, theirs: Tries):
    if not ours.keys() & theirs.keys():
        return
    once = of(ours, theirs)
    twice = of(*({task: [*own, *own] for task, own in tries.items()} for tries in (ours, theirs)))
    assert (twice.n, twice.higher, twice.lower, twice.equal) == (once.n, once.higher, once.lower, once.equal)
    assert twice.low == pytest.approx(once.low, abs=1e-6)
    assert twice.high == pytest.approx(once.high, abs=1e-6)


def test_curves_over_all_points_are_drawn_again_in_pairs():
    tasks = [f"t{i}" for i in range(15)]
    nothing: Tries = {task: [None] for task in tasks}
    ours = side(nothing, labels={task: f"{2 + i % 4}, {3 + i % 3}+" for i, task in enumerate(tasks)})
    theirs = side(nothing, labels={task: f"{1 + i % 3}" for i, task in enumerate(tasks)})
    there = told(compare(ours, theirs, {"x": [WAITED]}), "m_mean")
    assert there.value is not None
    assert there.low is not None
    assert there.high is not None
    assert there.low < there.value < there.high < 0
    assert (there.p, there.higher, there.n) == (None, None, 15)
    assert there == flipped(told(compare(theirs, ours, {"x": [WAITED]}), "m_mean"))


def test_names_of_tasks_never_matter():
    ours, theirs = {"t": [0.1], "u": [0.7], "v": [0.4]}, {"t": [0.9], "u": [0.3], "v": [0.2]}
    names = {"t": "z", "u": "a", "v": "m"}
    renamed = ({names[task]: own for task, own in tries.items()} for tries in (ours, theirs))
    assert of(*renamed) == of(ours, theirs)


def test_tasks_that_have_changed_are_left_out_and_named():
    ours = side({"t": [0], "u": [1]})
    changed = [
        dataclasses.replace(trial, task_digest="d2") for trial in ours.scored.trials if trial.task_id == "u"
    ]
    kept = [trial for trial in ours.scored.trials if trial.task_id == "t"]
    theirs = Side(ScoredTrials([*kept, *changed], ours.scored.columns, {}), "a")
    comparison = compare(ours, theirs, {"x": [SHARE]})
    assert comparison.tasks.changed == (("s", "u", "clean"),)
    assert told(comparison).n == 1


def test_a_suite_that_has_changed_is_said():
    comparison = compare(side({"t": [0]}), side({"t": [1]}, suite_digest="s2"), {"x": [SHARE]})
    assert comparison.tasks.suites == ("s",)


def test_tasks_without_a_digest_are_matched_by_id_and_counted():
    comparison = compare(side({"t": [0]}, task_digest=None), side({"t": [1]}), {"x": [SHARE]})
    assert comparison.tasks.by_id == 1


@pytest.mark.parametrize(
    ("theirs", "why"),
    [
        (side({"u": [1]}), "no task in common"),
        (side({"t": [1]}, variant="slow"), "no task in common"),
        (side({"t": [1]}, suite="z"), "no task in common"),
        (side({"t": [1]}, task_digest="d2"), "digests differ"),
    ],
)
def test_nothing_in_common_is_not_comparable_and_says_why(theirs, why):
    with pytest.raises(NotComparable, match=why):
        compare(side({"t": [1]}), theirs, {"x": [SHARE]})


def test_arms_are_compared_apart():
    def both(clean: float, slow: float) -> Side:
        trials = [light("t", 1), light("t", 1, variant="slow", trial_id="slow")]
        return Side(ScoredTrials(trials, {("x", "m"): Column(np.array([clean, slow]))}, {}), "a")

    comparison = compare(both(1, 0), both(1, 1), {"x": [SHARE]})
    assert {own.arm: own.figures["m"].difference.value for own in comparison.cells} == {
        "clean": 0,
        "faulted": 1,
    }


def test_groups_are_compared_apart():
    ours, theirs = side({"t": [0]}, skills=("edit", "read")), side({"t": [1]}, skills=("edit", "read"))
    comparison = compare(ours, theirs, {"x": [SHARE]}, by="skill")
    assert [own.group for own in comparison.cells] == ["edit", "read"]


def test_a_metric_of_one_run_only_is_named():
    comparison = compare(side({"t": [0]}), side({"t": [1]}, metric="renamed"), {"x": [SHARE]})
    assert (comparison.only_a, comparison.only_b) == (("m",), ("renamed",))
    assert list(comparison.cells[0].figures) == ["pass^1"]


def test_scores_of_another_version_are_marked_and_of_another_reference_refused():
    ours, theirs = side({"t": [0]}), side({"t": [1]})
    ours.scored.columns["x", "m"].versions.add("1")
    theirs.scored.columns["x", "m"].versions.add("2")
    assert compare(ours, theirs, {"x": [SHARE]}).other_version == ("m",)
    theirs.scored.columns["x", "m"].references.add("r2")
    refused = compare(ours, theirs, {"x": [SHARE]})
    assert refused.other_reference == ("m",)
    assert "m" not in refused.cells[0].figures


def test_agents_match_by_id():
    match = match_agents(["a", "b", "c"], ["b", "c", "d"])
    assert (match.pairs, match.only_a, match.only_b) == ((("b", "b"), ("c", "c")), ("a",), ("d",))


def test_one_agent_on_each_side_matches_whatever_its_id():
    assert match_agents(["a"], ["b"]).pairs == (("a", "b"),)


def test_a_map_says_which_agents_belong_together():
    match = match_agents(["a", "b"], ["b", "c"], mapped={"a": "b"})
    assert (match.pairs, match.only_a, match.only_b) == ((("a", "b"),), ("b",), ("c",))


def test_two_agents_are_compared_with_each_other():
    assert match_agents(["a", "b"], ["a", "b"], wanted=["b", "a"]).pairs == (("b", "a"),)
    assert match_agents(["a", "b"], ["a", "b"], wanted=["b"]).pairs == (("b", "b"),)


def test_no_agent_in_common_is_not_comparable_and_names_them():
    with pytest.raises(NotComparable, match="A has a, b; B has c"):
        match_agents(["a", "b"], ["c"])


def test_an_unknown_agent_is_answered_with_the_nearest():
    with pytest.raises(UsageError) as caught:
        match_agents(["react/gpt"], ["react/gpt"], wanted=["react/gtp"])
    assert "Did you mean react/gpt" in (caught.value.hint or "")


def test_numbers_of_the_same_name_are_told_with_their_scorers():
    """A curve's numbers have names of their own, which another scorer's metric can have, too."""
    shape = Metric(name="k", meaning="all", aggregation="curve", curve="pass^k", of=("m",), low=0, high=1)
    other = Metric(name="pass^1", meaning="something else")
    declared = {"x": [SHARE, shape], "y": [other]}

    def run(value: float) -> Side:
        own = side({"t": [value], "u": [1.0]})
        columns = {**own.scored.columns, ("y", "pass^1"): Column(np.array([7.0, 7.0]))}
        return Side(ScoredTrials(own.scored.trials, columns, {}), "a")

    (found,) = compare(run(0), run(1), declared).cells
    assert {"x/pass^1", "y/pass^1"} <= set(found.figures)
    assert found.figures["y/pass^1"].difference.a == 7
