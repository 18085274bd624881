"""A board says what `show` and `compare` say, and refuses what has no place in one table."""

from __future__ import annotations

import itertools
import shutil
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from evalkit.errors import NotComparable, UsageError
from evalkit.report.board import make_board, success
from evalkit.report.distinct import distinct
from evalkit.report.plain import as_csv, as_markdown
from evalkit.report.shown_text import name as shown_name
from evalkit.scoring.metric import Metric
from evalkit.scoring.scored_trials import Column, ScoredTrials, read_scored
from evalkit.scoring.summary import summarise
from evalkit.trajectory.manifest import PlannedRow, RunManifest, SuiteEntry
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

    def make(
        name: str,
        agents,
        *,
        digest: str | None = "d1",
        suite: str = "s",
        planned=(),
        scored: bool = True,
        first: int = 0,
        variants=("clean",),
        **columns,
    ):
        path = tmp_path / name
        suites = (SuiteEntry(name=suite, digest=digest, source="suites/s"),)
        about = RunManifest(run_id=name, created_at=NOON, suites=suites, planned=tuple(planned))
        rows = []
        with RunWriter.create(path, about) as writer:
            for agent, outcomes in agents.items():
                for (task, passed), variant in itertools.product(enumerate(outcomes, first), variants):
                    own = {
                        key: value[variant] if isinstance(value, dict) else value
                        for key, value in columns.items()
                    }
                    trial = Trial(
                        run_id=name,
                        trial_id=f"{agent}.t{task:02}.{variant}".replace("/", "-"),
                        variant=variant,
                        suite=suite,
                        suite_digest=digest,
                        task_id=f"t{task:02}",
                        epoch=1,
                        agent=agent,
                        status="unscored" if passed is None else "passed" if passed else "failed",
                        **{"output_tokens": 100, "agent_s": 2.0, "model": "m", **own},
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
        if scored:
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


def planned(tasks: int, *agents: str) -> list[PlannedRow]:
    return [
        PlannedRow(suite="s", task_id=f"t{task:02}", epoch=1, agent=agent)
        for task in range(tasks)
        for agent in agents
    ]


def test_a_run_that_was_cut_short_says_how_many_trials_have_no_row(recorded):
    (note,) = board(recorded("r", {"a": [1, 0], "b": [1, 0]}, planned=planned(5, "a", "b"))).notes
    assert note.startswith(
        "6 of 10 planned trials of r have no row, and no number counts them: the run was cut short"
    )
    assert "evalkit resume" in note


def test_a_whole_run_has_no_notes(recorded):
    assert board(recorded("r", {"a": [1, 0]}, planned=planned(2, "a"))).notes == ()


def test_agents_with_different_tasks_have_their_number_of_tasks_beside_them(recorded):
    found = board(recorded("r", {"a": [1, 0, 1, 1, 1], "b": [1, 0]}))
    assert [row.tasks for row in found.rows] == [5, 2]
    assert "2 of 5 tasks are common to all" in found.notes[0]
    assert "| rank | agent | success | tasks |" in as_markdown(found)
    assert "> The agents have different tasks" in as_markdown(found)


def test_a_run_without_trials_is_refused(recorded):
    with pytest.raises(UsageError, match="r2: the run has no trials of 2 planned"):
        board(recorded("r1", {"a": [1]}), recorded("r2", {}, planned=planned(2, "a")))


def test_agents_of_two_runs_that_share_no_task_share_no_table(recorded):
    with pytest.raises(NotComparable, match="a of r1 and b of r2 have no task in common"):
        board(recorded("r1", {"a": [1, 1]}), recorded("r2", {"b": [1, 1]}, first=2))


def test_runs_that_share_some_tasks_say_how_many(recorded):
    found = board(recorded("r1", {"a": [1, 1]}), recorded("r2", {"b": [1, 1]}, first=1))
    assert "1 of 3 tasks are common to all" in found.notes[0]
    assert not found.same_tasks  # though each has two


def test_a_suite_with_a_digest_that_is_no_text_is_no_crash(recorded):
    name, run = recorded("r", {"a": [1]})
    run.manifest = replace(run.manifest, suites=(SuiteEntry(name="s", digest=5),))
    assert board((name, run)).suites == {"s": "5"}


def test_a_run_that_is_not_scored_says_so_and_shows_what_its_graders_said(recorded):
    found = board(recorded("r1", {"a": [1, 0]}), recorded("my run", {"b": [1, 1]}, scored=False))
    assert found.notes[0].startswith("my run is not scored")
    assert found.notes[0].endswith("evalkit score 'my run'")
    assert found.unscored_runs == {"my run"}
    assert [heading.key for heading in found.headings if heading.shown] == ["success.clean", "pass^1.clean"]


def test_what_stands_beside_success_is_of_the_same_arm(recorded):
    """Giving up under faults is cheap, and buys no success."""
    run = recorded(
        "r",
        {"a": [1, 1]},
        variants=("clean", "slow"),
        output_tokens={"clean": 100, "slow": 1},
        agent_s={"clean": 2.0, "slow": 0.1},
        cost_usd={"clean": 0.5, "slow": 0.0},
    )
    row = board(run).rows[0]
    assert (row.mean_tokens, row.median_s, row.mean_usd, row.usd_per_pass) == (100, 2.0, 0.5, 0.5)
    assert (row.trials, row.tasks) == (4, 2)


def test_who_never_succeeds_is_not_on_the_frontier(recorded):
    found = board(recorded("r", {"a": [0, 0]}), recorded("q", {"b": [1, 1]}, output_tokens=900))
    assert {row.entrant.name: row.on_frontier for row in found.rows} == {"a": False, "b": True}


def test_a_run_under_several_names_and_its_copies_count_once(recorded, tmp_path):
    _, run = recorded("r", {"a": [1]})
    shutil.copytree(run.path, tmp_path / "copy")
    (tmp_path / "link").symlink_to(run.path)
    other = recorded("other", {"a": [1]})
    named = [
        ("r", run),
        ("link", load(str(tmp_path / "link"))),
        other,
        ("copy", load(str(tmp_path / "copy"))),
    ]
    kept, notes = distinct(named)
    assert [name for name, _ in kept] == ["r", "other"]
    assert notes == (
        "link is the run r under another name, and counts once.",
        "copy is a copy of r (both are the run r), and is left out.",
    )


HOSTILE = "\u202ereorient\x1b[31m"


def test_names_and_facts_are_shown_with_escapes_everywhere(recorded):
    found = board(recorded("r", {HOSTILE: [1, 0, 1]}, model_served=HOSTILE, agent_loop="\x1b\x07"))
    told = [
        as_markdown(found),
        as_csv(found),
        repr(found.rows[0].entrant.settings),
        found.rows[0].entrant.name,
    ]
    assert not [text for text in told if "\u202e" in text or "\x1b" in text or "\x07" in text]
    assert found.rows[0].entrant.name == r"\u202ereorient\x1b[31m"


def test_a_long_name_stays_itself_so_that_links_find_its_trials(recorded):
    """As names in the list of trials are made of the board's."""
    name = board(recorded("r", {"x\u202e" * 200: [1], "x\u202e" * 200 + "b": [1]})).rows[0].entrant.name
    assert len(name) <= 300
    assert shown_name(name) == name


def test_agents_whose_names_differ_only_at_their_ends_have_rows_of_their_own(recorded):
    found = board(recorded("r", {"x" * 400 + end: [1] for end in "ab"}))
    assert len({row.entrant.name for row in found.rows}) == 2


def test_facts_of_any_length_are_cut_and_say_so(recorded):
    settings = board(recorded("r", {"a": [1]}, model_served="x" * 2_000_000)).rows[0].entrant.settings
    assert settings["model_served"] == "x" * 500 + "... (1,999,500 more characters)"
