"""Do new scores replace exactly the old ones of the same scorers?"""

from __future__ import annotations

import pytest

from evalkit.trajectory.reader import load
from evalkit.trajectory.score import ScoreRow


def score(scorer, metric, value, trial_id="t1"):
    return ScoreRow(
        trial_id=trial_id,
        scorer=scorer,
        scorer_version="1",
        metric=metric,
        value=value,
        evidence=(0, 2),
        reason="why",
    )


def rows_of(run):
    table = load(run).scores.to_table(["scorer", "metric", "value"])
    return sorted(tuple(row.values()) for row in table.to_pylist())


def test_scores_are_replaced_scorer_by_scorer(writer):
    writer.write_scores([score("a", "x", 1.0), score("a", "y", 2.0), score("b", "z", 3.0)])
    writer.write_scores([score("a", "x", 9.0)])
    assert rows_of(writer.path) == [("a", "x", 9.0), ("b", "z", 3.0)]


def test_a_scorer_that_yields_nothing_loses_its_old_scores(writer):
    writer.write_scores([score("a", "x", 1.0), score("b", "z", 3.0)])
    writer.write_scores([], scorers=["a"])
    assert rows_of(writer.path) == [("b", "z", 3.0)]


def test_a_scorer_that_fails_half_way_leaves_the_old_scores(writer):
    writer.write_scores([score("a", "x", 1.0), score("b", "z", 3.0)])

    def half():
        yield score("b", "z", 4.0)
        yield score("a", "x", 2.0)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        writer.write_scores(half())
    assert rows_of(writer.path) == [("a", "x", 1.0), ("b", "z", 3.0)]
    assert not [path for path in (writer.path / "scores").iterdir() if path.name.endswith(".tmp")]


def test_an_undefined_score_is_null(writer):
    writer.write_scores([score("a", "x", None)])
    (row,) = load(writer.path).scores.to_table().to_pylist()
    assert (row["value"], row["evidence"], row["reason"]) == (None, [0, 2], "why")


def test_scorer_names_are_safe_as_file_names(writer):
    writer.write_scores([score("_../x", "m", 1.0)])
    assert rows_of(writer.path) == [("_../x", "m", 1.0)]


def test_scores_of_replaced_trials_are_hidden(writer, make_trial):
    writer.commit(make_trial("t1", task_id="a"), ())
    writer.commit(make_trial("t2", task_id="a", attempt=2), ())
    writer.write_scores([score("a", "x", 1.0, "t1"), score("a", "x", 2.0, "t2")])
    assert rows_of(writer.path) == [("a", "x", 2.0)]
