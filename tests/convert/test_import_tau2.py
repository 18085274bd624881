"""Recorded runs of tau2-bench give the numbers that somebody else counted in them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

import evalkit
from evalkit.convert.importer import Options
from evalkit.convert.importing import import_run
from evalkit.convert.source import Source
from evalkit.convert.tau2 import IMPORTER
from evalkit.errors import UsageError
from evalkit.trajectory.step import Act, Event, Prompt, Think

FILES = {
    "claude-sonnet-4-5_airline": "claude-sonnet-4-5_airline.json.gz",
    "qwen2.5-7b_airline_errors": "qwen2.5-7b_airline_errors.json.gz",
    "gpt-4.1-mini_telecom_baseline": "gpt-4.1-mini_telecom_baseline.json",
    "gpt-4.1-mini_telecom_adversarial": "gpt-4.1-mini_telecom_adversarial.json",
}


@pytest.fixture(scope="module", params=FILES)
def recorded(request, shared_data: Path, tmp_path_factory: pytest.TempPathFactory):
    """One file: its name, its trials with their steps, and what `expected.json` says of it."""
    values = json.loads((shared_data / "expected.json").read_text("utf-8"))["values"]
    prefix = f"tau2_bench/{request.param}/"
    known = {
        key.removeprefix(prefix): told["value"] for key, told in values.items() if key.startswith(prefix)
    }
    out = tmp_path_factory.mktemp("tau2") / "run"
    done = import_run("tau2", [shared_data / "tau2_bench" / FILES[request.param]], out, Options())
    assert done.incomplete == []
    return request.param, list(evalkit.load(out).iter_trials()), known


@pytest.fixture(scope="module")
def trials_of(shared_data: Path, tmp_path_factory: pytest.TempPathFactory):
    def read(name: str):
        out = tmp_path_factory.mktemp("one") / "run"
        done = import_run("tau2", [shared_data / "tau2_bench" / FILES[name]], out, Options())
        return list(evalkit.load(out).iter_trials()), done.files[0].notes

    return read


def acts(steps):
    return [step for step in steps if isinstance(step, Act)]


def thinks(steps):
    return [step for step in steps if isinstance(step, Think)]


def details(steps):
    return [json.loads(step.detail) for step in steps if isinstance(step, Event)]


def test_results_are_as_counted(recorded):
    _, trials, known = recorded
    rows = [trial for trial, _ in trials]
    assert [len(rows), len({row.task_id for row in rows})] == known["simulations_tasks"]
    passed = sum(row.status == "passed" for row in rows)
    assert (passed, sum(row.reward == 1 for row in rows)) == (known["reward_1"], known["reward_1"])
    assert 100 * passed / len(rows) == pytest.approx(known["pass_1_percent"], abs=1e-6)
    assert all(row.status != "unscored" for row in rows)
    assert Counter(str((row.checks or {}).get("db")) for row in rows) == known["db_match"]
    actions = [met for row in rows for name, met in (row.checks or {}).items() if name.startswith("action:")]
    assert [sum(actions), len(actions)] == known["action_checks_matched"]
    assert sum(row.agent_s for row in rows) == pytest.approx(known["sum_duration_s"], abs=1e-3)


def test_why_it_stopped_is_as_counted(recorded):
    _, trials, known = recorded
    words = Counter(t.error_type or {"submitted": "user_stop"}[t.stop_reason] for t, _ in trials)
    assert words == known["termination"]


def test_calls_are_the_agents_own(recorded):
    _, trials, known = recorded
    users = [told for _, steps in trials for told in details(steps) if "tool" in told]
    own = [act for _, steps in trials for act in acts(steps)]
    counted = {"assistant": len(own), "user": len(users)}
    assert {who: number for who, number in counted.items() if number} == known["tool_calls_by_requestor"]
    assert sum(trial.tool_calls for trial, _ in trials) == len(own)
    errors = sum(act.error_kind is not None for act in own) + sum(told["error"] for told in users)
    assert errors == known["tool_errors"]
    assert all("result" in told for told in users)
    assert known["duplicate_call_ids_inside_a_simulation"] == 0
    assert all(act.observation is not None and act.think_step is not None for act in own)


def test_generations_and_their_tokens_are_as_counted(recorded):
    _, trials, known = recorded
    own = [think for _, steps in trials for think in thinks(steps)]
    greetings = [told for _, steps in trials for told in details(steps) if told.get("by") == "harness"]
    assert len(greetings) == known["assistant_messages_without_usage"]
    assert len(own) + len(greetings) == known["assistant_messages"]
    read = sum((t.input_tokens or 0) + (t.cache_read_tokens or 0) + (t.cache_write_tokens or 0) for t in own)
    assert read == known["assistant_tokens"]["prompt_tokens"]
    assert sum(t.output_tokens or 0 for t in own) == known["assistant_tokens"]["completion_tokens"]
    rows = [trial for trial, _ in trials]
    assert sum(row.output_tokens for row in rows) == known["assistant_tokens"]["completion_tokens"]
    silent = {(t.trial_id, act.think_step) for t, steps in trials for act in acts(steps)}
    empty = [
        t
        for trial, steps in trials
        for t in thinks(steps)
        if not t.text and (trial.trial_id, t.step) not in silent
    ]
    assert len(empty) == known["empty_assistant_messages"]


def test_thinking_is_as_counted(recorded):
    _, trials, known = recorded
    thoughtful = [think for _, steps in trials for think in thinks(steps) if think.reasoning]
    assert len(thoughtful) == known["assistant_messages_with_thinking"]
    blocks = [block for think in thoughtful for block in json.loads(think.blocks) if "reasoning" in block]
    assert sum(len(block["reasoning"]) for block in blocks) == known["thinking_chars"]
    assert all(block["signature"] for block in blocks)
    assert {think.reasoning_tokens for think in thoughtful} <= {None}


def test_costs_are_as_counted_and_zero_is_unknown(recorded):
    name, trials, known = recorded
    spent = [json.loads(trial.raw_usage) for trial, _ in trials]
    for who in ("agent", "user"):
        mean = sum(own[f"{who}_cost"] or 0 for own in spent) / len(spent)
        assert mean == pytest.approx(known[f"mean_{who}_cost"], abs=1e-7)
    costs = [trial.cost_usd for trial, _ in trials]
    if name == "qwen2.5-7b_airline_errors":  # a local model, which the harness has no price for
        assert set(costs) == {None}
    elif name == "gpt-4.1-mini_telecom_adversarial":  # the sum is null, but each message has its cost
        assert costs == [pytest.approx(0.0120964)]
    else:
        assert sum(costs) / len(costs) == pytest.approx(known["mean_agent_cost"], abs=1e-7)


def test_the_published_claim_is_that_of_the_run(shared_data, trials_of):
    claim = json.loads(
        (shared_data / "tau2_bench" / "submissions" / "claude-sonnet-4-5_aide-platform.json").read_text()
    )["results"]["airline"]
    trials, notes = trials_of("claude-sonnet-4-5_airline")
    rows = [trial for trial, _ in trials]
    assert 100 * sum(row.status == "passed" for row in rows) / len(rows) == pytest.approx(claim["pass_1"])
    assert sum(row.cost_usd for row in rows) / len(rows) == pytest.approx(claim["cost"], abs=1e-7)
    assert {(row.agent, row.suite) for row in rows} == {("tau2/claude-sonnet-4-5", "tau2-airline")}
    assert {row.model_served for row in rows} == {"claude-sonnet-4-5-20250929"}
    assert {(row.temperature, row.reasoning_visibility) for row in rows} == {(0.0, "full")}
    assert not notes.warnings


def test_an_empty_answer_is_the_agents_failure(trials_of):
    trials, _ = trials_of("qwen2.5-7b_airline_errors")
    broken = [trial for trial, _ in trials if trial.stop_reason == "error"]
    assert len(broken) == 10
    assert {(t.status, t.reward, t.checks, t.error_origin) for t in broken} == {
        ("failed", 0.0, None, "model")
    }
    assert (
        "Termination reason: agent_error"
        in next(t for t in broken if t.error_type == "agent_error").error_message
    )


def test_what_misled_the_agent_is_a_prompt(trials_of):
    ((_, steps),), _ = trials_of("gpt-4.1-mini_telecom_adversarial")
    assert any("Oh wait, I think I read that wrong" in s.text for s in steps if isinstance(s, Prompt))


def test_submissions_are_left_alone(shared_data, tmp_path):
    folder = shared_data / "tau2_bench"
    for file in folder.rglob("*.json*"):
        assert IMPORTER.recognises(Source(file)) == (file.parent == folder)
    with pytest.raises(UsageError, match="holds no simulations"):
        file = next((folder / "submissions").glob("*.json"))
        import_run("tau2", [file], tmp_path / "run", Options())
