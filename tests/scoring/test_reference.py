"""References: built from runs, frozen in a file, merged, and what a run is scored against."""

from __future__ import annotations

import json

import pytest

from evalkit.errors import ConfigError, NotComparable
from evalkit.project import find_project
from evalkit.scoring.reference import Reference, merged, read_reference, write_reference
from evalkit.scoring.reference_building import build_reference
from evalkit.scoring.reference_of_run import keep_reference
from evalkit.scoring.registry import find_scorers
from evalkit.scoring.running import score_run
from evalkit.trajectory.finding import Finding
from evalkit.trajectory.reader import load
from evalkit.trajectory.step import Act, Event, Think


@pytest.fixture
def solved(made):
    """A trial of the task `k` that took so many tokens."""

    def make(tokens: int, number: int = 0, **fields):
        told = {"task_id": "k", "output_tokens": tokens, "tool_calls": 2, "model": "m", **fields}
        return made(f"{told['task_id']}.{told.get('agent', 'a')}.{number}", epoch=number + 1, **told)

    return make


@pytest.fixture
def efficiency(rows, tmp_path):
    """Score a run with the bundled scorers; its token efficiency, label and reference digest by trial."""

    def of(run):
        assert not score_run(run, find_scorers(find_project(tmp_path), ["overthinking"])).failed
        return {
            row["trial_id"]: (row["value"], row["label"], row["reference_digest"])
            for row in rows(run)
            if row["metric"] == "token_efficiency"
        }

    return of


def test_it_is_built_of_clean_successes_of_all_runs(finished, solved):
    one = finished(*(solved(tokens, n) for n, tokens in enumerate((100, 200, 300))), name="one")
    two = finished(
        *(solved(tokens, n + 3) for n, tokens in enumerate((400, 500))),
        solved(10, 7, status="failed"),
        solved(10, 8, status="unscored", error_origin="sandbox"),
        solved(10, 9, variant="flaky"),
        solved(10, 0, task_id="hard", status="failed"),
        name="two",
    )
    built = build_reference([load(one), load(two)])
    own = built.tasks["s/k"]
    assert (own.cost, own.calls, own.successes, own.agents, own.provisional, own.agent) == (
        300,
        2,
        5,
        1,
        False,
        "a",
    )
    assert built.excluded == ("s/hard",)
    assert built.basis == "output_tokens"


def test_of_a_trial_with_checkpoints_the_cost_is_that_until_it_would_have_passed(finished, solved):
    steps = (
        Think(step=0, output_tokens=80),
        Act(step=1, think_step=0, tool="bash"),
        Event(step=2, event="checkpoint", detail=json.dumps({"of_step": 1, "passed": True})),
        Think(step=3, output_tokens=120),
    )
    assert build_reference([load(finished((solved(200), steps)))]).tasks["s/k"].cost == 80


def test_confirmed_tampering_is_no_success(finished, solved):
    finding = Finding(code="T1", level="confirmed", what="the tests were edited")
    steps = (Event(step=0, event="tampering", detail=finding.to_json()),)
    built = build_reference([load(finished((solved(60), steps), solved(500, 1)))])
    assert (built.tasks["s/k"].cost, built.tasks["s/k"].successes) == (500, 1)
    alone = build_reference([load(finished((solved(60), steps), name="alone"))])
    assert (alone.tasks, alone.excluded) == ({}, ("s/k",))


def test_several_models_are_counted_in_dollars_where_all_have_a_price(finished, solved):
    run = finished(solved(100, model="m", cost_usd=0.01), solved(50, 1, model="n", agent="b", cost_usd=0.02))
    built = build_reference([load(run)])
    assert (built.basis, built.tasks["s/k"].cost, built.mixed_tokenizers) == ("cost_usd", 0.01, False)


def test_several_models_without_prices_mix_their_tokenizers(finished, solved):
    run = finished(solved(100, model="m"), solved(60, 1, model="n", agent="b"))
    built = build_reference([load(run)])
    assert (built.basis, built.mixed_tokenizers) == ("output_tokens", True)
    assert built.of(solved(100)).label == "provisional, mixed tokenizers"


def test_a_task_that_changed_between_runs_has_no_reference(finished, solved):
    run = finished(solved(100, task_digest="x"), solved(100, 1, task_digest="y"))
    with pytest.raises(NotComparable, match="s/k is another one"):
        build_reference([load(run)])


def test_a_task_that_changed_within_a_run_is_not_measured(finished, solved, efficiency):
    run = finished(
        solved(100, task_digest="x"), solved(100, 1, task_digest="y"), solved(100, task_id="other")
    )
    assert {name: value for name, (value, _, _) in efficiency(run).items()} == {
        "k.a.0": None,
        "k.a.1": None,
        "other.a.0": 1,
    }


def test_a_changed_task_is_not_measured_against_the_old_one(finished, solved):
    built = build_reference([load(finished(solved(100, task_digest="x")))])
    assert built.of(solved(100, task_digest="x")).cost == 100
    assert built.of(solved(100, task_digest="y")) is None
    assert built.of(solved(100, task_id="other")) is None


def test_another_version_of_a_task_that_nobody_solved_is_another_task(finished, solved, tmp_path):
    """Else whoever solves the new version, which may be easy, would be the first to solve the old one."""
    old = build_reference([load(finished(solved(9, status="failed", task_digest="x"), name="old"))])
    assert old.of(solved(100, task_digest="x")).is_unsolved
    assert old.of(solved(100)).is_unsolved
    assert old.of(solved(100, task_digest="y")) is None
    write_reference(tmp_path / "old.json", old)
    read = read_reference(tmp_path / "old.json")
    assert (read.digest, dict(read.versions)) == (old.digest, {"s/k": "x"})
    same = build_reference([load(finished(solved(100, task_digest="x"), name="same"))])
    assert (merged(old, same).tasks["s/k"].cost, dict(merged(old, same).versions)) == (100, {})
    for new in (solved(100, task_digest="y"), solved(9, status="failed", task_digest="y")):
        other = build_reference([load(finished(new, name=f"new-{new.status}"))])
        for pair in ((old, other), (other, old)):
            with pytest.raises(NotComparable, match="s/k is another one"):
                merged(*pair)


def test_what_is_written_is_read_again(finished, solved, tmp_path):
    built = build_reference(
        [load(finished(solved(101), solved(100, 1), solved(9, task_id="x", status="failed")))]
    )
    file = tmp_path / "there" / "reference.json"
    write_reference(file, built)
    read = read_reference(file)
    assert (dict(read.tasks), read.excluded, read.digest) == (dict(built.tasks), built.excluded, built.digest)
    assert json.loads(file.read_text())["tasks"]["s/k"]["from"] == "a"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda told: told | {"version": 2}, "version 2"),
        (lambda told: told | {"basis": "steps"}, "basis is one of"),
        (lambda told: told | {"tasks": {"s/k": {"cost": -1}}}, "no reference"),
        (lambda told: told | {"excluded": [7]}, "no reference"),
        (lambda told: told | {"excluded": ["s/x"]}, "changed it by hand"),
        (lambda told: [told], "no JSON object"),
    ],
)
def test_what_is_no_reference_is_refused(finished, solved, tmp_path, change, message):
    file = tmp_path / "reference.json"
    write_reference(file, build_reference([load(finished(solved(100)))]))
    file.write_text(json.dumps(change(json.loads(file.read_text()))))
    with pytest.raises(ConfigError, match=message):
        read_reference(file)


def test_merging_takes_the_lower_cost_of_each_task(finished, solved):
    old = build_reference([load(finished(solved(100), solved(9, task_id="x", status="failed"), name="old"))])
    new = build_reference([load(finished(solved(300), solved(70, task_id="x"), name="new"))])
    both = merged(old, new)
    assert {name: own.cost for name, own in both.tasks.items()} == {"s/k": 100, "s/x": 70}
    assert both.excluded == ()
    assert both.digest == merged(new, old).digest


def test_references_in_different_units_are_not_merged(finished, solved):
    run = load(finished(solved(100, cost_usd=0.1)))
    with pytest.raises(NotComparable, match="one reference counts output_tokens"):
        merged(build_reference([run]), build_reference([run], basis="cost_usd"))


def test_a_run_without_a_reference_is_measured_against_its_own_trials(finished, solved, efficiency):
    """Two budgets in one run: the cheaper agent sets the cost."""
    run = finished(
        solved(100, agent="m@off"),
        solved(400, 1, agent="m@effort:high"),
        solved(400, 2, agent="m@effort:high", status="failed"),
    )
    found = efficiency(run)
    assert {name: value for name, (value, _, _) in found.items()} == {
        "k.m@off.0": 1,
        "k.m@effort:high.1": 0.25,
        "k.m@effort:high.2": 0,
    }
    assert {label for _, label, _ in found.values()} == {"provisional, own cohort"}


@pytest.mark.parametrize(
    ("detail", "value"), [({"of_step": 0, "passed": True}, 0), ({"stage": "unit"}, None)]
)
def test_a_failure_has_a_stopping_efficiency_where_its_task_has_checkpoints(
    finished, solved, efficiency, rows, detail, value
):
    steps = (Think(step=0, output_tokens=9), Event(step=1, event="checkpoint", detail=json.dumps(detail)))
    run = finished((solved(9), steps), solved(9, 1, status="failed"))
    efficiency(run)
    assert _stopping(rows(run))["k.a.1"] == value


def _stopping(rows):
    return {row["trial_id"]: row["value"] for row in rows if row["metric"] == "stopping_efficiency"}


def test_a_task_without_checkpoints_has_none_in_a_run_where_others_have_them(
    finished, solved, efficiency, rows
):
    """As where one task is graded in the agent's own sandbox: its successes have none, so its failures have none."""
    state = Event(step=1, event="checkpoint", detail=json.dumps({"of_step": 0, "passed": True}))
    run = finished(
        (solved(9), (Think(step=0, output_tokens=9), state)),
        solved(9, 1, status="failed"),
        solved(9, task_id="shared"),
        solved(9, 1, task_id="shared", status="failed"),
    )
    efficiency(run)
    told = {name: value for name, value in _stopping(rows(run)).items() if value is not None}
    assert told == {"k.a.0": 1, "k.a.1": 0}


@pytest.mark.parametrize("word", [{}, {"error": "it could not be copied: too big"}, {"passed": None}])
def test_a_failure_whose_states_have_no_verdict_is_no_zero(finished, solved, efficiency, rows, word):
    """A success of which no state has a verdict has no stopping efficiency, either."""

    def trial(number, status, **told):
        detail = json.dumps({"of_step": 0, "deliverables": None, **told})
        steps = (Think(step=0, output_tokens=9), Event(step=1, event="checkpoint", detail=detail))
        return solved(9, number, status=status), steps

    run = finished(trial(0, "passed", passed=True), trial(1, "failed", **word), trial(2, "passed", **word))
    efficiency(run)
    assert {name: value for name, value in _stopping(rows(run)).items() if value is not None} == {"k.a.0": 1}


@pytest.mark.parametrize("basis", ["output_tokens", "reasoning_tokens", "cost_usd", "agent_s"])
def test_costs_that_nobody_knows_are_null_and_never_zero(finished, solved, efficiency, tmp_path, basis):
    """Solved with unknown costs: neither free, nor unsolved, so that the next success is no reference for itself."""
    blind = {"output_tokens": None, "agent": "b"}
    old = build_reference([load(finished((solved(0, **blind), ()), name="blind"))], basis=basis)
    own = old.tasks["s/k"]
    assert (own.cost, own.calls, own.successes, own.agents, own.agent) == (None, None, 0, 1, None)
    assert (own.provisional, old.excluded) == (True, ())
    write_reference(tmp_path / "old.json", old)
    read = read_reference(tmp_path / "old.json")
    assert (dict(read.tasks), read.digest) == (dict(old.tasks), old.digest)
    run = finished(solved(200), solved(200, 1, status="failed"))
    keep_reference(run, read)
    assert {value for value, _, _ in efficiency(run).values()} == {None}


def test_of_a_known_and_an_unknown_cost_merging_takes_the_known_one(finished, solved):
    old = build_reference([load(finished((solved(0, output_tokens=None, agent="b"), ()), name="old"))])
    new = build_reference([load(finished(solved(300), name="new"))])
    none = build_reference([load(finished(solved(9, status="failed"), name="none"))])
    for both in (merged(old, new), merged(new, old)):
        assert (both.tasks["s/k"].cost, both.tasks["s/k"].agent) == (300, "a")
    for both in (merged(old, none), merged(none, old)):
        assert (both.tasks["s/k"].cost, both.excluded) == (None, ())


def test_unknown_costs_of_some_trials_leave_the_known_ones_what_they_are(finished, solved):
    trials = [solved(tokens, n) for n, tokens in enumerate((100, 300, 200))]
    blind = [(solved(0, n, output_tokens=None), ()) for n in (3, 4, 5)]
    other = [(solved(0, n, output_tokens=None, agent="b"), ()) for n in (0, 1)]
    own = build_reference([load(finished(*trials, *blind, *other))]).tasks["s/k"]
    assert (own.cost, own.successes, own.agents, own.provisional) == (200, 3, 2, True)


def test_calls_that_nobody_recorded_are_unknown(finished, solved):
    run = finished((solved(100, tool_calls=None), ()))
    assert build_reference([load(run)]).tasks["s/k"].calls is None


@pytest.mark.parametrize(("successes", "provisional"), [(4, True), (5, False)])
def test_a_reference_is_provisional_below_five_successes(
    finished, solved, efficiency, successes, provisional
):
    run = finished(*(solved(100, n) for n in range(successes)))
    assert build_reference([load(run)]).tasks["s/k"].provisional == provisional
    labels = {label for _, label, _ in efficiency(run).values()}
    assert labels == {"provisional, own cohort" if provisional else "own cohort"}


def test_an_unscored_trial_with_states_counts_nowhere(finished, solved, rows, tmp_path):
    """Its states may pass; it has no verdict, so it sets no cost, and has no efficiency and no progress."""
    told = {"of_step": 0, "passed": True, "checks": {"one": True}}
    steps = (Think(step=0, output_tokens=5), Event(step=1, event="checkpoint", detail=json.dumps(told)))
    run = finished(
        solved(100), (solved(5, 1, status="unscored", error_origin="grader", stop_reason="submitted"), steps)
    )
    assert build_reference([load(run)]).tasks["s/k"].cost == 100
    scorers = find_scorers(find_project(tmp_path), ["overthinking", "progressing"])
    assert not score_run(run, scorers).failed
    values = {row["value"] for row in rows(run) if row["trial_id"] == "k.a.1"}
    assert values == {None}


def test_where_nobody_solved_a_task_it_is_excluded(finished, solved, efficiency):
    assert efficiency(finished(solved(100, status="failed")))["k.a.0"][0] is None


def test_scores_name_the_reference_that_they_rest_on(finished, solved, efficiency, rows):
    run = finished(solved(200))
    frozen = Reference("output_tokens", build_reference([load(finished(solved(100), name="cheap"))]).tasks)
    keep_reference(run, frozen)
    assert efficiency(run) == {"k.a.0": (0.5, "provisional", frozen.digest)}
    assert {row["reference_digest"] for row in rows(run) if row["metric"] == "tokens_spent"} == {None}


def test_a_run_keeps_its_reference_until_it_is_given_another(finished, solved, efficiency):
    run = finished(solved(200))
    first = build_reference([load(finished(solved(100), name="one"))])
    second = build_reference([load(finished(solved(50), name="two"))])
    assert keep_reference(run, first) is None
    assert keep_reference(run, first) is None
    assert keep_reference(run, second).digest == first.digest
    assert efficiency(run)["k.a.0"][0] == 0.25


def test_the_order_of_trials_does_not_matter(finished, solved):
    trials = [solved(tokens, n, agent=agent) for agent in "ab" for n, tokens in enumerate((100, 300, 200))]
    one, other = finished(*trials, name="one"), finished(*reversed(trials), name="other")
    assert build_reference([load(one)]).digest == build_reference([load(other)]).digest
