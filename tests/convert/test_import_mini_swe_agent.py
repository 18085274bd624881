"""Recorded runs of mini-swe-agent give the numbers that somebody else counted in them."""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import evalkit
from evalkit.convert.importer import Options
from evalkit.convert.importing import Imported, import_run
from evalkit.trajectory.step import Act, Event, Step, Think
from evalkit.trajectory.trial import Trial

FOLDERS = ("deepseek-chat_verified", "deepseek-chat_lite-dev", "deepseek-reasoner_lite-dev")
TEST_PATH = re.compile(r"^\+\+\+ b/(\S*(?:/tests?/|(?:^|/)tests?/|test_)\S*)", re.M)
WITHOUT_TRAJECTORY = "django__django-13220"


@pytest.fixture(scope="module")
def done(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Imported:
    out = tmp_path_factory.mktemp("mini") / "run"
    return import_run("mini-swe-agent", [shared_data / "mini_swe_agent"], out, Options())


@pytest.fixture(scope="module")
def trials(done: Imported) -> dict[tuple[str, str], tuple[Trial, tuple[Step, ...]]]:
    """Trials and their steps by folder and instance."""
    run = evalkit.load(done.path)
    found: dict[tuple[str, str], tuple[Trial, tuple[Step, ...]]] = {}
    for trial, steps in run.iter_trials():
        source = (trial.source_uri or "").partition("#")[0]
        found[Path(source).parent.name, trial.task_id] = trial, steps
    return found


@pytest.fixture(scope="module")
def expected(shared_data: Path) -> dict[str, Any]:
    values = json.loads((shared_data / "expected.json").read_text("utf-8"))["values"]
    prefix = "mini_swe_agent/"
    return {key.removeprefix(prefix): told["value"] for key, told in values.items() if key.startswith(prefix)}


def test_every_file_becomes_a_trial_and_nothing_is_missing(done, trials):
    assert done.incomplete == []
    assert len(trials) == done.adding.trials == 32
    assert done.adding.copies == 0
    assert done.left_alone == 2  # exit_statuses.yaml and the licence


def test_every_number_of_a_trajectory(trials, expected):
    seen = 0
    for (folder, instance), (trial, steps) in trials.items():
        if instance == WITHOUT_TRAJECTORY:
            continue
        told = dict(expected[f"{folder}/{instance}"])
        # The completion beside a message repeats its text, so the same string is in the file twice.
        told["strings_with_replacement_char"] /= 2
        assert row(trial, steps) == told, instance
        seen += 1
    assert seen == 31


def test_totals_of_a_trial_are_those_of_its_steps(trials):
    for (_, instance), (trial, steps) in trials.items():
        thinks = [step for step in steps if isinstance(step, Think)]
        if not thinks:
            assert trial.input_tokens is None, instance
            assert trial.output_tokens is None, instance
            continue
        assert trial.output_tokens == sum(step.output_tokens for step in thinks)
        assert trial.input_tokens == sum(step.input_tokens for step in thinks)
        assert trial.cache_read_tokens == sum(step.cache_read_tokens for step in thinks)
        assert trial.cost_usd == pytest.approx(sum(step.cost_usd for step in thinks))
        assert trial.replaced_chars == sum(step.replaced_chars for step in steps) == 0


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_total_of_a_folder(trials, expected, folder):
    rows = [
        row(*found)
        for (place, instance), found in trials.items()
        if place == folder and instance != WITHOUT_TRAJECTORY
    ]
    told = dict(expected[f"{folder}/total"])
    assert len(rows) == told.pop("trajectories")
    assert Counter(one["exit_status"] for one in rows) == told.pop("exit_status")
    assert round(sum(one["instance_cost"] for one in rows), 6) == told.pop("instance_cost")
    known = [one["reasoning_tokens"] for one in rows if one["reasoning_tokens"] is not None]
    assert (sum(known) if known else None) == told.pop("reasoning_tokens")
    assert {name: sum(one[name] for one in rows) for name in told} == told


def test_every_report_and_regression(trials, expected):
    keys = [key.removesuffix("/report") for key in expected if key.endswith("/report")]
    assert len(keys) == 17
    for key in keys:
        folder, _, instance = key.partition("/")
        trial, _ = trials[folder, instance]
        checks, rewards = trial.checks or {}, trial.rewards or {}
        assert {
            "resolved": trial.status == "passed",
            "patch_applied": rewards["patch_applied"] == 1.0,
            "fail_to_pass": counted(checks, "FAIL_TO_PASS:"),
            "pass_to_pass": counted(checks, "PASS_TO_PASS:"),
        } == expected[f"{key}/report"], key
        assert trial.reward == float(trial.status == "passed")
        assert trial.status in {"passed", "failed"}
        assert counted(checks, "PASS_TO_PASS:")[1] == expected[f"{key}/regressions"], key


def test_a_goal_can_be_reached_by_a_patch_that_breaks_something_else(trials):
    trial, _ = trials["deepseek-chat_verified", "django__django-13660"]
    assert trial.status == "failed"
    assert trial.rewards == {"patch_applied": 1.0, "fail_to_pass": 1.0, "pass_to_pass": pytest.approx(4 / 6)}


def test_a_report_without_a_trajectory_is_a_trial_without_steps(trials):
    trial, steps = trials["deepseek-chat_verified", WITHOUT_TRAJECTORY]
    assert (trial.status, trial.reward, steps) == ("failed", 0.0, ())
    assert trial.agent == "mini-swe-agent/deepseek/deepseek-chat"
    assert (trial.model_calls, trial.output_tokens, trial.cost_usd, trial.answer) == (None, None, None, None)


def test_without_a_report_success_is_unknown(trials):
    ended = {
        instance: (trial.status, trial.error_type, trial.error_origin, trial.stop_reason)
        for (folder, instance), (trial, _) in trials.items()
        if folder == "deepseek-reasoner_lite-dev"
    }
    assert Counter(ended.values()) == {
        ("unscored", "unjudged", None, "submitted"): 5,
        ("unscored", "InternalServerError", "model", "error"): 6,
        ("unscored", "Timeout", "model", "error"): 4,
    }
    trial, _ = trials["deepseek-reasoner_lite-dev", "pylint-dev__astroid-1978"]
    assert (trial.model_calls, trial.output_tokens, trial.cost_usd) == (1, None, 0.0)
    assert "timed out after 600" in (trial.error_message or "")


def test_exit_statuses_are_those_of_the_run(trials, shared_data, expected):
    lines = (
        (shared_data / "mini_swe_agent/deepseek-reasoner_lite-dev/exit_statuses.yaml")
        .read_text("utf-8")
        .splitlines()
    )
    told: dict[str, str] = {}
    status = ""
    for line in lines[1:]:
        if line.endswith(":"):
            status = line.strip(" :")
        else:
            told[line.strip(" -")] = status
    found = {
        instance: row(*both)["exit_status"]
        for (folder, instance), both in trials.items()
        if folder == "deepseek-reasoner_lite-dev"
    }
    key = "deepseek-reasoner_lite-dev/exit_status_agrees_with_exit_statuses.yaml"
    assert (found == told) is expected[key] is True


def test_the_same_instances_with_and_without_thinking(trials, expected):
    told = expected["paired_same_instances"]
    found: dict[str, dict[str, list[Any]]] = {}
    for instance in told:
        rows = [row(*trials[folder, instance]) for folder in FOLDERS[1:]]
        found[instance] = {name: [one[name] for one in rows] for name in told[instance]}
        pair = [trials[folder, instance][0] for folder in FOLDERS[1:]]
        assert pair[0].suite == pair[1].suite
        assert pair[0].agent != pair[1].agent
    assert found == told


def test_agents_models_and_settings(done, trials):
    agents = {agent.id: agent.settings for agent in evalkit.load(done.path).manifest.agents}
    assert set(agents) == {
        "mini-swe-agent/deepseek/deepseek-chat",
        "mini-swe-agent/deepseek/deepseek-reasoner",
    }
    assert all(settings["version"] == "2.2.7" for settings in agents.values())
    for (folder, instance), (trial, steps) in trials.items():
        served = {step.model_served for step in steps if isinstance(step, Think)}
        if served:
            assert served == {folder.partition("_")[0]}, instance
            assert trial.model_served == folder.partition("_")[0]
            assert (trial.temperature, trial.sandbox) == (0.0, "docker")


def test_calls_that_left_no_answer_are_remarked_on(done):
    remarks: Counter[str] = Counter()
    for report in done.files:
        remarks += report.notes.warnings
    assert remarks["model calls that died without an answer are in no sum of tokens or cost"] == 10
    assert remarks["answers that were thrown away for a malformed call are in no sum of tokens or cost"] == 1


def row(trial: Trial, steps: tuple[Step, ...]) -> dict[str, Any]:
    """What `expected.json` says of a trajectory, out of the run that was made of it."""
    thinks = [step for step in steps if isinstance(step, Think)]
    acts = [step for step in steps if isinstance(step, Act)]
    events = [step for step in steps if isinstance(step, Event)]
    called = [act for act in acts if act.think_step is not None]
    stats = json.loads(trial.raw_usage or "{}")
    patch = trial.answer or ""
    reasoning = [step.reasoning_tokens for step in thinks if step.reasoning_tokens is not None]
    texts = [text for step in steps for text in texts_of(step)]
    seconds = (
        None
        if trial.started_at is None or trial.finished_at is None
        else round((trial.finished_at - trial.started_at) / timedelta(seconds=1), 1)
    )
    assert trial.tool_calls == len(acts)
    return {
        "exit_status": json.loads(events[-1].detail or "{}")["exit_status"],
        "api_calls": trial.model_calls,
        "instance_cost": round(stats["instance_cost"], 8),
        "sum_of_message_cost": round(sum(step.cost_usd or 0 for step in thinks), 8),
        "assistant_messages": len(thinks),
        "tool_calls": len(called),
        "tool_results": sum(act.observation is not None for act in acts),
        "calls_without_result": sum(act.observation is None for act in called),
        "results_without_call": len(acts) - len(called),
        "prompt_tokens": sum((step.input_tokens or 0) + (step.cache_read_tokens or 0) for step in thinks),
        "cached_prompt_tokens": sum(step.cache_read_tokens or 0 for step in thinks),
        "completion_tokens": sum(step.output_tokens or 0 for step in thinks),
        "reasoning_tokens": sum(reasoning) if reasoning else None,
        "returncode_zero": sum(act.exit_code == 0 for act in acts),
        "returncode_positive": sum(act.exit_code is not None and act.exit_code > 0 for act in acts),
        "returncode_minus_1": sum(act.error_kind == "timeout" and act.exit_code is None for act in acts),
        "assistant_with_reasoning_text": sum(step.reasoning is not None for step in thinks),
        "assistant_with_empty_reasoning": sum(
            step.reasoning is None and step.reasoning_visibility != "unknown" for step in thinks
        ),
        "tool_call_format_errors": sum("FormatError" in (event.detail or "") for event in events),
        "seconds": seconds,
        "patch_chars": len(patch),
        "patch_test_files": sorted(set(TEST_PATH.findall(patch))),
        "strings_with_nul": sum("\0" in text for text in texts),
        "strings_with_replacement_char": sum("\ufffd" in text for text in texts),
    }


def texts_of(step: Step) -> list[str]:
    names = ("text", "reasoning", "observation", "stdout", "arguments")
    return [text for name in names if isinstance(text := getattr(step, name, None), str)]


def counted(checks: dict[str, bool], prefix: str) -> list[int]:
    found = [passed for name, passed in checks.items() if name.startswith(prefix)]
    return [sum(found), len(found) - sum(found)]
