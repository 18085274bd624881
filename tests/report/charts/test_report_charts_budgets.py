"""Success over thinking budgets, and what is solved within so many tokens."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree as ET

from evalkit.report.board import Board
from evalkit.report.charts.budgets import budgets
from evalkit.report.charts.solved_within import Rise, rises, solved_within
from evalkit.report.views import chart_views

MakeBoard = Callable[..., Board]
SVG = "{http://www.w3.org/2000/svg}"


def levels(family: str = "m", **budget_of: int) -> list[dict[str, Any]]:
    """An agent that solves those of 20 tasks that need no more than its budget: 300 or 1,500 tokens."""
    return [
        {
            "agent": f"{family}@effort:{level}",
            "thinking": f"effort:{level}",
            "task_id": f"t{task}",
            "status": "passed" if budget >= (300 if task < 10 else 1500) else "failed",
            "output_tokens": budget,
        }
        for level, budget in budget_of.items()
        for task in range(20)
    ]


def test_each_level_is_a_point_at_the_tokens_it_took_and_the_sufficient_one_a_diamond(board_of: MakeBoard):
    root = ET.fromstring(budgets(board_of(*levels(low=512, medium=2048, high=8192))))
    points = root.findall(".//*[@data-agent]")
    assert [point.attrib["data-agent"] for point in points] == [
        f"m@effort:{x}" for x in ("low", "medium", "high")
    ]
    assert [point.tag == f"{SVG}path" for point in points] == [False, True, False]
    told = [point.findtext(f"{SVG}title") for point in points]
    assert told[0] == "m@effort:low: 0.50 (0.27 to 0.73, 20 tasks), 512 tokens"
    assert told[1] == "m@effort:medium, b*: 1.00 (0.83 to 1.00, 20 tasks), 2.05k tokens"


def test_each_agent_with_several_levels_has_a_panel_and_others_have_none(board_of: MakeBoard):
    text = str(
        budgets(
            board_of(*levels("one", low=100, high=900), *levels("two", low=50, high=400), *levels("x", low=9))
        )
    )
    assert re.findall(r"(\w+) \(20 tasks\)", text) == ["one", "two"]


def test_without_several_levels_nothing_is_drawn(board_of: MakeBoard):
    assert budgets(board_of(*levels(low=100))) == ""


def test_more_thinking_that_makes_it_worse_is_told(board_of: MakeBoard):
    rows = levels(low=2000, high=9000)
    for row in rows[20:36]:
        row["status"] = "failed"
    assert "more thinking makes it worse" in str(budgets(board_of(*rows)))


def test_names_from_runs_are_text(board_of: MakeBoard):
    text = str(budgets(board_of(*levels("</svg><script>alert(1)</script>\u202e", low=100, high=900))))
    ET.fromstring(text)
    assert "<script" not in text
    assert "\u202e" not in re.sub('data-agent="[^"]*"', "", text)


def test_what_is_enough_for_which_tasks_is_said_below(board_of: MakeBoard):
    rows = levels("<b>", low=512, high=2048)
    for row in rows:
        row["difficulty"] = "easy" if int(row["task_id"][1:]) < 10 else "hard"
    (body,) = [str(view.body) for view in chart_views(board_of(*rows)) if view.key == "budgets"]
    first, second = re.findall("<li>(.*?)</li>", body)
    assert first.startswith("Think fast: difficulty easy: &lt;b&gt;@effort:low, ")
    assert second.startswith(
        "Think slow: difficulty hard: &lt;b&gt;@effort:high, the best, 1.00 [0.69, 1.00]"
    )
    assert "<b>" not in body


def test_what_is_solved_within_tokens_rises_with_each_success_and_ends_at_success(board_of: MakeBoard):
    board = board_of(
        {"task_id": "a", "output_tokens": 10},
        {"task_id": "a", "epoch": 2, "output_tokens": 30},
        {"task_id": "b", "output_tokens": 20},
        {"task_id": "c", "output_tokens": 5, "status": "failed"},
        {"task_id": "d", "output_tokens": 20},
    )
    assert rises(board.swept) == (Rise(10, 0.125), Rise(20, 0.625), Rise(30, 0.75))


def test_an_agent_with_a_success_of_unknown_tokens_is_named_and_not_drawn(board_of: MakeBoard):
    board = board_of({"output_tokens": 10}, {"agent": "b", "output_tokens": None})
    root = ET.fromstring(solved_within(board))
    assert [own.attrib["data-agent"] for own in root.findall(".//*[@data-agent]")] == ["a"]
    assert "Not drawn, as the tokens of a success are unknown: b" in "".join(root.itertext())
