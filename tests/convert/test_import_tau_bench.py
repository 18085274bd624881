"""Recorded runs of tau-bench give the published numbers, and odd episodes are imported for what they are."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

import evalkit
from evalkit.convert.importer import Options
from evalkit.convert.importing import Imported, import_run
from evalkit.convert.source import Source
from evalkit.convert.tau_bench import IMPORTER
from evalkit.measures.success import pass_at_k, pass_hat_k
from evalkit.trajectory.step import Act, Prompt, Think

FILE = "tau_bench/gpt-4o-airline.json"
POLICY = {"role": "system", "content": "# Retail agent policy\n\nBe kind."}


@pytest.fixture(scope="module")
def done(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Imported:
    return import_run("tau-bench", [shared_data / FILE], tmp_path_factory.mktemp("tau") / "run", Options())


@pytest.fixture(scope="module")
def trials(done):
    return list(evalkit.load(done.path).iter_trials())


@pytest.fixture(scope="module")
def expected(shared_data: Path) -> dict[str, Any]:
    values = json.loads((shared_data / "expected.json").read_text("utf-8"))["values"]
    prefix = "tau_bench/gpt-4o-airline/"
    return {key.removeprefix(prefix): told["value"] for key, told in values.items() if key.startswith(prefix)}


@pytest.fixture
def episodes(tmp_path):
    """Import these episodes from a file of this name: the trials with their steps, and what came of the file."""

    def run(*told, name="gpt-4o-retail.json", text=None, **options):
        file = tmp_path / name
        file.write_text(json.dumps(told) if text is None else text)
        done = import_run("tau-bench", [file], tmp_path / f"run-{name}", Options(**options))
        return list(evalkit.load(done.path).iter_trials()), done.files[0].notes

    return run


def episode(*messages, trial=0, reward=1.0, task=0, **keys):
    told = {"reward": reward, "info": {"r_actions": reward}}
    info = {"task": {"instruction": "You want it."}, "user_cost": 0.25, "reward_info": told}
    return {
        "task_id": task,
        "reward": reward,
        "info": info,
        "traj": [POLICY, *messages],
        "trial": trial,
        **keys,
    }


def called(identity, name, arguments="{}"):
    function = {"name": name, "arguments": arguments}
    return {"role": "assistant", "content": None, "tool_calls": [{"id": identity, "function": function}]}


def test_all_that_is_counted_of_the_recorded_run(trials, expected):
    rows = [trial for trial, _ in trials]
    tasks, epochs = {row.task_id for row in rows}, {row.epoch for row in rows}
    assert [len(rows), len(tasks), len(epochs)] == expected["episodes_tasks_trials"]
    tries = defaultdict(list)
    for row in rows:
        tries[row.task_id].append(row.status == "passed")
    for name, measure in (("pass_hat_k", pass_hat_k), ("pass_at_k", pass_at_k)):
        assert [measure(tries, k) for k in range(1, 5)] == pytest.approx(expected[name], abs=1e-6)
    by_epoch = [[r.status == "passed" for r in rows if r.epoch == epoch] for epoch in range(1, 5)]
    assert [sum(own) / len(own) for own in by_epoch] == pytest.approx(expected["success_by_trial"])
    successes = Counter(str(sum(own)) for own in tries.values())
    assert successes == expected["tasks_by_number_of_successes"]


def test_every_message_has_its_place(trials, expected):
    steps = [step for _, steps in trials for step in steps]
    roles = Counter(step.role for step in steps if isinstance(step, Prompt))
    acts = [step for step in steps if isinstance(step, Act)]
    assert {
        **roles,
        "assistant": sum(isinstance(step, Think) for step in steps),
        "tool": sum(act.observation is not None for act in acts),
    } == expected["roles"]
    assert len(acts) == expected["tool_calls"]
    assert sum(act.error_kind is not None for act in acts) == expected["tool_results_starting_with_Error"]
    assert all((act.error_kind is not None) == act.observation.startswith("Error") for act in acts)
    assert sum(act.think_step is None for act in acts) == expected["tool_results_without_call"]
    assert sum(act.observation is None for act in acts) == expected["calls_minus_results"]


def test_results_go_to_calls_by_order_where_ids_come_again(shared_data, trials, expected):
    """Of each call the tool, and of its result the text, as they follow one another in the raw file."""
    reused = 0
    found = {(t.task_id, t.epoch): [s for s in steps if isinstance(s, Act)] for t, steps in trials}
    for raw in json.loads((shared_data / FILE).read_text("utf-8")):
        calls = [call for message in raw["traj"] for call in message.get("tool_calls") or []]
        results = [message for message in raw["traj"] if message["role"] == "tool"]
        reused += len(calls) - len({call["id"] for call in calls})
        acts = found[str(raw["task_id"]), raw["trial"] + 1]
        assert [act.tool for act in acts] == [call["function"]["name"] for call in calls]
        assert [act.tool for act in acts] == [result["name"] for result in results]
        assert [act.observation for act in acts] == [result["content"] for result in results]
    assert reused == expected["tool_call_ids_reused_inside_an_episode"]


def test_episodes_without_reward_info_failed_and_are_remarked_on(done, trials, expected):
    ended = [trial for trial, _ in trials if trial.stop_reason == "step_limit"]
    assert sorted([int(t.task_id), t.epoch - 1] for t in ended) == expected["episodes_without_reward_info"]
    assert {(trial.status, trial.reward) for trial in ended} == {("failed", 0.0)}
    assert done.files[0].notes.warnings == {
        "episodes without reward_info count by the reward that they have": 5
    }
    assert done.incomplete == []


def test_what_the_user_cost_is_not_what_the_agent_cost(trials, expected):
    costs = [json.loads(trial.raw_usage)["user_cost"] for trial, _ in trials]
    assert sum(cost or 0 for cost in costs) == pytest.approx(expected["sum_user_cost"], abs=1e-6)
    for trial, steps in trials:
        assert (trial.cost_usd, trial.input_tokens, trial.output_tokens, trial.agent_s) == (None,) * 4
        assert trial.model_calls == sum(isinstance(step, Think) for step in steps)
    assert {(t.agent, t.suite, t.model) for t, _ in trials} == {
        ("tau-bench/gpt-4o", "tau-bench-airline", "gpt-4o")
    }


def test_the_parts_of_the_reward_are_kept(trials):
    kinds = Counter(name for trial, _ in trials for name in trial.rewards or {"none": 0})
    assert kinds == {"r_actions": 182, "r_outputs": 13, "none": 5}
    outputs = [trial.checks for trial, _ in trials if trial.checks]
    assert len(outputs) == 13
    assert {"output:23553": False} in outputs


def test_the_file_of_the_data_is_recognised_and_others_are_not(shared_data, tmp_path):
    assert IMPORTER.recognises(Source(shared_data / FILE))
    for name in ("weird/top_level_list.traj.json", "tau2_bench/gpt-4.1-mini_telecom_baseline.json"):
        assert not IMPORTER.recognises(Source(shared_data / name))


def test_the_model_is_told_by_the_names_that_tau_bench_gives(episodes):
    for name, agent, model, temperature in (
        ("gpt-4o-retail.json", "tau-bench/gpt-4o", "gpt-4o", None),
        (
            "tool-calling-gpt-4o-mini-0.7_range_0--1_user-gpt-4o-llm_0901120000.json",
            "tau-bench-tool-calling/gpt-4o-mini",
            "gpt-4o-mini",
            0.7,
        ),
        ("mine.json", "tau-bench/unknown", None, None),
    ):
        ((trial, _),), notes = episodes(episode(), name=name)
        assert (trial.agent, trial.model, trial.temperature) == (agent, model, temperature)
        assert trial.suite == "tau-bench-retail"  # by the policy
        assert any("--agent" in warning for warning in notes.warnings) == (model is None)


def test_suite_and_agent_can_be_said(episodes):
    ((trial, _),), notes = episodes(episode(), name="x.json", suite="mine", agent="me")
    assert (trial.suite, trial.agent) == ("mine", "me")
    assert not notes.warnings


def test_an_episode_that_an_exception_ended_is_unscored(episodes):
    dead = {
        **episode(reward=0.0),
        "traj": [],
        "info": {
            "error": "rate limited\nagain",
            "traceback": "Traceback ...\nlitellm.RateLimitError: rate limited",
        },
    }
    ((trial, steps),), notes = episodes(dead)
    assert (trial.status, trial.reward, trial.error_origin) == ("unscored", None, "harness")
    assert (trial.error_type, trial.error_message) == ("litellm.RateLimitError", "rate limited again")
    assert steps == ()
    assert any("unscored" in warning for warning in notes.warnings)


def test_null_zero_and_missing_rewards_are_three_things(episodes):
    missing = episode(task=2)
    del missing["reward"]
    found, _ = episodes(episode(task=0, reward=0.0), episode(task=1, reward=None), missing)
    assert [(t.status, t.reward) for t, _ in found] == [
        ("failed", 0.0),
        ("unscored", None),
        ("unscored", None),
    ]


def test_a_reward_that_is_not_that_of_its_reward_info_is_remarked_on(episodes):
    told = episode(reward=0.0)
    told["info"]["reward_info"]["reward"] = 1.0
    ((trial, _),), notes = episodes(told)
    assert trial.status == "failed"
    assert any("reward is 0, that of its reward_info 1" in warning for warning in notes.warnings)


def test_a_reward_that_is_one_but_for_rounding_passes(episodes):
    found, _ = episodes(episode(reward=0.9999999), episode(reward=0.99, task=1))
    assert [trial.status for trial, _ in found] == ["passed", "failed"]


def test_calls_in_the_text_are_calls(episodes):
    action = 'Thought:\nlook\nAction:\n{"name": "find", "arguments": {"id": "7"}}'
    said = 'Thought:\ndone\nAction:\n{"name": "respond", "arguments": {"content": "hello"}}'
    ((trial, steps),), _ = episodes(
        episode(
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": action},
            {"role": "user", "content": "API output: Error: none"},
            {"role": "assistant", "content": said},
            {"role": "user", "content": "API output: is what I say myself"},
        )
    )
    (act,) = [step for step in steps if isinstance(step, Act)]
    assert (act.tool, act.arguments, act.observation) == ("find", '{"id":"7"}', "Error: none")
    assert (act.error_kind, act.think_step, trial.tool_calls) == ("unknown", 2, 1)
    assert [s.text for s in steps if isinstance(s, Prompt)][1:] == ["hi", "API output: is what I say myself"]


def test_orphans_and_unanswered_calls_are_kept(episodes):
    ((trial, steps),), notes = episodes(
        episode(
            {"role": "tool", "tool_call_id": "gone", "name": "lost", "content": "x"},
            called("a", "first", "{cut"),
            called("a", "second"),
            {"role": "tool", "tool_call_id": "a", "name": "first", "content": "one"},
        )
    )
    acts = [step for step in steps if isinstance(step, Act)]
    assert [(a.tool, a.arguments, a.arguments_raw, a.observation, a.think_step) for a in acts] == [
        ("lost", None, None, "x", None),
        ("first", None, "{cut", "one", 2),
        ("second", "{}", None, None, 4),
    ]
    assert trial.tool_calls == 3
    assert "a result of no known call is kept without one" in notes.warnings


def test_equal_episodes_without_a_number_are_epochs_and_with_one_copies(episodes):
    unnumbered = episode(task="a", trial=None)
    found, notes = episodes(unnumbered, unnumbered, episode(task="b"), episode(task="b"))
    assert [(t.task_id, t.epoch) for t, _ in found] == [("a", 1), ("a", 2), ("b", 1)]
    assert notes.warnings["copies of trials that the run has already are left out"] == 1


def test_what_comes_before_a_cut_is_kept(episodes):
    text = json.dumps([episode(task=number) for number in range(3)])
    found, notes = episodes(text=text[:-40])
    assert [trial.task_id for trial, _ in found] == ["0", "1"]
    assert any(loss.startswith("after 2 items: cut off") for loss in notes.losses)


def test_what_is_no_episode_is_named(episodes):
    found, notes = episodes(42, None, {"task_id": 1}, episode(), "x")
    assert len(found) == 1
    assert list(notes.losses) == [f"episode {n}: has no list of messages" for n in (1, 2, 3, 5)]
