"""What was asked, sent and kept to of thinking budgets, in tables and headings."""

from __future__ import annotations

from evalkit.cli.thinking_lines import about_thinking, thinking_of
from evalkit.trajectory.trial import Trial


def trial(asked: str | None, sent: str | None, kept: bool | None = None, number: int = 0) -> Trial:
    agent = f"react/m@{asked}"
    return Trial(
        run_id="r",
        trial_id=f"t{number}",
        suite="s",
        task_id="t",
        variant="clean",
        epoch=1,
        attempt=1,
        agent=agent,
        status="passed",
        thinking=asked,
        thinking_sent=sent,
        thinking_honoured=kept,
    )


def test_a_heading_says_all_three_facts_as_far_as_they_are_known():
    assert thinking_of(trial("tokens:64", "tokens:64", True)) == "thinking tokens:64, sent tokens:64, kept to"
    assert (
        thinking_of(trial("off", "effort:minimal", False)) == "thinking off, sent effort:minimal, not kept to"
    )
    assert thinking_of(trial("effort:high", None)) == "thinking effort:high, sent unknown"


def test_a_heading_says_nothing_where_nothing_was_asked_and_nothing_sent():
    assert thinking_of(trial("default", "default")) is None
    assert thinking_of(trial(None, None)) is None
    assert thinking_of(trial("default", "effort:low")) == "thinking default, sent effort:low"


def test_a_run_tells_where_another_level_was_sent_and_where_a_budget_was_broken():
    trials = [
        trial("off", "effort:minimal", False, 0),
        trial("off", "effort:minimal", True, 1),
        trial("tokens:64", "tokens:64", True, 2),
    ]
    assert list(about_thinking(trials)) == [
        "thinking of react/m@off: asked for off, sent effort:minimal (2 trials)",
        "thinking of react/m@off: the budget was not kept to in 1 of 2 trials",
    ]


def test_a_run_in_which_all_was_as_asked_says_nothing():
    assert list(about_thinking([trial("tokens:64", "tokens:64", True), trial("default", "default")])) == []
