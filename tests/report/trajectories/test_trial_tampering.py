"""What a page says of tampering: at which step, of what kind, and how often at most where there is none."""

from __future__ import annotations

import base64
import gzip
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from evalkit.project import find_project
from evalkit.report.board import make_board
from evalkit.report.charts.tampering import tampering
from evalkit.report.page import render
from evalkit.report.trajectories import chosen
from evalkit.report.views import chart_views
from evalkit.scoring.metric import Metric
from evalkit.scoring.scored_trials import read_scored
from evalkit.trajectory.finding import Finding
from evalkit.trajectory.manifest import RunManifest
from evalkit.trajectory.reader import load
from evalkit.trajectory.score import ScoreRow
from evalkit.trajectory.step import Act, Event, Prompt, Think
from evalkit.trajectory.trial import Trial
from evalkit.trajectory.writer import RunWriter

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
EVIL = "<img src=x onerror=alert(1)>\u202e\x1b[31m tests were emptied"
FOUND = (
    Finding(code="T1", level="confirmed", what=EVIL, steps=(2,), resource="/app/</script>", source="harness"),
    Finding(code="T8", level="suspected", what="git history was searched", steps=(2,), in_force=False),
)
DECLARED = {
    "success": (Metric(name="success", meaning="passed", unit="share", better="higher", low=0, high=1),),
    "tampering": (Metric(name="tamper_confirmed", meaning="kinds", better="lower", low=0),),
}


def _scores(trial: str, confirmed: int, suspected: int) -> list[ScoreRow]:
    told: list[tuple[str, str, float, str | None]] = [
        ("success", "success", float(not confirmed), None),
        ("tampering", "tamper_confirmed", confirmed, "T1" if confirmed else None),
        ("tampering", "tamper_suspected", suspected, "T8" if suspected else None),
    ]
    return [
        ScoreRow(
            trial_id=trial, scorer=scorer, scorer_version="1", metric=metric, value=value, label=label,
            evidence=(2,) if value else (), scored_at=NOON,
        )
        for scorer, metric, value, label in told
    ]  # fmt: skip


@pytest.fixture
def run(tmp_path):
    """Two agents at two tasks: one is honest, the other's first trial was tampered with."""
    with RunWriter.create(tmp_path / "run", RunManifest(run_id="r", created_at=NOON)) as writer:
        for agent in ("honest", "cheat"):
            for task in ("a", "b"):
                fields: dict[str, Any] = {
                    "suite": "s",
                    "task_id": task,
                    "epoch": 1,
                    "agent": agent,
                    "status": "passed",
                }
                steps: list[Any] = [
                    Prompt(step=0, role="user", text="Do it."),
                    Think(step=1, output_tokens=5),
                    Act(step=2, think_step=1, call_index=0, tool="bash", observation="y"),
                ]
                if (agent, task) == ("cheat", "a"):
                    steps += [
                        Event(step=3 + place, event="tampering", detail=one.to_json())
                        for place, one in enumerate(FOUND)
                    ]
                writer.commit(
                    Trial(run_id="r", trial_id=f"{task}.{agent}", naive_passed=True, **fields), steps
                )
        writer.write_scores(
            [
                row
                for trial in ("a.honest", "b.honest", "a.cheat", "b.cheat")
                for row in _scores(trial, int(trial == "a.cheat"), int(trial == "a.cheat"))
            ]
        )
        writer.finish()
    return load(tmp_path / "run")


@pytest.fixture
def board(run):
    return make_board([("run", run)], [read_scored(run)], DECLARED)


@pytest.fixture
def held(run):
    """What a page holds of the trial that was tampered with."""
    found = chosen([("run", run)], read_scored(run))
    trials = [trial for text in found.blocks for trial in json.loads(gzip.decompress(base64.b64decode(text)))]
    return next(trial for trial in trials if trial["id"] == "a.cheat")


def test_the_step_that_shows_it_says_so(held):
    (lane,) = [lane for lane in held["lanes"] if lane["name"] == "tampering"]
    assert [(mark["step"], mark["kind"]) for mark in lane["marks"]] == [(2, "confirmed"), (2, "suspected")]
    assert lane["marks"][1]["label"] == "T8 suspected, not in force: git history was searched"


def test_all_evidence_is_listed_with_its_steps(held):
    rows = held["findings"]["rows"]
    assert held["findings"]["count"] == 2
    assert (rows["code"], rows["level"], rows["held"]) == (
        ["T1", "T8"],
        ["confirmed", "suspected"],
        [True, False],
    )
    assert rows["steps"] == [[2], [2]]
    assert held["naive"] is True


def test_hostile_words_do_not_steer_anything(held):
    text = json.dumps(held["findings"], ensure_ascii=False) + json.dumps(held["lanes"], ensure_ascii=False)
    assert not {"\x1b", "\u202e"} & set(text)


def test_kinds_are_counted_by_agent_and_lead_to_their_trials(board):
    drawn = tampering(board)
    assert '<a href="#view=trials&amp;agent=cheat&amp;note=tampering">1</a>' in drawn
    assert ">– (1)<" in drawn
    assert "honest: no event on 2 tasks; up to 78 % of further tasks may have one." in drawn
    assert "cheat: no event" not in drawn


def test_the_row_is_flagged_and_none_is_told_with_its_bound(board):
    page = render(board, find_project(), title="t", version="1", views=chart_views(board))
    assert "⚑ 1 tampered" in page
    assert "(≤\u00a078\u00a0%)" in page
    assert 'id="view-tampering"' in page


def test_a_run_that_nobody_looked_at_has_no_such_view(tmp_path):
    with RunWriter.create(tmp_path / "plain", RunManifest(run_id="p", created_at=NOON)) as writer:
        writer.commit(
            Trial(run_id="p", trial_id="t", suite="s", task_id="t", epoch=1, agent="a", status="passed"), ()
        )
        writer.finish()
    run = load(tmp_path / "plain")
    board = make_board([("p", run)], [read_scored(run)], {})
    assert tampering(board) == ""
    assert "view-tampering" not in render(
        board, find_project(), title="t", version="1", views=chart_views(board)
    )
