"""How long recovery takes, and what is known where it never came."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.measures.time_to_recovery import ended_by_itself, passing, waited
from evalkit.measures.waited import Waited, notation, parse
from evalkit.trajectory.step import Act, Think

START = datetime(2026, 1, 1, tzinfo=UTC)
TIMES = st.lists(
    st.builds(
        Waited, st.integers(0, 10**9) | st.floats(0, 1e6).map(lambda time: round(time, 3)), st.booleans()
    )
)


def think(step: int, tokens: int | None = 10) -> Think:
    return Think(step=step, output_tokens=tokens, started_at=START + timedelta(seconds=step), duration_s=1.0)


def act(step: int, **more) -> Act:
    return Act(step=step, **{"started_at": START + timedelta(seconds=step), "duration_s": 0.5, **more})


STEPS = (think(0), act(1), think(2, 7), act(3), act(4), think(5, None), act(6))


def test_what_passes_between_two_calls():
    gone = passing(STEPS, marks=(1, 3))
    assert (gone.steps(1, 3), gone.output_tokens(1, 3), gone.seconds(1, 3)) == (1, 7, 2.0)


def test_calls_that_were_asked_for_at_once_are_no_generation_apart():
    gone = passing(STEPS, marks=(3, 4))
    assert (gone.steps(3, 4), gone.output_tokens(3, 4)) == (0, 0)


def test_up_to_the_end_of_the_trial():
    gone = passing(STEPS, marks=(1,))
    assert (gone.steps(1, None), gone.seconds(1, None)) == (2, 5.0)
    assert gone.output_tokens(1, None) is None  # the last generation does not tell


def test_without_generations_nothing_is_known():
    gone = passing([act(0), act(1, started_at=None)], marks=(0, 1))
    assert (gone.steps(0, 1), gone.output_tokens(0, 1), gone.seconds(0, 1)) == (None, None, None)


def test_a_clock_that_runs_backwards_tells_nothing():
    gone = passing([act(0), act(1, started_at=START - timedelta(hours=1))], marks=(0, 1))
    assert gone.seconds(0, 1) is None


@pytest.mark.parametrize(
    ("taken", "recovered", "by_itself", "horizon", "told"),
    [
        (3, True, True, 30, "3"),
        (3, False, True, 30, "30+"),
        (3, False, False, 30, "3+"),
        (40, False, True, 30, "40+"),
        (3, False, True, None, "3+"),
        (None, False, True, 30, "30+"),
        (None, False, False, 30, "None"),
        (None, True, True, 30, "None"),
    ],
)
def test_where_an_episode_without_recovery_sits(taken, recovered, by_itself, horizon, told):
    assert str(waited(taken, recovered=recovered, by_itself=by_itself, horizon=horizon)) == told


@pytest.mark.parametrize(
    ("stop_reason", "itself"),
    [
        ("submitted", True),
        ("gave_up", True),
        ("refused", True),
        (None, True),
        ("step_limit", False),
        ("time_limit", False),
        ("error", False),
        ("cancelled", False),
    ],
)
def test_who_ended_a_trial(stop_reason, itself):
    assert ended_by_itself(stop_reason) == itself


@given(TIMES)
def test_the_notation_can_be_read_again(times):
    assert list(parse(notation(times))) == times


@pytest.mark.parametrize("text", ["x", "1,,2", "-3", "1++", "nan", "1e999"])
def test_what_is_no_notation_is_refused(text):
    with pytest.raises(ValueError, match="is no time"):
        parse(text)
