"""A view that draws nothing says why."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from evalkit.report.board import Board
from evalkit.report.views import chart_views

MakeBoard = Callable[..., Board]
UNSCORED = {"status": "unscored", "skills": ("web",), "output_tokens": 5}
NO_VERDICT = "No trial without faults has a verdict, so no success is known."


def said(board: Board, asked: str) -> list[str]:
    """Of a view, its sentences and the titles of what it draws."""
    (body,) = [str(view.body) for view in chart_views(board) if view.key == asked]
    found = re.findall('<p[^>]*>([^<]+)</p>|<title id="[^"]+">([^<]+)', body)
    return [sentence or title for sentence, title in found]


@pytest.mark.parametrize("view", ["cost", "budgets", "tasks", "groups"])
def test_without_a_verdict_there_are_words_instead_of_axes(board_of: MakeBoard, view: str) -> None:
    assert said(board_of(UNSCORED), view)[1:] == [NO_VERDICT]


def test_of_a_run_without_faults_recovery_does_not_speak_of_them(board_of: MakeBoard) -> None:
    found = said(board_of({}), "recovery")
    assert "faults were injected" in found[-1]
    only_times = said(board_of({"task_id": "t", "times": "2"}), "recovery")
    assert only_times[0] == "How long failures took to be put right."
    both = said(
        board_of({"task_id": "t", "times": "2"}, {"task_id": "t", "variant": "slow", "times": "3"}),
        "recovery",
    )
    assert both[0].startswith("Success with and without injected faults, and how long")


@pytest.mark.parametrize(
    ("trial", "view", "expected"),
    [
        ({}, "cost", "Neither costs nor times are known."),
        (
            {},
            "budgets",
            "No agent ran at several levels of thinking, and no tokens of a success are known.",
        ),
        ({}, "groups", "No task names a skill or a difficulty."),
        ({"skills": ("web",)}, "groups", "No skill has two tasks with a verdict."),
        (
            {"variant": "slow", "status": "unscored"},
            "recovery",
            "No trial under faults has a verdict, and of no failure is it known whether it was put right.",
        ),
    ],
)
def test_the_reason_is_told(board_of: MakeBoard, trial: dict[str, Any], view: str, expected: str) -> None:
    assert said(board_of(trial), view)[1:] == [expected]
