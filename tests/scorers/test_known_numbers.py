"""Real trajectories, whose numbers are known from elsewhere, through the bundled scorers."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from evalkit import Trial
from evalkit.measures.failure_rule import failure_rule
from evalkit.scoring.curves import curve
from evalkit.scoring.point import Point
from evalkit.trajectory.canonical import canonical_json
from evalkit.trajectory.step import Act, Step, Think
from evalkit.trajectory.trial import Trial as TrialRow

MINI = ("deepseek-chat_verified", "deepseek-chat_lite-dev", "deepseek-reasoner_lite-dev")


@pytest.fixture(scope="module")
def known(shared_data) -> dict[str, Any]:
    values = json.loads((shared_data / "expected.json").read_text())["values"]
    return {key: entry["value"] for key, entry in values.items()}


def read(path: Path) -> Any:
    return json.loads(gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes())


def conversation(messages: list[dict[str, Any]], *, result: Any) -> list[Step]:
    """Generations and calls; each call with its result, by order, as ids come twice in the wild."""
    steps: list[Step] = []
    waiting: list[int] = []
    for message in messages:
        if message["role"] == "assistant":
            think = len(steps)
            usage = (
                ((message.get("extra") or {}).get("response") or {}).get("usage")
                or message.get("usage")
                or {}
            )
            steps.append(Think(step=think, output_tokens=usage.get("completion_tokens"), **when(message)))
            waiting = []
            for index, call in enumerate(message.get("tool_calls") or []):
                told = call.get("function") or call
                arguments = told["arguments"]
                arguments = json.loads(arguments) if isinstance(arguments, str) else arguments
                waiting.append(len(steps))
                steps.append(
                    Act(
                        step=len(steps),
                        think_step=think,
                        call_index=index,
                        tool=told["name"],
                        arguments=canonical_json(arguments),
                    )
                )
        elif message["role"] == "tool" and waiting:
            place = waiting.pop(0)
            act = steps[place]
            assert isinstance(act, Act)
            told = {"think_step": act.think_step, "call_index": act.call_index, "tool": act.tool}
            steps[place] = Act(
                step=place,
                arguments=act.arguments,
                observation=message["content"],
                **told,
                **when(message),
                **result(message),
            )
    return steps


def when(message: dict[str, Any]) -> dict[str, Any]:
    at = (message.get("extra") or {}).get("timestamp")
    return {"started_at": datetime.fromtimestamp(at, UTC)} if isinstance(at, float) else {}


def returned(message: dict[str, Any]) -> dict[str, Any]:
    """mini-swe-agent: an exit code, or -1 where the command was stopped."""
    code = message["extra"]["returncode"]
    return {"error_kind": "timeout"} if code == -1 else {"exit_code": code}


def said(message: dict[str, Any]) -> dict[str, Any]:
    """tau-bench: a result that starts with `Error`; tau2-bench says `error`."""
    is_error = message.get("error", message["content"].startswith("Error"))
    return {"error_kind": "unknown"} if is_error else {}


def mini(folder: Path) -> dict[str, Trial]:
    trials: dict[str, Trial] = {}
    for path in sorted(folder.glob("*.traj.json")):
        told = read(path)
        name = path.name.removesuffix(".traj.json")
        stopped = "submitted" if told["info"]["exit_status"] == "Submitted" else "error"
        steps = conversation(told["messages"], result=returned)
        trials[name] = Trial(row=of(name, 0, passed=False, stop_reason=stopped), steps=tuple(steps))
    return trials


def of(task: str, epoch: int, *, passed: bool, **fields: Any) -> TrialRow:
    status = "passed" if passed else "failed"
    names = {"run_id": "r", "trial_id": f"{task}-{epoch}", "suite": "s", "task_id": task, "agent": "a"}
    return TrialRow(**names, epoch=epoch, status=status, **fields)


@pytest.fixture(scope="module", params=MINI)
def folder(request, shared_data) -> tuple[str, dict[str, Trial]]:
    """The trajectories of one folder of mini-swe-agent, by name."""
    return request.param, mini(shared_data / "mini_swe_agent" / request.param)


@pytest.fixture(scope="module")
def airline(shared_data) -> list[Trial]:
    """gpt-4o on tau-bench airline, 50 tasks four times."""
    return [
        Trial(
            row=of(str(told["task_id"]), told["trial"], passed=told["reward"] >= 1),
            steps=tuple(conversation(told["traj"], result=said)),
        )
        for told in read(shared_data / "tau_bench" / "gpt-4o-airline.json")
    ]


def test_calls_and_exit_codes_are_those_that_were_counted(folder, known, values):
    name, trials = folder
    for task, trial in trials.items():
        counted = known[f"mini_swe_agent/{name}/{task}"]
        found = values("tool_use", trial)
        answers = sum(act.exit_code == 1 and failure_rule(act) is None for act in trial.acts)
        assert found["tool_calls"] == counted["tool_calls"]
        assert (
            found["tool_errors"] == counted["returncode_positive"] + counted["returncode_minus_1"] - answers
        )
        assert found["invalid_calls"] == 0  # a malformed call left a message to the agent, and no call


def test_an_answer_is_what_a_search_that_found_nothing_gives(folder):
    _, trials = folder
    answers = [
        act.observation
        for trial in trials.values()
        for act in trial.acts
        if act.exit_code == 1 and failure_rule(act) is None and "grep" in (act.arguments or "")
    ]
    assert answers
    assert {answer.split("<output>")[1].split("</output>")[0].strip() for answer in answers} == {""}


def test_recovery_is_what_the_rule_of_this_version_makes_it(folder, values):
    """Worked out from these files; where the rule changes these numbers, it needs a new version."""
    name, trials = folder
    found = [values("recovery", trial) for trial in trials.values()]
    sums = {
        metric: sum(score[metric] for score in found) for metric in ("episodes", "recovered", "abandoned")
    }
    assert (name, *sums.values()) in {
        ("deepseek-chat_verified", 38, 8, 25),
        ("deepseek-chat_lite-dev", 19, 6, 13),
        ("deepseek-reasoner_lite-dev", 22, 5, 17),
    }


def test_tau_bench_airline(airline, known, values, scorer):
    found = [(trial.row.task_id, values("success", trial), values("tool_use", trial)) for trial in airline]
    key = "tau_bench/gpt-4o-airline"
    assert sum(tools["tool_calls"] for *_, tools in found) == known[f"{key}/tool_calls"]
    assert (
        sum(tools["tool_errors"] for *_, tools in found) == known[f"{key}/tool_results_starting_with_Error"]
    )
    points = [Point(task, success["success"]) for task, success, _ in found]
    metrics = {metric.name: metric for name in ("success", "consistency") for metric in scorer(name).metrics}
    for metric, expected in (("pass^k", "pass_hat_k"), ("pass@k", "pass_at_k")):
        numbers = curve(metrics[metric], points)
        assert list(numbers) == [metric.replace("k", str(k)) for k in range(1, 5)]
        assert list(numbers.values()) == pytest.approx(known[f"{key}/{expected}"], abs=1e-6)
    tasks = known[f"{key}/tasks_by_number_of_successes"]
    alike = {"0": 1, "1": 1 / 2, "2": 1 / 3, "3": 1 / 2, "4": 1}
    agreement = sum(alike[passed] * tasks[passed] for passed in alike) / 50
    assert curve(metrics["outcome_agreement"], points) == {"outcome_agreement": pytest.approx(agreement)}


@pytest.mark.parametrize(
    "name",
    [
        "claude-sonnet-4-5_airline",
        "qwen2.5-7b_airline_errors",
        "gpt-4.1-mini_telecom_baseline",
        "gpt-4.1-mini_telecom_adversarial",
    ],
)
def test_tau2_bench(name, shared_data, known, values):
    (path,) = (shared_data / "tau2_bench").glob(f"{name}.json*")
    calls = errors = passed = 0.0
    for told in read(path)["simulations"]:
        own = [
            message for message in told["messages"] if message.get("requestor", "assistant") == "assistant"
        ]
        reward = (told["reward_info"] or {}).get("reward", 0)
        trial = Trial(
            row=of(told["task_id"], told["trial"], passed=reward >= 1),
            steps=tuple(conversation(own, result=said)),
        )
        found = values("tool_use", trial)
        calls += found["tool_calls"]
        errors += found["tool_errors"]
        passed += values("success", trial)["success"]
    assert calls == known[f"tau2_bench/{name}/tool_calls_by_requestor"]["assistant"]
    assert errors == known[f"tau2_bench/{name}/tool_errors"]
    assert passed == known[f"tau2_bench/{name}/reward_1"]
