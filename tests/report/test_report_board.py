"""A board says what `show` and `compare` say, and refuses what has no place in one table."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from evalkit.errors import NotComparable
from evalkit.report.board import make_board, success
from evalkit.report.plain import as_csv, as_markdown
from evalkit.scoring.metric import Metric
from evalkit.scoring.scored_trials import Column, ScoredTrials, read_scored
from evalkit.scoring.summary import summarise
from evalkit.trajectory.manifest import RunManifest, SuiteEntry
from evalkit.trajectory.reader import load
from evalkit.trajectory.score import ScoreRow
from evalkit.trajectory.score_files import write_scores
from evalkit.trajectory.trial import Trial
from evalkit.trajectory.writer import RunWriter

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
DECLARED = {
    "success": (Metric(name="success", meaning="passed", unit="share", better="higher", low=0, high=1),)
}


@pytest.fixture
def recorded(tmp_path):
    """A run: by agent, what it passed of each task, by number; with more columns of all trials."""

    def make(name: str, agents, *, digest: str | None = "d1", suite: str = "s", **columns):
        path = tmp_path / name
        suites = (SuiteEntry(name=suite, digest=digest, source="suites/s"),)
        about = RunManifest(run_id=name, created_at=NOON, suites=suites)
        rows = []
        with RunWriter.create(path, about) as writer:
            for agent, outcomes in agents.items():
                for task, passed in enumerate(outcomes):
                    trial = Trial(
                        run_id=name,
                        trial_id=f"{agent}.t{task:02}".replace("/", "-"),
                        suite=suite,
                        suite_digest=digest,
                        task_id=f"t{task:02}",
                        epoch=1,
                        agent=agent,
                        status="unscored" if passed is None else "passed" if passed else "failed",
                        **{"output_tokens": 100, "agent_s": 2.0, "model": "m", **columns},
                    )
                    writer.commit(trial, ())
                    value = None if passed is None else float(passed)
                    rows.append(
                        ScoreRow(
                            trial_id=trial.trial_id,
                            scorer="success",
                            scorer_version="1",
                            metric="success",
                            value=value,
                            scored_at=NOON,
                        )
                    )
            writer.finish()
        write_scores(Path(path), rows)
        return name, load(str(path))

    return make


def board(*runs):
    return make_board(runs, [read_scored(run) for _, run in runs], DECLARED)


def test_its_numbers_are_those_of_the_summary(recorded):
    run = recorded("r", {"a": [1, 1, 0, 1], "b": [0, 0, 0, 1]})
    found = board(run)
    own = {
        cell.agent: cell.figures["success"].estimate
        for cell in summarise(read_scored(run[1]), DECLARED).cells
    }
    assert {row.entrant.name: row.cells["success.clean"] for row in found.rows} == own
    assert [row.entrant.name for row in found.rows] == ["a", "b"]
    assert found.tasks[0] == ("s", "t03")
    assert found.solved["a"][0] == 1


def test_agents_of_several_runs_stand_in_one_table(recorded):
    first = recorded("first", {"a": [1, 1, 1], "b": [0, 1, 1]})
    second = recorded("second", {"a": [0, 0, 1]})
    found = board(first, second)
    assert [row.entrant.name for row in found.rows] == ["a (first)", "b", "a (second)"]
    assert [success(row) for row in found.rows] == pytest.approx([1, 2 / 3, 1 / 3])


@pytest.mark.parametrize(
    ("other", "told"),
    [
        ({"digest": "d2"}, "the suite s of second is another version than that of first: d2, not d1"),
        ({"suite": "other"}, "first is of the suites s, and second of other"),
    ],
)
def test_runs_of_different_tasks_share_no_table(recorded, other, told):
    first, second = recorded("first", {"a": [1]}), recorded("second", {"a": [1]}, **other)
    with pytest.raises(NotComparable, match=told):
        board(first, second)


def test_what_is_unknown_is_none_and_never_0(recorded):
    found = board(recorded("r", {"a": [None, None], "b": [1, 0]}, output_tokens=None, agent_s=None))
    unknown = next(row for row in found.rows if row.entrant.name == "a")
    assert success(unknown) is None
    assert (unknown.mean_tokens, unknown.usd_per_pass, unknown.median_s) == (None, None, None)
    assert (unknown.unscored, unknown.trials) == (2, 2)
    assert found.rows[-1] is unknown


def test_a_price_that_is_not_known_of_every_trial_is_none(recorded):
    priced = board(recorded("r", {"a": [1, 0]}, cost_usd=0.5)).rows[0]
    assert (priced.mean_usd, priced.usd_per_pass) == (0.5, 1.0)


def test_markdown_holds_every_agent_and_no_markup_of_names(recorded):
    text = as_markdown(board(recorded("r", {"a|b<script>@x": [1, 0, 1]})))
    assert r"a\|b\<script\>\@x" in text
    assert len({line.replace(r"\|", "").count("|") for line in text.splitlines()}) == 1


def test_csv_is_unrounded_and_holds_no_formula(recorded):
    text = as_csv(board(recorded("r", {"=1+1": [1, 0, 1]})))
    assert "'=1+1" in text
    assert repr(2 / 3) in text


def test_tampering_flags_a_row_and_is_counted(recorded):
    name, run = recorded("r", {"a": [1, 1, 1], "b": [1, 1, 0]})
    scored = read_scored(run)
    values = [float(trial.agent == "a" and trial.task_id != "t00") for trial in scored.trials]
    told = {**scored.columns, ("tampering", "tamper_confirmed"): Column(np.array(values))}
    found = make_board([(name, run)], [ScoredTrials(scored.trials, told, scored.scored_by)], DECLARED)
    assert {row.entrant.name: row.flags for row in found.rows} == {"a": 2, "b": 0}
