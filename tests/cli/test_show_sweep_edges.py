"""Sweeps that say less than one would like, in words."""

from __future__ import annotations

from collections.abc import Callable

import pytest


@pytest.fixture
def said(made_run, command, folder) -> Callable[..., str]:
    """What `show` says of levels, each with its budget and how many of 20 tasks it passes."""

    def say(*levels: tuple[str, int, int], **columns: object) -> str:
        def play(task: int, place: int) -> dict[str, object]:
            asked, tokens, passes = levels[place - 1]
            return {
                "agent": f"react/m@{asked}",
                "thinking": asked,
                "thinking_sent": asked,
                "output_tokens": tokens,
                "status": "passed" if task < passes else "failed",
                **columns,
            }

        run = made_run(
            folder / "run", play, tasks=20, epochs=len(levels), scorers=("success",), planned=False
        )
        return " ".join(command("show", str(run)).out.split())

    return say


def test_where_nothing_is_solved_no_level_is_sufficient(said):
    told = said(("off", 100, 0), ("tokens:900", 900, 0))
    assert "Nothing is solved at any level, so that no budget is known to be sufficient." in told
    assert "= b*" not in told
    assert "No level solves 20 tasks; tokens of a trial of each: off 2,000, tokens:900 18,000." in told


def test_what_is_as_good_but_not_shown_to_be_says_how_much_worse_it_may_be(said):
    told = said(("off", 100, 19), ("tokens:900", 900, 20))
    assert "is off, the smallest level as good as the best, tokens:900: -0.05" in told
    assert "but it is not shown to be at most 5 points worse: it may be" in told


def test_more_thinking_that_makes_it_worse_is_said(said):
    told = said(("off", 100, 19), ("tokens:900", 900, 8))
    assert "More thinking makes it worse: success at tokens:900 is significantly below that at off" in told


def test_levels_without_an_order_of_their_own_stand_in_order_of_tokens(said):
    told = said(("on", 800, 12), ("tokens:64", 64, 9))
    assert "Levels stand in order of the tokens that they took" in told


def test_names_that_hold_escapes_are_shown_as_text(said):
    told = said(("off", 100, 19), ("tokens:900", 900, 8), skills=("\x1b[31m",))
    assert "\x1b" not in told
