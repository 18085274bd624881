"""Reading a run's scores by column."""

from __future__ import annotations

import math
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evalkit.errors import ConfigError
from evalkit.scoring.scored_trials import read_scored, stored_scorers
from evalkit.trajectory.reader import load
from evalkit.trajectory.schema import SCORES
from evalkit.trajectory.score import ScoreRow
from evalkit.trajectory.score_files import write_scores

NOON = datetime(2025, 1, 2, 12, tzinfo=UTC)


@pytest.fixture
def score_file(finished, made):
    """A run of two trials whose one file of scores holds these rows, whatever they are; returns the run's folder."""

    def make(*rows: dict[str, object]):
        run = finished(made("t1"), made("t2"))
        write_scores(run, [ScoreRow(trial_id="t1", scorer="x", scorer_version="1", metric="m", value=1.0)])
        (path,) = (run / "scores").glob("*.parquet")
        whole = {"trial_id": "t1", "scorer": "x", "scorer_version": "1", "metric": "m"}
        pq.write_table(pa.Table.from_pylist([{**whole, **row} for row in rows], schema=SCORES), path)
        return run

    return make


def test_each_metric_has_a_number_a_trial_and_unknown_is_none_of_them(finished, made):
    run = finished(made("t2"), made("t1"), made("t3"))
    write_scores(
        run,
        [
            ScoreRow(trial_id="t1", scorer="x", scorer_version="1", metric="m", value=0.5, label="half"),
            ScoreRow(trial_id="t2", scorer="x", scorer_version="2", metric="m", value=None),
            ScoreRow(
                trial_id="t1", scorer="y", scorer_version="1", metric="n", value=2, reference_digest="r"
            ),
        ],
    )
    scored = read_scored(load(run), labelled=lambda scorer, _: scorer == "x")
    assert [trial.trial_id for trial in scored.trials] == ["t1", "t2", "t3"]
    column = scored.columns["x", "m"]
    assert column.values.tolist() == pytest.approx([0.5, math.nan, math.nan], nan_ok=True)
    assert column.labels == ["half", None, None]
    assert column.versions == {"1", "2"}
    assert scored.columns["y", "n"].labels is None
    assert scored.columns["y", "n"].references == {"r"}
    assert scored.scored_by["x"].tolist() == [True, True, False]
    assert scored.stored == {"x": ("m",), "y": ("n",)}
    assert stored_scorers(load(run)) == ("x", "y")


def test_a_trial_that_a_further_attempt_has_replaced_does_not_count(finished, made):
    run = finished(made("t1", task_id="t"), made("t2", task_id="t", attempt=2))
    rows = [
        ScoreRow(trial_id=name, scorer="x", scorer_version="1", metric="m", value=value)
        for name, value in (("t1", 1.0), ("t2", 0.0))
    ]
    write_scores(run, rows)
    scored = read_scored(load(run))
    assert [trial.trial_id for trial in scored.trials] == ["t2"]
    assert scored.columns["x", "m"].values.tolist() == [0.0]


def test_a_score_that_is_there_twice_counts_once(score_file):
    scored = read_scored(load(score_file({"value": 1.0}, {"value": 0.0})))
    assert scored.columns["x", "m"].values[0] == 0
    assert np.isnan(scored.columns["x", "m"].values[1])


def test_scores_of_no_trial_are_left_out(score_file):
    scored = read_scored(load(score_file({"value": 1.0}, {"trial_id": "nobody", "value": 9.0})))
    assert scored.columns["x", "m"].values[0] == 1


@pytest.mark.parametrize("row", [{"metric": None}, {"scorer": None}])
def test_a_score_of_nothing_is_refused(score_file, row):
    run = score_file(row)
    with pytest.raises(ConfigError, match="a score") as raised:
        read_scored(load(run))
    assert f"evalkit score {run}" in str(raised.value)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_value_that_is_no_finite_number_is_marked_as_damaged(score_file, value):
    scored = read_scored(load(score_file({"value": value}, {"trial_id": "t2", "value": 1.0})))
    column = scored.columns["x", "m"]
    assert column.values.tolist() == pytest.approx([math.nan, 1.0], nan_ok=True)
    assert column.damaged == {0}


def test_a_run_without_scores_has_none(finished, made):
    scored = read_scored(load(finished(made("t1"))))
    assert (scored.columns, scored.stored) == ({}, {})
    assert scored.outcomes.values.tolist() == [1.0]


def test_a_run_without_trials_has_none(finished):
    scored = read_scored(load(finished()))
    assert (scored.trials, scored.units) == ((), ())
