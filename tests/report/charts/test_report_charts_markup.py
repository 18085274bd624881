"""What may be in a drawing, whoever named the agents and the tasks."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from evalkit.report.board import Board
from evalkit.report.charts.groups import groups
from evalkit.report.charts.heatmap import heatmap
from evalkit.report.charts.interval_bar import interval_bar
from evalkit.report.charts.recovery import recovery
from evalkit.report.charts.retention import retention
from evalkit.report.charts.scatter import scatter
from evalkit.report.charts.solved_within import solved_within
from evalkit.report.charts.wording import clipped, storable, told_apart, width
from evalkit.scoring.scored_trials import ScoredTrials

MakeBoard = Callable[..., Board]
CHARTS: dict[str, Callable[[Board], Markup]] = {
    "scatter-cost": scatter,
    "scatter-seconds": lambda board: scatter(board, "seconds"),
    "heatmap": heatmap,
    "retention": retention,
    "recovery-steps": recovery,
    "solved-within": solved_within,
    "groups-skill": lambda board: groups(board, "skill"),
    "groups-difficulty": lambda board: groups(board, "difficulty"),
}
HOSTILE = (
    "<script>alert(1)</script>",
    "\"><img src=x onerror='alert(1)'>",
    "</title></svg><script>alert(1)</script>",
    "]]>&amp;&lt;{{7*7}}{% raw %}",
    "javascript:alert(1)",
    "\u202egnp.exe\u2066",
    "nul\x00 esc\x1b[31m \x07\x85",
    "a" * 5000,
    "e" + "\u0301" * 5000,
    "字" * 5000,
    "line\nbreak\u2028and\ttab",
    "\ufffe\uffff",
    " ",
)
LINK = "#view=trials&agent=[A-Za-z0-9._~%-]*(&variant=[a-z%0-9]+)?"
SHOWN_ELEMENTS = {"svg", "title", "desc", "defs", "g", "path", "rect", "circle", "text", "use", "a"}


def hostile_board(board_of: MakeBoard) -> Board:
    return board_of(
        *(
            {
                "agent": agent,
                "task_id": f"{task} {number}",
                "variant": variant,
                "status": "passed" if (len(agent) + number + len(variant)) % 2 else "failed",
                "skills": (HOSTILE[number % 2],),
                "difficulty": HOSTILE[2],
                "output_tokens": len(agent),
                "agent_s": 1.0,
                "times": "2, 5+" if variant != "clean" else None,
            }
            for agent in HOSTILE
            for number, task in enumerate(HOSTILE)
            for variant in ("clean", "\u202e<b>")
        )
    )


def check(text: Markup) -> ET.Element:
    """Nothing in it but drawing, and nothing that a policy forbids."""
    root = ET.fromstring(text)
    for element in root.iter():
        name = element.tag.removeprefix("{http://www.w3.org/2000/svg}")
        assert name in SHOWN_ELEMENTS
        for key, value in element.attrib.items():
            assert key != "style"
            assert not key.startswith("on")
            assert key != "href" or re.fullmatch(LINK if name == "a" else "#[a-z0-9-]+", value)
    return root


@pytest.mark.parametrize("name", CHARTS)
def test_a_drawing_is_well_formed_and_named_for_who_listens(
    name: str, grid: Callable[[int, int], Board]
) -> None:
    root = check(CHARTS[name](grid(6, 30)))
    assert root.get("role") == ("img" if name == "heatmap" else "group"), (
        "what is in an image cannot be reached"
    )
    told = str(root.get("aria-labelledby")).split()
    assert told == [f"{name}-title", f"{name}-desc"]
    assert [element.get("id") for element in root[:2]] == told
    assert all(element.text for element in root[:2])


@pytest.mark.parametrize("name", CHARTS)
def test_one_agent_is_drawn_too(name: str, grid: Callable[[int, int], Board]) -> None:
    check(CHARTS[name](grid(1, 30)))


@pytest.mark.parametrize("name", CHARTS)
def test_the_same_board_gives_the_same_bytes(name: str, grid: Callable[[int, int], Board]) -> None:
    assert CHARTS[name](grid(4, 12)) == CHARTS[name](grid(4, 12))


@pytest.mark.parametrize("name", CHARTS)
def test_names_cannot_break_out_of_a_drawing(name: str, board_of: MakeBoard) -> None:
    root = check(CHARTS[name](hostile_board(board_of)))
    shown = [text for element in root.iter() if (text := element.text)]
    assert any("alert" in text for text in shown)
    assert all(width(text) <= 200 and len(text) <= 400 for text in shown)
    assert not [
        letter
        for text in shown
        for letter in text
        if unicodedata.category(letter) in {"Cc", "Cf", "Zl", "Zp"}
    ]


@pytest.mark.parametrize("name", CHARTS)
def test_without_trials_there_is_no_drawing(name: str) -> None:
    empty = Board(
        runs=(),
        suites={},
        headings=(),
        rows=(),
        tasks=(),
        solved={},
        cost="output tokens",
        groups={},
        scored=ScoredTrials((), {}, {}),
    )
    assert CHARTS[name](empty) == ""


def test_no_two_things_on_a_page_have_one_id(grid: Callable[[int, int], Board]) -> None:
    board = grid(5, 20)
    drawn = [draw(board) for draw in CHARTS.values()]
    ids = [own for text in drawn for own in re.findall(r' id="([^"]+)"', text)]
    assert len(ids) == len(set(ids))
    used = {own for text in drawn for own in re.findall(r'<use href="#([^"]+)"', text)}
    assert used <= set(ids)


def test_what_is_unscored_alone_is_not_drawn(board_of: MakeBoard) -> None:
    board = board_of({"agent": "broken", "task_id": "t", "status": "unscored"})
    drawn = {name: draw(board) for name, draw in CHARTS.items()}
    assert set(drawn.values()) == {""}


@pytest.mark.parametrize("text", [*HOSTILE, "\ud800", ""])
def test_a_clipped_text_keeps_to_its_columns(text: str) -> None:
    for columns in (5, 30):
        own = clipped(text, columns)
        assert width(own) <= columns
        assert len(own) <= 2 * columns + 1
        assert own == storable(own)


def test_a_long_name_loses_its_end() -> None:
    assert clipped("react/very-long-provider/model-a", 16) == "react/very-lon…"


NAMES = st.text(st.sampled_from("ab/- W字"), max_size=40)


@given(st.lists(NAMES, min_size=1, max_size=8), NAMES, st.integers(12, 34))
def test_names_that_differ_are_shown_differently(names: list[str], before: str, columns: int) -> None:
    long = [before * 3 + name for name in names]
    shown = told_apart(long, columns)
    assert all(width(own) <= columns for own in shown)
    assert len(set(shown)) == len({clipped(name, 10_000) for name in long})


def test_what_names_begin_with_goes_where_they_would_look_alike() -> None:
    assert told_apart(["a/model-of-great-length-1", "a/model-of-great-length-2", "b"], 18) == [
        "…of-great-length-1",
        "…of-great-length-2",
        "b",
    ]


def test_marks_do_not_pile_up_over_what_is_around() -> None:
    assert clipped("e" + "\u0301\u0489" * 3000 + "x", 30) == "e\u0301\u0489…"
    assert clipped("café e\u0301", 30) == "café e\u0301"


def test_a_blank_name_can_be_seen() -> None:
    assert clipped(" \t", 30) == "␣"


def test_a_bar_shows_where_the_interval_and_the_value_lie() -> None:
    root = check(interval_bar(0.5, 0.25, 1.0))
    track, interval, point = root
    left, across = float(track.get("x", "")), float(track.get("width", ""))
    assert float(point.get("cx", "")) == left + 0.5 * across
    assert float(interval.get("x", "")) == left + 0.25 * across
    assert float(interval.get("width", "")) == 0.75 * across
    assert root.get("aria-hidden") == "true"


def test_a_bar_without_an_interval_has_the_point_alone() -> None:
    assert [element.get("class") for element in check(interval_bar(0.0, None, None))] == ["track", "point"]


@pytest.mark.parametrize("value", [None, -0.1, 1.1, float("nan")])
def test_there_is_no_bar_of_what_is_no_share(value: float | None) -> None:
    assert interval_bar(value, None, None) == ""
