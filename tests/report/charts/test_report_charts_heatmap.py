"""Tasks by agents: each cell says what was passed."""

from __future__ import annotations

from collections.abc import Callable
from xml.etree import ElementTree as ET

import pytest
from markupsafe import Markup

from evalkit.report.board import Board
from evalkit.report.charts.heatmap import MOST_TASKS, class_of, heatmap

MakeBoard = Callable[..., Board]
SVG = "{http://www.w3.org/2000/svg}"


def cells(text: Markup) -> dict[tuple[str, str | None], tuple[str, str]]:
    """By task and agent (None: any), the class's place and what is shown to whoever points at it."""
    root = ET.fromstring(text)
    heads = [element.get("data-agent") for element in root.findall(f"{SVG}g[@class='heads']/{SVG}text")]
    return {
        (str(row.get("data-task")), heads[int(cell.get("x", ""))]): (
            str(group.get("class")).removeprefix("cell-"),
            str(cell[0].text),
        )
        for row in root.findall(f"{SVG}g[@class='row']")
        for group in row.findall(f"{SVG}g/{SVG}g")
        for cell in group.findall(f"{SVG}rect")
    }


def attempts(agent: str, task: str, outcomes: str) -> list[dict[str, object]]:
    told = {"+": "passed", "-": "failed", "?": "unscored"}
    return [
        {"agent": agent, "task_id": task, "epoch": epoch + 1, "status": told[outcome]}
        for epoch, outcome in enumerate(outcomes)
    ]


def test_each_cell_has_the_class_and_the_share_of_its_trials(board_of: MakeBoard) -> None:
    board = board_of(
        *attempts("a", "t", "+++-"),
        *attempts("b", "t", "+---"),
        *attempts("a", "u", "----"),
        *attempts("b", "u", "++--"),
        *attempts("a", "v", "++++"),
        *attempts("b", "v", "?"),
    )
    assert cells(heatmap(board)) == {
        ("v", None): ("4", "any agent, v: 1"),
        ("v", "a"): ("4", "a, v: 1"),
        ("v", "b"): ("none", "b, v: unknown"),
        ("t", None): ("3", "any agent, t: 0.75"),
        ("t", "a"): ("3", "a, t: 0.75"),
        ("t", "b"): ("1", "b, t: 0.25"),
        ("u", None): ("2", "any agent, u: 0.50"),
        ("u", "a"): ("0", "a, u: 0"),
        ("u", "b"): ("2", "b, u: 0.50"),
    }


def test_the_easiest_task_is_on_top(board_of: MakeBoard) -> None:
    board = board_of(*attempts("a", "hard", "--"), *attempts("a", "easy", "++"), *attempts("a", "mid", "+-"))
    assert [task for task, agent in cells(heatmap(board)) if agent == "a"] == ["easy", "mid", "hard"]


def test_tasks_of_several_suites_are_named_with_theirs(board_of: MakeBoard) -> None:
    board = board_of({"task_id": "t", "suite": "x"}, {"task_id": "t", "suite": "y"})
    assert cells(heatmap(board))["y/t", "a"] == ("4", "a, y/t: 1")


@pytest.mark.parametrize(
    ("value", "expected"),
    [(None, 5), (0.0, 0), (0.001, 1), (0.333, 1), (1 / 3, 2), (2 / 3, 2), (0.667, 3), (0.999, 3), (1.0, 4)],
)
def test_only_never_and_always_have_the_outer_classes(value: float | None, expected: int) -> None:
    assert class_of(value) == expected


def test_each_class_looks_different_without_colour(board_of: MakeBoard) -> None:
    root = ET.fromstring(heatmap(board_of({"task_id": "t"})))
    signs = {
        group.get("class"): "".join(path.get("d", "") for path in group.findall(f"{SVG}path"))
        for group in root.findall(f"{SVG}g[@class='legend']/{SVG}g/{SVG}g")
    }
    assert list(signs) == ["cell-0", "cell-1", "cell-2", "cell-3", "cell-4", "none"]
    assert len({sign for name, sign in signs.items() if name != "none"}) == 5


def test_a_sign_lies_in_its_cell(board_of: MakeBoard) -> None:
    root = ET.fromstring(
        heatmap(board_of(*(row for a in "abc" for row in attempts(a, "t", "-" if a == "c" else "+"))))
    )
    (path,) = root.findall(f"{SVG}g[@class='row']/{SVG}g/{SVG}g[@class='cell-0']/{SVG}path")
    assert path.get("d") == "M3.26.26l.4.4m0-.4l-.4.4"


def test_beyond_the_most_tasks_it_says_how_many_are_not_drawn(board_of: MakeBoard) -> None:
    board = board_of(*({"task_id": f"t{task:03}"} for task in range(MOST_TASKS + 7)))
    text = heatmap(board)
    assert len(cells(text)) == 2 * MOST_TASKS
    assert f"The easiest {MOST_TASKS} of {MOST_TASKS + 7} tasks" in text


def test_where_nothing_is_scored_there_is_nothing_to_draw(board_of: MakeBoard) -> None:
    assert heatmap(board_of(*attempts("a", "t", "??"))) == ""


def test_rows_name_their_tasks_as_the_list_of_trials_does(board_of: MakeBoard) -> None:
    text = heatmap(board_of(*attempts("a\u202e", "t\x1b", "+-")))
    assert set(cells(text)) == {("t\\x1b", None), ("t\\x1b", "a\\u202e")}


def test_long_names_are_told_apart_and_whole_for_whoever_points_at_them(board_of: MakeBoard) -> None:
    names = [f"some-provider/a-model-with-a-very-long-name/thinking-{effort}" for effort in ("high", "low")]
    heads = ET.fromstring(heatmap(board_of(*({"agent": name} for name in names)))).findall(
        f"{SVG}g[@class='heads']/{SVG}text"
    )
    assert [str(head.text) for head in heads[1:]] == [
        "…very-long-name/thinking-high",
        "…very-long-name/thinking-low",
    ]
    assert [head[0].text for head in heads[1:]] == names


def test_cells_of_long_names_show_the_value_alone_where_there_are_thousands(board_of: MakeBoard) -> None:
    board = board_of(
        *({"agent": f"{agent:030}", "task_id": f"{task:030}"} for agent in range(40) for task in range(150))
    )
    assert {title for _, title in cells(heatmap(board)).values()} == {"1"}
