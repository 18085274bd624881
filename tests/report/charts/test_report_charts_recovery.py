"""Under faults: what is kept, and how soon failures are put right."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from evalkit.report.board import Board
from evalkit.report.charts.recovery import recovery, recovery_times
from evalkit.report.charts.retention import kept, retention
from evalkit.report.charts.success import success_in
from evalkit.stats.survival import survival
from evalkit.stats.survival_curve import Fall, survival_curve

MakeBoard = Callable[..., Board]
SVG = "{http://www.w3.org/2000/svg}"
Times = st.lists(st.integers(0, 12).map(float), max_size=25)


def test_the_curve_is_as_computed_by_hand() -> None:
    # At 2, 5 are at risk and 1 falls; at 3 one is lost; at 4, 3 are at risk and 2 fall; at 5 the last is lost.
    first, second = survival_curve([2, 4, 4], [3, 5])
    assert first == Fall(2, 4 / 5)
    assert second.time == 4
    assert second.share == pytest.approx(4 / 5 * 1 / 3)


def test_who_is_lost_at_the_time_of_an_event_is_at_risk_there() -> None:
    assert survival_curve([3], [3]) == (Fall(3, 0.5),)


@given(Times, Times)
def test_the_curve_has_the_median_and_the_area_of_the_scores(
    events: list[float], censored: list[float]
) -> None:
    horizon = max([*events, *censored, 1.0])
    expected = survival(events, censored, horizon=horizon)
    falls = survival_curve(events, censored)
    if expected is None:
        assert not falls
        return
    assert next((fall.time for fall in falls if fall.share <= 0.5 + 1e-12), None) == expected.median
    edges = [(0.0, 1.0), *((fall.time, fall.share) for fall in falls), (horizon, 0.0)]
    area = sum(share * (end - start) for (start, share), (end, _) in itertools.pairwise(edges))
    assert area == pytest.approx(expected.restricted_mean)


def faulted(
    agent: str, task: str, *, clean: bool, under: bool, times: str | None = None
) -> list[dict[str, Any]]:
    own = {"agent": agent, "task_id": task}
    return [
        own | {"status": "passed" if clean else "failed"},
        own | {"variant": "slow", "status": "passed" if under else "failed", "times": times},
    ]


def test_a_curve_is_drawn_through_the_shares_put_right(board_of: MakeBoard) -> None:
    board = board_of(
        *faulted("a", "t", clean=True, under=True, times="2, 4"),
        *faulted("a", "u", clean=True, under=False, times="4, 3+, 5+"),
    )
    text = recovery(board)
    (path,) = re.findall(r'id="recovery-steps-0" d="([^"]+)"', text)
    bottom, *steps = [float(number) for number in re.findall("[0-9.]+", path)[1:]]
    across = steps[-1] / 5  # the longest time is 5
    assert steps[0::2] == pytest.approx([2 * across, 4 * across, 5 * across], abs=0.1)
    assert [1 - height / bottom for height in steps[1::2]] == pytest.approx([0.2, 1 - 4 / 15], abs=0.001)
    (strokes,) = re.findall(r'd="([^"]+)" class="censored"', text)
    lost = [float(number) for number in re.findall(r"M([0-9.]+)", strokes)]
    assert lost == pytest.approx([3 * across, 5 * across], abs=0.1)
    assert "<title>a: 3 of 5 failures put right, median 4; at the end 0.73</title>" in text


def test_curves_are_of_the_times_that_the_scores_sum_up(grid: Callable[[int, int], Board]) -> None:
    board = grid(4, 30)
    for row in board.rows:
        times = recovery_times(board, "steps", "faulted")[row.entrant.name]
        own = survival(
            [time.amount for time in times if time.happened],
            [time.amount for time in times if not time.happened],
            horizon=max(time.amount for time in times),
        )
        assert own is not None
        estimate = row.cells["steps_to_recover_mean.faulted"]
        assert estimate.value == pytest.approx(own.restricted_mean)


def test_without_faults_the_failures_of_the_clean_arm_are_drawn(board_of: MakeBoard) -> None:
    text = recovery(board_of({"task_id": "t", "times": "1, 2+"}))
    assert "Failures put right over steps, without faults" in text


def test_who_had_nothing_to_put_right_is_named(board_of: MakeBoard) -> None:
    board = board_of(
        *faulted("a", "t", clean=True, under=True, times="2"),
        *faulted("calm", "t", clean=True, under=True),
    )
    assert "Nothing to put right, or no times known: calm" in recovery(board)


def test_curves_end_soon_after_the_last_that_was_put_right(board_of: MakeBoard) -> None:
    text = recovery(board_of(*faulted("a", "t", clean=True, under=True, times="2, 4, 60+")))
    (path,) = re.findall(r'id="recovery-steps-0" d="([^"]+)"', text)
    numbers = [float(number) for number in re.findall("[0-9.]+", path)[2:]]
    assert numbers[2] / numbers[-1] == pytest.approx(4 / 5, abs=0.01)
    assert "Drawn to 5 steps: later nothing was put right, though it was watched to 60." in text
    assert 'class="censored"' not in text
    assert ">steps; 2 of 3 put right</text>" in text


def test_steps_are_counted_in_whole_numbers(board_of: MakeBoard) -> None:
    text = recovery(board_of(*faulted("a", "t", clean=True, under=True, times="1, 30+")))
    assert re.findall('class="label" text-anchor="middle">([^<]+)', text) == [
        "0",
        "1",
        "2",
        "steps; 1 of 2 put right",
    ]


def test_where_nothing_was_put_right_curves_go_as_far_as_was_watched(board_of: MakeBoard) -> None:
    text = recovery(board_of(*faulted("a", "t", clean=True, under=False, times="60+")))
    assert "0 of 1 failures put right" in text
    assert "Drawn to" not in text


def test_marks_lead_to_the_trials_of_their_arm(board_of: MakeBoard) -> None:
    board = board_of(*faulted("a/b&c", "t", clean=True, under=False, times="2"))
    trials = "#view=trials&amp;agent=a%2Fb%26c"
    assert set(re.findall('<a href="([^"]+)"', recovery(board))) == {f"{trials}&amp;variant=%21clean"}
    assert set(re.findall('<a href="([^"]+)"', retention(board))) == {
        trials,
        f"{trials}&amp;variant=clean",
        f"{trials}&amp;variant=%21clean",
    }


def test_numbers_that_no_scorer_gave_are_not_drawn(board_of: MakeBoard) -> None:
    assert recovery(board_of({"task_id": "t", "times": "1"}), "tokens") == ""


def test_without_faults_nothing_is_kept_or_lost(board_of: MakeBoard) -> None:
    assert retention(board_of({"task_id": "t"})) == ""


def lines_of(text: Markup) -> dict[str, tuple[float, float]]:
    """By agent, in order, where its marks without and under faults are."""
    root = ET.fromstring(text)
    return {
        str(row.get("data-agent")): (
            float(row.findall(f"{SVG}a/{SVG}circle")[0].get("cx", "")),
            float(
                re.findall(
                    r"M([0-9.]+)", row.findall(f"{SVG}a/{SVG}path[@class='point faulted']")[0].get("d", "")
                )[0]
            ),
        )
        for row in root.findall(f"{SVG}g[@class='row']")
    }


def test_who_keeps_most_comes_first_and_marks_lie_at_the_shares(grid: Callable[[int, int], Board]) -> None:
    board = grid(6, 30)
    text = retention(board)
    found = lines_of(text)
    rows = {row.entrant.name: row for row in board.rows}
    shares = [kept(rows[name]) or 0 for name in found]
    assert shares == sorted(shares, reverse=True)
    assert len(found) == 6
    ticks = [float(x) for x in re.findall(r'd="M([0-9.]+) [^"]+" class="tick"', text)]
    for name, places in found.items():
        for arm, place in zip(("clean", "faulted"), places, strict=True):
            estimate = success_in(rows[name], arm)
            assert estimate is not None
            assert estimate.value is not None
            assert place == pytest.approx(ticks[0] + estimate.value * (ticks[-1] - ticks[0]), abs=0.1)


def test_what_is_kept_is_as_computed_by_hand(board_of: MakeBoard) -> None:
    board = board_of(
        *faulted("a", "t", clean=True, under=True),
        *faulted("a", "u", clean=True, under=False),
        *faulted("a", "v", clean=False, under=False),
    )
    assert kept(board.rows[0]) == 0.5
    assert ">0.50</text>" in retention(board)


def test_who_was_not_tried_in_both_arms_is_named(board_of: MakeBoard) -> None:
    board = board_of(*faulted("a", "t", clean=True, under=True), {"agent": "half", "task_id": "t"})
    assert "Not drawn, without trials in both arms: half" in retention(board)
