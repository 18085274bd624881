"""How far a trial had come, and where it was already solved, on its page."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any

import pytest

from evalkit.report.lane import lanes
from evalkit.report.progress_json import progress_json, solved_at
from evalkit.report.trajectories import chosen
from evalkit.scoring.scored_trials import read_scored
from evalkit.scoring.trial import Trial as ScoredTrial
from evalkit.trajectory.reader import Run
from evalkit.trajectory.step import Act, Event, Prompt, Step, Think
from evalkit.trajectory.trial import Trial


def checkpoint(step: int, of_step: int, *, passed: bool, **checks: bool) -> Event:
    told = {
        "of_step": of_step,
        "deliverables": "d",
        "reward": None,
        "passed": passed,
        "checks": checks or None,
    }
    return Event(step=step, parent_step=of_step, event="checkpoint", detail=json.dumps(told))


STEPS: tuple[Step, ...] = (
    Prompt(step=0, role="user", text="Do it."),
    Think(step=1, output_tokens=25),
    Act(step=2, think_step=1, tool="bash", arguments='{"command":"a"}', exit_code=0),
    checkpoint(3, 2, passed=False, one=True, two=False),
    Think(step=4, output_tokens=25),
    Act(step=5, think_step=4, tool="bash", arguments='{"command":"b"}', exit_code=0),
    checkpoint(6, 5, passed=True, one=True, two=True),
    Think(step=7, output_tokens=50),
    Event(step=8, event="submit", detail="{}"),
)
ROW = Trial(
    run_id="run-1",
    trial_id="t1",
    suite="s",
    task_id="t",
    epoch=1,
    agent="a",
    status="passed",
    checks={"one": True, "two": True},
    thinking="tokens:20",
    thinking_sent="tokens:20",
    thinking_honoured=False,
)


def test_progress_is_a_curve_over_generated_tokens():
    found = progress_json(ScoredTrial(ROW, STEPS))
    assert found == {"at": [0.0, 0.25, 0.5, 1.0], "p": [0.0, 0.5, 1.0, 1.0]}


def test_of_an_unscored_trial_the_curve_holds_what_the_last_state_was_worth():
    """As where its grader failed at the end, and its states were graded later."""
    unscored = dataclasses.replace(ROW, status="unscored", checks=None, error_origin="grader")
    assert progress_json(ScoredTrial(unscored, STEPS[:5])) == {"at": [0.0, 0.5, 1.0], "p": [0.0, 0.5, 0.5]}
    assert solved_at(ScoredTrial(unscored, STEPS)) == 5


def test_without_checkpoints_there_is_no_curve_and_no_lane():
    bare = ScoredTrial(ROW, STEPS[:3])
    assert progress_json(bare) is None
    assert "checkpoints" not in {lane.name for lane in lanes(bare)}


def test_the_lane_says_what_was_graded_and_from_where_on_it_was_already_solved():
    (lane,) = [lane for lane in lanes(ScoredTrial(ROW, STEPS)) if lane.name == "checkpoints"]
    assert [(mark.step, mark.label, mark.kind) for mark in lane.marks] == [
        (2, "checkpoint: 1 of 2 checks pass", "graded"),
        (5, "checkpoint: 2 of 2 checks pass", "achieved"),
    ]
    (span,) = lane.spans
    assert (span.first, span.last, span.kind) == (5, 8, "solved")


def test_what_is_solved_by_its_last_call_was_not_already_solved():
    assert solved_at(ScoredTrial(ROW, STEPS[:7])) is None


@pytest.fixture
def page(recorded: Callable[..., Run], written_page: Any, opened: Any) -> Any:
    run = recorded((ROW, STEPS, ()))
    shown = opened(written_page(chosen([("run", run)], read_scored(run))), "#view=trial&trial=t1")
    shown.page.wait_for_selector(".trial")
    yield shown
    assert shown.said == []
    assert shown.violations() == []


def test_a_page_draws_the_curve_the_lane_and_says_that_the_budget_was_not_kept(page: Any):
    assert page.page.locator(".lane.progress path.curve").get_attribute("d") == "M0 40H250V21H500V2H1000V2"
    assert page.page.locator(".lane.own rect.solved").count() == 1
    assert page.page.locator(".lane.own rect.achieved").count() == 1
    assert "already solved begins here" in page.page.locator('.step[data-step="5"]').inner_text()
    assert "asked tokens:20, sent tokens:20, not kept to" in page.page.locator(".facts").inner_text()
