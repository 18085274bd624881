"""Success by skill and by difficulty."""

from __future__ import annotations

import re
from collections.abc import Callable

from evalkit.report.board import Board
from evalkit.report.charts.groups import groups

MakeBoard = Callable[..., Board]


def passed(agent: str, task: str, *skills: str, **more: object) -> dict[str, object]:
    return {"agent": agent, "task_id": task, "skills": skills, **more}


def test_each_point_tells_the_share_of_its_group(board_of: MakeBoard) -> None:
    board = board_of(
        passed("a", "t", "files"),
        passed("a", "u", "files", "web", status="failed"),
        passed("a", "v", "web", status="failed"),
    )
    titles = re.findall("<title>([^<]+)</title>", groups(board, "skill"))
    assert [title.partition(" (")[0] for title in titles] == ["a, files: 0.50", "a, web: 0.00"]
    assert all(title.endswith("2 tasks)") for title in titles)


def test_of_one_task_nothing_is_drawn(board_of: MakeBoard) -> None:
    board = board_of(passed("a", "t", "files"), passed("a", "u", "files"), passed("a", "v", "web"))
    text = groups(board, "skill")
    assert "a, web" not in text
    assert "Not drawn, with fewer than two tasks: web" in text


def test_where_every_group_has_one_task_there_is_no_drawing(board_of: MakeBoard) -> None:
    assert groups(board_of(passed("a", "t", "files")), "skill") == ""


def test_tasks_without_skills_make_no_drawing(board_of: MakeBoard) -> None:
    assert groups(board_of(passed("a", "t"), passed("a", "u")), "skill") == ""


def test_difficulties_are_in_their_order(board_of: MakeBoard) -> None:
    board = board_of(
        *(
            passed("a", f"{level}-{task}", difficulty=level)
            for level in ("hard", "easy", "medium")
            for task in range(2)
        )
    )
    found = re.findall(r">(\w+) \(2 tasks\)<", groups(board, "difficulty"))
    assert found == ["easy", "medium", "hard"]


def test_trials_under_faults_do_not_count(board_of: MakeBoard) -> None:
    board = board_of(
        *(passed("a", task, "files") for task in "tu"),
        *(passed("a", task, "files", variant="slow", status="failed") for task in "tu"),
    )
    assert "a, files: 1.00" in groups(board, "skill")
