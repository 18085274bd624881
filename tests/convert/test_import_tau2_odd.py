"""Odd results of tau2-bench are imported for what they are."""

from __future__ import annotations

import json

import pytest

import evalkit
from evalkit.convert.importer import Options
from evalkit.convert.importing import import_run
from evalkit.errors import UsageError
from evalkit.trajectory.step import Act, Event, Prompt, Think


@pytest.fixture
def simulated(tmp_path):
    """Import these simulations: the trials with their steps, and the remarks."""

    def run(*simulations, text=None, info=None, **options):
        file = tmp_path / "results.json"
        whole = {"info": INFO if info is None else info, "tasks": [], "simulations": list(simulations)}
        file.write_text(json.dumps(whole) if text is None else text)
        done = import_run("tau2", [file], tmp_path / "run", Options(**options))
        return list(evalkit.load(done.path).iter_trials()), done.files[0].notes

    return run


INFO = {
    "agent_info": {
        "implementation": "llm_agent",
        "llm": "openai/gpt-5",
        "llm_args": {"temperature": 0.5, "reasoning_effort": "high", "api_key": "sk-not-a-key"},
    },
    "user_info": {"implementation": "user_simulator", "llm": "gpt-4.1", "llm_args": {}},
    "environment_info": {"domain_name": "retail", "policy": "..."},
    "max_steps": 100,
}


def simulation(*messages, **keys):
    return {
        "id": "s",
        "task_id": "7",
        "trial": 0,
        "seed": 5,
        "termination_reason": "user_stop",
        "reward_info": {"reward": 1.0},
        "messages": list(messages),
        **keys,
    }


def said(text="yes", **keys):
    return {
        "role": "assistant",
        "content": text,
        "usage": {"prompt_tokens": 10, "completion_tokens": 2},
        **keys,
    }


def acts(steps):
    return [step for step in steps if isinstance(step, Act)]


def thinks(steps):
    return [step for step in steps if isinstance(step, Think)]


def details(steps):
    return [json.loads(step.detail) for step in steps if isinstance(step, Event)]


def test_settings_are_told_without_secrets(simulated, tmp_path):
    ((trial, _),), _ = simulated(simulation(said()))
    assert (trial.agent, trial.thinking, trial.temperature, trial.seed) == (
        "tau2/openai/gpt-5@effort:high",
        "effort:high",
        0.5,
        5,
    )
    assert (trial.suite, trial.task_id, trial.epoch) == ("tau2-retail", "7", 1)
    (agent,) = evalkit.load(tmp_path / "run").manifest.agents
    assert agent.settings["llm_args"]["api_key"].startswith("[redacted")
    assert (agent.settings["user_model"], agent.settings["max_steps"]) == ("gpt-4.1", 100)


@pytest.mark.parametrize(
    ("arguments", "thinking"),
    [
        ({}, None),
        ({"temperature": 0.0, "reasoning_effort": None}, None),
        ({"reasoning_effort": "none"}, "off"),
        ({"reasoning_effort": "brand new"}, None),
        ({"thinking": {"type": "enabled", "budget_tokens": 2048}}, "tokens:2048"),
        ({"thinking": {"type": "disabled"}}, "off"),
        ({"thinking": {"type": "adaptive"}}, "dynamic"),
        ({"extra_body": {"reasoning": {"effort": "low"}}}, "effort:low"),
        ({"extra_body": {"reasoning": {"enabled": False}}}, "off"),
        ({"extra_body": {"chat_template_kwargs": {"enable_thinking": True}}}, "on"),
    ],
)
def test_the_thinking_budget_is_read_from_the_arguments(simulated, arguments, thinking):
    agent = {"implementation": "llm_agent", "llm": "m", "llm_args": arguments}
    ((trial, _),), _ = simulated(simulation(said()), info={"agent_info": agent})
    assert trial.thinking == thinking
    assert trial.agent == ("tau2/m" if thinking is None else f"tau2/m@{thinking}")
    assert trial.suite == "tau2"


def test_the_users_calls_are_interventions_with_their_results(simulated):
    call = {"id": "u", "name": "toggle", "arguments": {"on": True}, "requestor": "user"}
    ((trial, steps),), _ = simulated(
        simulation(
            said(tool_calls=[{"id": "u", "name": "look", "arguments": {"x": 1}, "requestor": "assistant"}]),
            {"role": "tool", "id": "u", "content": "seen", "requestor": "assistant", "error": False},
            {"role": "user", "content": None, "tool_calls": [call]},
            {"role": "tool", "id": "u", "content": "done", "requestor": "user", "error": False},
            {"role": "tool", "id": "gone", "content": "lost", "requestor": "user", "error": True},
            {"role": "user", "content": "done it"},
        )
    )
    (act,) = acts(steps)
    assert (act.tool, act.arguments, act.observation) == ("look", '{"x":1}', "seen")
    assert details(steps) == [
        {"role": "user", "tool": "toggle", "arguments": {"on": True}, "result": "done", "error": False},
        {"role": "user", "result": "lost", "error": True},
    ]
    assert [step.text for step in steps if isinstance(step, Prompt)] == ["done it"]
    assert (trial.tool_calls, trial.model_calls) == (1, 1)


@pytest.mark.parametrize(
    ("reason", "status", "stop", "origin"),
    [
        ("user_stop", "failed", "submitted", None),
        ("agent_stop", "failed", "submitted", None),
        ("max_steps", "failed", "step_limit", None),
        ("too_many_errors", "failed", "error", "model"),
        ("agent_error", "failed", "error", "model"),
        ("user_error", "unscored", "error", "harness"),
        ("unexpected_error", "unscored", "error", "harness"),
        ("infrastructure_error", "unscored", "error", "harness"),
        ("context_window_exceeded", "unscored", "context_limit", "model"),
        ("timeout", "failed", "time_limit", None),
        ("brand_new", "unscored", None, None),
        (None, "failed", None, None),
        (["odd"], "failed", None, None),
    ],
)
def test_whose_end_it_was(simulated, reason, status, stop, origin):
    ((trial, _),), notes = simulated(
        simulation(said(), termination_reason=reason, reward_info={"reward": 0.0})
    )
    assert (trial.status, trial.stop_reason, trial.error_origin) == (status, stop, origin)
    judged = status == "failed"
    assert (not notes.warnings) == judged
    if reason in ("infrastructure_error", "context_window_exceeded"):
        assert "tau2-bench leaves them out too" in next(iter(notes.warnings))


def test_an_unknown_end_is_graded_where_somebody_looked_at_the_outcome(simulated):
    looked = {"reward": 0.0, "db_check": {"db_match": False}}
    trials, _ = simulated(
        simulation(said(), id="a", termination_reason="brand_new", reward_info=looked),
        simulation(said(), id="b", termination_reason="brand_new", reward_info={"reward": 1.0}, trial=1),
    )
    assert [trial.status for trial, _ in trials] == ["failed", "passed"]


def test_grading_that_broke_down_is_no_failure_of_the_agents(simulated):
    told = {"reward": 0.0, "reward_basis": ["DB"], "info": {"error": "KeyError: 'x'", "note": "raised"}}
    ((trial, _),), notes = simulated(simulation(said(), reward_info=told))
    assert (trial.status, trial.error_origin, trial.error_type) == ("unscored", "grader", "KeyError")
    assert (trial.error_message, trial.stop_reason) == ("KeyError: 'x'", "submitted")
    assert "whose grading broke down" in next(iter(notes.warnings))


def test_an_ungraded_simulation_is_unscored(simulated):
    ((trial, _),), _ = simulated(simulation(said(), reward_info=None))
    assert (trial.status, trial.reward, trial.error_type) == ("unscored", None, "unjudged")


def test_all_checks_and_parts_of_the_reward_are_kept(simulated):
    told = {
        "reward": 0.0,
        "reward_breakdown": {"DB": 1.0, "COMMUNICATE": 0.0, "odd": "x"},
        "db_check": {"db_match": True},
        "action_checks": [
            {"action": {"name": "a"}, "action_match": True},
            {"action": {"name": "a"}, "action_match": False},
        ],
        "env_assertions": [{"env_assertion": {"func_name": "f"}, "met": True}, {"met": None}, 3],
        "communicate_checks": [{"info": "42", "met": False}],
        "nl_assertions": [{"nl_assertion": "be kind", "met": True}],
    }
    ((trial, _),), _ = simulated(simulation(said(), reward_info=told))
    assert trial.rewards == {"DB": 1.0, "COMMUNICATE": 0.0}
    assert trial.checks == {
        "db": True,
        "action:0:a": True,
        "action:1:a": False,
        "env:0:f": True,
        "communicate:0:42": False,
        "nl:0:be kind": True,
    }


def test_the_cache_is_told_apart_where_the_raw_response_agrees(simulated):
    anthropic = {
        "input_tokens": 2,
        "cache_read_input_tokens": 7,
        "cache_creation_input_tokens": 1,
        "output_tokens": 2,
    }
    openai = {
        "prompt_tokens": 10,
        "completion_tokens": 2,
        "prompt_tokens_details": {"cached_tokens": 8},
        "completion_tokens_details": {"reasoning_tokens": 1},
    }
    ((_, steps),), notes = simulated(
        simulation(
            said(raw_data={"usage": anthropic}),
            said(raw_data={"usage": openai}),
            said(raw_data={"usage": {**openai, "prompt_tokens": 99}}),
        )
    )
    found = [
        (t.input_tokens, t.cache_read_tokens, t.cache_write_tokens, t.output_tokens) for t in thinks(steps)
    ]
    assert found == [(2, 7, 1, 2), (2, 8, None, 2), (10, None, None, 2)]
    assert [t.reasoning_tokens for t in thinks(steps)] == [None, 1, None]
    assert list(notes.warnings) == [
        "a message's usage is not that of its raw response; the message's own counts"
    ]


def test_a_whole_completion_as_raw_response_is_read(simulated):
    choice = {"finish_reason": "length", "message": {"reasoning_content": "hm", "content": "yes"}}
    usage = {
        "prompt_tokens": 10,
        "completion_tokens": 2,
        "completion_tokens_details": {"reasoning_tokens": 1},
    }
    raw = {"model": "gpt-5-2026", "usage": usage, "choices": [choice]}
    ((trial, steps),), _ = simulated(simulation(said(raw_data=raw)))
    (think,) = thinks(steps)
    assert (think.reasoning, think.reasoning_tokens, think.finish_reason) == ("hm", 1, "length")
    assert (trial.model_served, trial.reasoning_tokens) == ("gpt-5-2026", 1)


def test_null_zero_and_missing_tokens_are_kept_apart(simulated):
    def usage(read, wrote):
        return said(usage={"prompt_tokens": read, "completion_tokens": wrote}, cost=0.5)

    ((trial, steps),), notes = simulated(
        simulation(
            said(), usage(0, 0), usage(None, None), usage("12", -5), usage(2**64, 7.5), said(usage=None)
        )
    )
    counts = [(t.input_tokens, t.output_tokens) for t in thinks(steps)]
    assert counts == [(10, 2), (0, 0), (None, None), (12, None), (None, None), (None, None)]
    assert (trial.input_tokens, trial.output_tokens) == (None, None)
    assert notes.warnings["tokens are a text, not a number"] == 1
    assert notes.warnings["tokens that make no sense count as unknown"] == 3


def test_costs_are_added_up_and_a_stale_sum_is_remarked_on(simulated):
    found, notes = simulated(
        simulation(said(cost=0.25), said(cost=0.5), agent_cost=2.0),
        simulation(said(cost=0.25), said(cost=0.0), agent_cost=0.25, id="t"),
        simulation(said(), agent_cost=3.0, id="u"),
        simulation(said(cost=0.0), agent_cost=0.0, id="v"),
        simulation(said(cost=float("nan")), agent_cost=None, id="w"),
    )
    assert [trial.cost_usd for trial, _ in found] == [0.75, None, 3.0, None, None]
    assert "agent_cost is 2, but the messages cost 0.75, which counts" in notes.warnings
    assert "NaN is no number and counts as unknown" in notes.warnings


def test_a_clock_that_goes_backwards_gives_no_duration(simulated):
    ((trial, steps),), notes = simulated(
        simulation(
            {"role": "user", "content": "hi", "timestamp": "2026-01-01T00:00:10"},
            said(timestamp="2026-01-01T00:00:12.500000"),
            said(timestamp="2026-01-01T00:00:01"),
            said(timestamp=0),
            duration=-1,
            start_time="2026-01-01T00:00:00+01:00",
            end_time="never",
        )
    )
    assert [think.duration_s for think in thinks(steps)] == [2.5, None, None]
    assert (trial.agent_s, trial.finished_at) == (None, None)
    assert trial.started_at.isoformat() == "2025-12-31T23:00:00+00:00"
    assert "the clock went backwards, so a duration is unknown" in notes.warnings


def test_messages_that_were_refused_are_kept_as_events(simulated):
    ((_, steps),), notes = simulated(simulation(said(errors=["Invalid message: both text and calls"])))
    assert details(steps) == [{"refused": ["Invalid message: both text and calls"]}]
    assert thinks(steps)[0].retries == 1
    assert any("refused" in warning for warning in notes.warnings)


def test_a_second_message_without_usage_is_a_generation(simulated):
    silent = {"role": "assistant", "content": "hello", "usage": None, "cost": 0.0}
    ((trial, steps),), _ = simulated(simulation(silent, {"role": "user", "content": "hi"}, said(), silent))
    assert [t.text for t in thinks(steps)] == ["yes", "hello"]
    assert trial.input_tokens is None


def test_arguments_in_every_form_are_read(simulated):
    forms = [{"a": 1}, '{"a": 1}', '"{\\"a\\": 1}"', '{"a": ', None, ""]
    calls = [{"id": "0", "name": "f", "arguments": form, "requestor": "assistant"} for form in forms]
    ((_, steps),), _ = simulated(simulation(said(tool_calls=calls)))
    assert [(act.arguments, act.arguments_raw, act.call_index) for act in acts(steps)] == [
        ('{"a":1}', None, 0),
        ('{"a":1}', None, 1),
        ('{"a":1}', None, 2),
        (None, '{"a": ', 3),
        (None, None, 4),
        ("{}", None, 5),
    ]


def test_a_copied_simulation_is_left_out_and_a_further_trial_is_an_epoch(simulated):
    one = simulation(said())
    found, notes = simulated(one, one, simulation(said(), id="t"), simulation(said(), id="u", trial=None))
    assert [trial.epoch for trial, _ in found] == [1, 2, 3]
    assert notes.warnings["copies of trials that the run has already are left out"] == 1


def test_simulations_before_a_cut_are_kept(simulated):
    whole = {"info": INFO, "simulations": [simulation(said(), id=str(n), task_id=str(n)) for n in range(3)]}
    found, notes = simulated(text=json.dumps(whole)[:-30])
    assert [(trial.task_id, trial.agent) for trial, _ in found] == [
        ("0", "tau2/openai/gpt-5@effort:high"),
        ("1", "tau2/openai/gpt-5@effort:high"),
    ]
    assert any(loss.startswith("after 2 items: cut off") for loss in notes.losses)


def test_a_cut_after_the_simulations_is_told(simulated):
    found, notes = simulated(text=json.dumps({"simulations": [simulation(said())], "info": INFO})[:-10])
    assert len(found) == 1
    assert any(loss.startswith("after the simulations: cut off") for loss in notes.losses)


def test_what_is_no_simulation_is_named(simulated):
    found, notes = simulated(42, {"messages": "none"}, simulation(said()), info="odd")
    assert len(found) == 1
    assert list(notes.losses) == [
        "simulation 1: holds a number, not an object",
        "simulation 2: has no list of messages, and no ticks",
    ]


def test_nested_too_deeply_is_refused(tmp_path):
    file = tmp_path / "deep.json"
    file.write_text('{"simulations": ' + "[" * 100_000)
    with pytest.raises(UsageError, match=r"nested too deeply|cut off"):
        import_run("tau2", [file], tmp_path / "run", Options())
