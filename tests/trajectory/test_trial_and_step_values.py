"""Which values do trials, steps, effects and scores refuse?"""

from __future__ import annotations

from datetime import datetime

import pytest

from evalkit.trajectory.effect import Effect
from evalkit.trajectory.score import ScoreRow
from evalkit.trajectory.step import Act, Event, Prompt, Think


@pytest.mark.parametrize(
    ("columns", "named"),
    [
        ({"reward": float("nan")}, "reward"),
        ({"reward": float("inf")}, "reward"),
        ({"rewards": {"speed": float("nan")}}, "speed"),
        ({"confidence": float("inf")}, "confidence"),
        ({"status": "broken"}, "status"),
        ({"stop_reason": "bored"}, "stop_reason"),
        ({"error_origin": "user"}, "error_origin"),
        ({"reasoning_visibility": "some"}, "reasoning_visibility"),
        ({"reasoning_source": "guess"}, "reasoning_source"),
        ({"input_tokens": -1}, "input_tokens"),
        ({"output_tokens": 2**63}, "output_tokens"),
        ({"model_calls": 1.5}, "model_calls"),
        ({"tool_calls": True}, "tool_calls"),
        ({"seed": 2**64}, "seed"),
        ({"agent_s": -0.1}, "agent_s"),
        ({"cost_usd": float("nan")}, "cost_usd"),
        ({"started_at": datetime(2025, 1, 1)}, "started_at"),
        ({"attempt": 0}, "attempt"),
        ({"agent": ""}, "agent"),
    ],
)
def test_an_impossible_value_of_a_trial_is_refused_by_name(make_trial, columns, named):
    with pytest.raises(ValueError, match=named):
        make_trial(**columns)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Prompt(step=-1, role="user", text=""),
        lambda: Prompt(step=0, role="robot", text=""),
        lambda: Think(step=0, output_tokens=-1),
        lambda: Think(step=0, cost_usd=float("inf")),
        lambda: Act(step=0, error_kind="odd"),
        lambda: Act(step=0, exit_code=1.5),
        lambda: Act(step=0, duration_s=float("nan")),
        lambda: Event(step=0, event="party"),
        lambda: Event(step=0, event="limit", started_at=datetime(2025, 1, 1)),
        lambda: Effect(trial_id="t", channel="mail", resource="x", change="sent"),
        lambda: Effect(trial_id="t", channel="file", resource="x", change="created", bytes=-1),
        lambda: ScoreRow(trial_id="t", scorer="s", scorer_version="1", metric="m", value=float("nan")),
    ],
)
def test_an_impossible_value_of_a_step_effect_or_score_is_refused(make):
    with pytest.raises(ValueError):
        make()


def test_what_is_not_said_is_unknown_and_not_zero(make_trial):
    trial = make_trial()
    assert (trial.reward, trial.input_tokens, trial.cost_usd, trial.tool_s) == (None, None, None, None)


def test_a_killed_command_has_a_negative_exit_code():
    assert Act(step=0, exit_code=-9).exit_code == -9
