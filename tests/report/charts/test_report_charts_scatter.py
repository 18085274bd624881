"""Success against cost: who is where, and who is on the frontier."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree as ET

from hypothesis import given, settings
from hypothesis import strategies as st
from markupsafe import Markup

from evalkit.report.board import Board
from evalkit.report.charts.axis import log_axis, time_axis
from evalkit.report.charts.placing import Box, placed
from evalkit.report.charts.scatter import scatter

MakeBoard = Callable[..., Board]
SVG = "{http://www.w3.org/2000/svg}"
Results = dict[str, tuple[int, int]]
"""By agent, how many of ten tasks it passed, and at how many tokens each."""


def trials(results: Results, **more: Any) -> list[dict[str, Any]]:
    return [
        {
            "agent": agent,
            "task_id": f"t{task}",
            "status": "passed" if task < passed else "failed",
            "output_tokens": tokens,
            **more,
        }
        for agent, (passed, tokens) in results.items()
        for task in range(10)
    ]


def places(text: Markup) -> dict[str, tuple[float, float, bool]]:
    """By agent, where its mark is, and whether it is a diamond."""
    found: dict[str, tuple[float, float, bool]] = {}
    for element in ET.fromstring(text).iter():
        if (name := element.get("data-agent")) is None:
            continue
        if element.tag == f"{SVG}circle":
            found[name] = float(element.get("cx", "")), float(element.get("cy", "")), False
        else:
            x, top, reach = re.findall(r"M([0-9.]+) ([0-9.]+)l([0-9.]+)", element.get("d", ""))[0]
            found[name] = float(x), float(top) + float(reach), True
    return found


@given(
    st.dictionaries(st.sampled_from("abcdefgh"), st.tuples(st.integers(0, 10), st.integers(1, 9)), min_size=1)
)
@settings(max_examples=25)
def test_diamonds_are_those_that_nobody_beats(board_of: MakeBoard, results: Results) -> None:
    beaten = {
        a
        for a, (passed, paid) in results.items()
        for other_passed, other_paid in results.values()
        if other_passed >= passed and other_paid <= paid and (other_passed > passed or other_paid < paid)
    }
    found = places(scatter(board_of(*trials(results))))
    assert {name for name, (_, _, diamond) in found.items() if diamond} == {
        name for name, (passed, _) in results.items() if passed and name not in beaten
    }


def test_dearer_is_further_right_by_equal_steps_of_a_factor_and_better_is_higher(board_of: MakeBoard) -> None:
    found = places(scatter(board_of(*trials({"a": (2, 100), "b": (5, 1000), "c": (8, 10000)}))))
    (ax, ay, _), (bx, by, _), (cx, cy, _) = (found[name] for name in "abc")
    assert abs((bx - ax) - (cx - bx)) <= 0.2
    assert abs((ay - by) - (by - cy)) <= 0.2
    assert ay > by > cy


def test_the_line_steps_up_where_more_is_bought(board_of: MakeBoard) -> None:
    text = scatter(board_of(*trials({"a": (2, 100), "b": (5, 1000), "no": (4, 5000)})))
    found = places(text)
    (path,) = re.findall(r'd="([^"]+)" class="line frontier"', text)
    numbers = [float(number) for number in re.findall("[0-9.]+", path)]
    assert numbers[0] == found["a"][0]
    assert numbers[2:6] == [found["a"][1], found["b"][0], found["b"][1], 880]


def test_a_point_tells_its_numbers(board_of: MakeBoard) -> None:
    text = scatter(board_of(*trials({"a": (5, 100)})))
    assert "<title>a: 0.50 (0.19 to 0.81, 10 tasks), 100 output tokens</title>" in text


def test_prices_are_drawn_where_all_are_known(board_of: MakeBoard) -> None:
    text = scatter(board_of(*trials({"a": (5, 100), "b": (6, 100)}, cost_usd=0.25)))
    assert "mean USD of a trial (log)" in text
    assert "$0.25" in text


def test_whose_cost_is_unknown_is_named_below(board_of: MakeBoard) -> None:
    board = board_of(*trials({"known": (5, 100)}), *trials({"quiet": (5, 1)}, output_tokens=None))
    text = scatter(board)
    assert set(places(text)) == {"known"}
    assert "Not drawn, as success or mean output tokens of a trial is unknown: quiet" in text


def test_what_costs_nothing_has_a_place_left_of_the_others(board_of: MakeBoard) -> None:
    found = places(scatter(board_of(*trials({"free": (5, 0), "cheap": (5, 1)}))))
    assert found["free"][0] < found["cheap"][0]


def test_over_seconds_the_frontier_is_its_own(board_of: MakeBoard) -> None:
    board = board_of(
        *trials({"slow": (9, 10)}, agent_s=100.0),
        *trials({"fast": (5, 99)}, agent_s=1.0),
        *trials({"neither": (4, 99)}, agent_s=50.0),
    )
    assert {name for name, (_, _, best) in places(scatter(board)).items() if best} == {"slow"}
    found = places(scatter(board, "seconds"))
    assert {name for name, (_, _, best) in found.items() if best} == {"slow", "fast"}


@given(
    st.lists(st.tuples(st.floats(60, 800), st.floats(30, 400), st.floats(10, 180)), min_size=1, max_size=40)
)
def test_no_label_covers_another_or_a_point(points: list[tuple[float, float, float]]) -> None:
    inside = Box(0, 0, 900, 440)
    taken = [Box(x - 6, y - 6, x + 6, y + 6) for x, y, _ in points]
    found = [box for box in placed(points, taken, taken[:1], inside) if box is not None]
    assert all(box.within(inside) for box in found)
    assert not any(box.meets(other) for box in found for other in taken)
    assert not any(box.meets(other) for place, box in enumerate(found) for other in found[:place])


def test_a_label_keeps_off_a_line_where_it_can() -> None:
    line = Box(108, 199, 300, 201)
    (box,) = placed([(100, 200, 50)], [], [line], Box(0, 0, 900, 440))
    assert box is not None
    assert not box.meets(line)


def test_those_without_room_are_counted(board_of: MakeBoard) -> None:
    text = scatter(board_of(*trials({f"agent-with-a-name-{place:02}": (5, 100) for place in range(40)})))
    (unnamed,) = re.findall(r"([0-9]+) without room for a name", text)
    assert text.count('class="label name') + int(unnamed) == 40


@given(st.lists(st.floats(0, exclude_min=True, allow_infinity=False), min_size=1))
def test_every_cost_has_a_place_and_at_least_two_ticks_are_there(values: list[float]) -> None:
    axis = log_axis(values, 50, 880)
    assert all(50 <= axis.at(value) <= 880 for value in values)
    assert 2 <= len(axis.ticks()) <= 10


@given(st.floats(0, allow_infinity=False))
def test_every_time_has_a_place_and_at_least_two_ticks_are_there(longest: float) -> None:
    axis = time_axis(longest, 0, 164)
    assert 0 <= axis.at(longest) <= 164
    assert 2 <= len(axis.ticks()) <= 7
