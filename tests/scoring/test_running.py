"""Scores are computed from the record, streaming, and replaced whole or not at all."""

from __future__ import annotations

import pytest

from evalkit.scoring.registry import find_scorers
from evalkit.scoring.running import score_run
from evalkit.trajectory.reader import load

GOOD = 'yield Score("m", len(trial.acts), f"{len(trial.acts)} calls", evidence=tuple(a.step for a in trial.acts))'


def test_every_trial_gets_one_row_a_metric_with_reason_and_evidence(home, made, finished, rows) -> None:
    home.scorer("mine", GOOD)
    run = finished(made("t1"), made("t2"))
    scored = score_run(run, find_scorers(home.project))
    assert (scored.trials, scored.scores, scored.failures) == (2, 2, [])
    assert [(r["trial_id"], r["scorer"], r["metric"], r["value"], r["evidence"]) for r in rows(run)] == [
        ("t1", "mine", "m", 2.0, [2, 3]),
        ("t2", "mine", "m", 2.0, [2, 3]),
    ]
    assert {(r["reason"], r["scorer_version"]) for r in rows(run)} == {("2 calls", "1")}


def test_a_metric_that_a_scorer_leaves_out_is_null_and_says_when_that_is(home, made, finished, rows) -> None:
    home.scorer("mine", "return ()")
    run = finished(made())
    score_run(run, find_scorers(home.project))
    assert [(r["value"], r["reason"]) for r in rows(run)] == [(None, "not given for this trial")]


def test_an_unscored_trial_has_null_whatever_a_scorer_says(home, made, finished, rows) -> None:
    home.scorer("mine", GOOD)
    run = finished(made(status="unscored", error_origin="sandbox"))
    score_run(run, find_scorers(home.project))
    assert [(r["value"], r["reason"]) for r in rows(run)] == [(None, "unscored: sandbox")]


@pytest.mark.parametrize(
    ("columns", "value", "reason"),
    [({}, None, "its steps were not recorded"), ({"model_calls": 0}, 0.0, "0 calls")],
    ids=["not recorded", "none were made"],
)
def test_nothing_is_counted_where_no_step_was_recorded(
    home, made, finished, rows, columns, value, reason
) -> None:
    home.scorer("mine", GOOD)
    run = finished((made(**columns), ()))
    score_run(run, find_scorers(home.project))
    assert [(r["value"], r["reason"]) for r in rows(run)] == [(value, reason)]


def test_a_scorer_that_reads_no_steps_is_asked_all_the_same(home, made, finished, rows) -> None:
    path = home.scorer("mine", 'yield Score("m", trial.row.reward, "the reward")')
    path.write_text(path.read_text().replace("    metrics =", "    reads_steps = False\n    metrics ="))
    run = finished((made(reward=0.5), ()))
    score_run(run, find_scorers(home.project))
    assert [(r["value"], r["reason"]) for r in rows(run)] == [(0.5, "the reward")]


def test_a_metric_that_counts_unscored_trials_has_a_value_there(home, made, finished, rows) -> None:
    path = home.scorer("mine", GOOD)
    path.write_text(path.read_text().replace("low=0", "low=0, counts_unscored=True"))
    run = finished(made(status="unscored"))
    score_run(run, find_scorers(home.project))
    assert [r["value"] for r in rows(run)] == [2.0]


def test_a_scorer_that_raises_is_reported_with_trial_and_step_and_the_others_stand(
    home, made, finished, rows
) -> None:
    home.scorer("good", GOOD)
    bad = home.scorer(
        "bad", "look(trial.acts[1])\nreturn ()", metric="n", head="def look(act): return act.nothing"
    )
    run = finished(made("t1"), made("t2"))
    scored = score_run(run, find_scorers(home.project))
    assert [r["scorer"] for r in rows(run)] == ["good", "good"]
    assert scored.failed == {"bad": 2}
    first = scored.failures[0]
    assert (first.scorer, first.trial_id, first.step) == ("bad", "t1", 3)
    assert first.message == "AttributeError: 'Act' object has no attribute 'nothing'"
    assert first.place == f"{bad}:2"


def test_a_scorer_fails_only_for_the_trials_for_which_it_raises(home, made, finished, rows) -> None:
    home.scorer("mine", f"if trial.row.trial_id == 't1': raise RuntimeError\n{GOOD}")
    run = finished(made("t1"), made("t2"))
    scored = score_run(run, find_scorers(home.project))
    assert [r["trial_id"] for r in rows(run)] == ["t2"]
    assert [(f.trial_id, f.step, f.message) for f in scored.failures] == [("t1", None, "RuntimeError")]


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ('yield Score("other", 1, "r")', "the metric 'other' is not declared in `metrics`"),
        ('yield Score("m", 1, "r")\nyield Score("m", 2, "r")', "the metric m has two scores for one trial"),
        ('yield Score("m", -1, "r")', "m: -1 is outside of [0, ...]"),
        ('yield Score("m", float("nan"), "r")', "m: nan is no finite number"),
        (
            'yield Score("m", 1, "r", evidence=(4,))',
            "m: the evidence names step 4, which the trial does not have",
        ),
        ("yield 3", "3 is no evalkit.Score"),
        ('yield Score("m", 1, 7)', "m: the reason is no text: 7"),
        ('yield Score("m", 1, "r", label=5)', "m: the label is no text: 5"),
        ('yield Score("m", 1, "r", evidence=(0.5,))', "m: the evidence is no tuple of step numbers"),
        ('yield Score("m", 1, "r", evidence=iter(()))', "m: the evidence is no tuple of step numbers"),
    ],
)
def test_what_a_scorer_may_not_give_is_told_and_not_stored(home, made, finished, rows, body, problem) -> None:
    home.scorer("mine", body)
    run = finished(made())
    scored = score_run(run, find_scorers(home.project))
    assert [f.message for f in scored.failures] == [f"InvalidScore: {problem}"]
    assert rows(run) == []


def test_a_scorer_that_wants_to_end_the_program_fails_like_any_other(home, made, finished) -> None:
    home.scorer("mine", "raise SystemExit(3)")
    assert score_run(finished(made()), find_scorers(home.project)).failed == {"mine": 1}


def test_scoring_again_replaces_the_named_scorers_rows_and_leaves_the_others(
    home, made, finished, rows
) -> None:
    home.scorer("one", 'yield Score("m", 1, "r")')
    home.scorer("two", 'yield Score("n", 1, "r")', metric="n")
    run = finished(made())
    score_run(run, find_scorers(home.project))
    home.scorer("one", 'yield Score("m", 5, "r")')
    home.scorer("two", 'yield Score("n", 5, "r")', metric="n")
    score_run(run, find_scorers(home.project, ["one"]))
    assert {r["scorer"]: r["value"] for r in rows(run)} == {"one": 5.0, "two": 1.0}


def test_scoring_that_is_cut_short_leaves_the_old_scores(home, made, finished, rows) -> None:
    home.scorer("mine", 'yield Score("m", 1, "r")')
    run = finished(made("t1"), made("t2"))
    score_run(run, find_scorers(home.project))

    def stop(done: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    home.scorer("mine", 'yield Score("m", 5, "r")')
    with pytest.raises(KeyboardInterrupt):
        score_run(run, find_scorers(home.project), heard=stop)
    assert [r["value"] for r in rows(run)] == [1.0, 1.0]
    assert [path.name for path in (run / "scores").iterdir() if path.name.startswith(".")] == []


def test_only_the_last_attempt_is_scored(home, made, finished, rows) -> None:
    home.scorer("mine", GOOD)
    run = finished(made("t1", task_id="x", status="unscored"), made("t2", task_id="x", attempt=2))
    score_run(run, find_scorers(home.project))
    assert [r["trial_id"] for r in rows(run)] == ["t2"]


def test_a_scorer_sees_what_the_manifest_says_of_its_task_and_how_the_others_did(
    home, made, finished, rows
) -> None:
    home.scorer(
        "mine",
        "rate = trial.cohort.cell('a', 's', 'x').success_rate\n"
        "told = [trial.horizon, trial.task.step_limit, dict(trial.task.resource_args), rate, "
        "trial.task.silent_faults, trial.is_faulted]\n"
        'yield Score("m", 1, repr(told))',
    )
    fault = {"suite": "s", "task": "x", "id": "f", "kind": "empty", "loud": False}
    run = finished(
        made("t1", task_id="x"),
        made("t2", task_id="x", variant="f", status="failed"),
        limits={"s/x": {"steps": 9}, "s/y": {"steps": 12}},
        tasks={"s/x": {"resource_args": {"row": "id"}}},
        faults=(fault,),
    )
    score_run(run, find_scorers(home.project))
    told = "[12, 9, {'row': 'id'}, 1.0, frozenset({'f'})"
    assert [r["reason"] for r in rows(run)] == [f"{told}, False]", f"{told}, True]"]


def test_scores_do_not_depend_on_the_order_in_which_trials_were_finished(home, made, finished, rows) -> None:
    home.scorer("mine", GOOD)
    trials = [
        made(f"t{number}", status=status) for number, status in enumerate(("passed", "failed", "passed"))
    ]
    one, other = finished(*trials, name="one"), finished(*reversed(trials), name="other")
    for run in (one, other):
        score_run(run, find_scorers(home.project))
    drop = {"scored_at"}
    assert [{k: v for k, v in r.items() if k not in drop} for r in rows(one)] == [
        {k: v for k, v in r.items() if k not in drop} for r in rows(other)
    ]


def test_a_run_without_trials_has_no_scores(home, finished, rows) -> None:
    home.scorer("mine", GOOD)
    run = finished()
    assert score_run(run, find_scorers(home.project)).trials == 0
    assert rows(run) == []
    assert load(run).scores.to_table().num_rows == 0
