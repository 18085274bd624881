"""Where faults struck, as their events tell."""

from __future__ import annotations

import json

import pytest

from evalkit.measures.fault_strike import first_silent, strikes
from evalkit.trajectory.step import Act, Event


def event(step: int, parent: int | None, **detail: object) -> Event:
    told = {"id": "price", "kind": "wrong_value", "loud": False, "visible": True, **detail}
    return Event(step=step, event="fault", detail=json.dumps(told), parent_step=parent)


def call(step: int) -> Act:
    return Act(step=step, tool="bash")


def test_an_event_that_belongs_to_no_call_before_it_is_no_strike():
    steps = [event(1, 2), call(2), event(3, 2), event(4, None), event(5, 7), event(6, 5)]
    assert [strike.step for strike in strikes(steps)] == [2]


@pytest.mark.parametrize(
    ("wait", "asked"),
    [(3, 3.0), (0, 0.0), (-1, None), (1e300, None), (float("nan"), None), (True, None), ("3", None)],
)
def test_what_nobody_asks_to_wait_was_not_asked(wait, asked):
    (strike,) = strikes([call(1), event(2, 1, retry_after_s=wait)])
    assert strike.retry_after_s == asked


def test_of_each_silent_fault_the_first_strike_that_is_visible_is_looked_at():
    steps = [
        *map(call, range(1, 5)),
        event(5, 1, visible=False),
        event(6, 2),
        event(7, 3, id="down", loud=True),
        event(8, 3, id="cut"),
        event(9, 4),
    ]
    assert [(strike.fault_id, strike.step) for strike in first_silent(strikes(steps))] == [
        ("price", 2),
        ("cut", 3),
    ]
