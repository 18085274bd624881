"""Job folders of Harbor: trials with rewards, exceptions and trajectories."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evalkit.convert.atif import IMPORTER
from evalkit.convert.importer import Options
from evalkit.convert.importing import Imported, import_run
from evalkit.convert.notes import Refused
from evalkit.convert.source import Source
from evalkit.trajectory.reader import load
from evalkit.trajectory.step import Event, Step
from evalkit.trajectory.trial import Trial

Whole = list[tuple[Trial, tuple[Step, ...]]]


def result(name: str, **fields: Any) -> dict[str, Any]:
    """A trial's result as Harbor 0.26 writes it."""
    return {
        "id": f"0000-{name}",
        "task_name": "hello-world",
        "trial_name": name,
        "trial_uri": f"file:///jobs/{name}",
        "task_id": {"path": "tasks/hello-world"},
        "source": "terminal-bench",
        "task_checksum": "c0ffee",
        "config": {
            "agent": {
                "name": "terminus-2",
                "kwargs": {"reasoning_effort": "low"},
                "env": {"OPENAI_API_KEY": "sk-1"},
            },
            "environment": {"type": "docker"},
        },
        "agent_info": {
            "name": "terminus-2",
            "version": "2.0.0",
            "model_info": {"name": "gpt-4o", "provider": "openai"},
        },
        "agent_result": {"n_input_tokens": 100, "n_cache_tokens": 40, "n_output_tokens": 10, "cost_usd": 0.5},
        "verifier_result": {"rewards": {"reward": 1.0}},
        "exception_info": None,
        "started_at": "2026-01-01T00:00:00Z",
        "finished_at": "2026-01-01T00:01:00Z",
        "environment_setup": {"started_at": "2026-01-01T00:00:00Z", "finished_at": "2026-01-01T00:00:05Z"},
        "agent_setup": {"started_at": "2026-01-01T00:00:05Z", "finished_at": "2026-01-01T00:00:07Z"},
        "agent_execution": {"started_at": "2026-01-01T00:00:07Z", "finished_at": "2026-01-01T00:00:47Z"},
        "verifier": {"started_at": "2026-01-01T00:00:47Z", "finished_at": "2026-01-01T00:01:00Z"},
        **fields,
    }


def trajectory(prompt: int = 100, completion: int = 10, **root: Any) -> dict[str, Any]:
    metrics = {"prompt_tokens": prompt, "completion_tokens": completion, "cached_tokens": 40, "cost_usd": 0.5}
    return {
        "schema_version": "ATIF-v1.6",
        "session_id": "s",
        "agent": {"name": "terminus-2", "version": "2.0.0", "model_name": "gpt-4o"},
        "steps": [
            {"step_id": 1, "source": "user", "message": "Say hello."},
            {"step_id": 2, "source": "agent", "message": "hello", "metrics": metrics},
        ],
        **root,
    }


def write(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def make_trial(job: Path, name: str, steps: object = None, **fields: Any) -> Path:
    """A trial's folder; `steps` is its trajectory, None for none."""
    folder = job / name
    write(folder / "result.json", result(name, **fields))
    write(folder / "config.json", {"trial_name": name, "task": {"path": "tasks/hello-world"}})
    if steps is not None:
        write(folder / "agent" / "trajectory.json", steps)
    return folder


def take(*paths: Path, out: Path) -> tuple[Imported, Whole, Counter[str]]:
    done = import_run("atif", paths, out / "run", Options())
    remarks = sum((report.notes.warnings for report in done.files), Counter[str]())
    return done, list(load(done.path).iter_trials()), remarks


def only(job: Path, out: Path) -> tuple[Trial, tuple[Step, ...], Counter[str]]:
    _, trials, remarks = take(job, out=out)
    [(trial, steps)] = trials
    return trial, steps, remarks


@pytest.fixture
def job(tmp_path: Path) -> Path:
    return tmp_path / "jobs" / "first"


def test_a_trial_has_what_its_result_and_its_trajectory_say(job: Path, tmp_path: Path) -> None:
    make_trial(job, "hello-world__abc", trajectory())
    trial, steps, remarks = only(job, tmp_path)
    assert (trial.suite, trial.task_id, trial.epoch) == ("terminal-bench", "hello-world", 1)
    assert trial.agent == "terminus-2/openai/gpt-4o@effort:low"
    assert (trial.agent_loop, trial.model, trial.thinking) == ("terminus-2", "openai/gpt-4o", "effort:low")
    assert (trial.status, trial.reward, trial.rewards) == ("passed", 1.0, {"reward": 1.0})
    assert (trial.input_tokens, trial.cache_read_tokens, trial.output_tokens) == (60, 40, 10)
    assert trial.cost_usd == 0.5
    assert (trial.start_s, trial.setup_s, trial.agent_s, trial.grade_s) == (5.0, 2.0, 40.0, 13.0)
    assert (trial.sandbox, trial.task_digest) == ("docker", "c0ffee")
    assert trial.error_type is None
    assert len(steps) == 2
    assert not remarks


def test_the_settings_of_the_agent_hold_no_secret(job: Path, tmp_path: Path) -> None:
    make_trial(job, "a", trajectory())
    done, _, _ = take(job, out=tmp_path)
    assert "sk-1" not in (done.path / "run.json").read_text(encoding="utf-8")


def test_a_trial_without_a_trajectory_has_no_steps_and_the_tokens_that_were_reported(
    job: Path, tmp_path: Path
) -> None:
    make_trial(job, "a")
    trial, steps, _ = only(job, tmp_path)
    assert steps == ()
    assert (trial.input_tokens, trial.cache_read_tokens, trial.output_tokens) == (60, 40, 10)
    assert (trial.cost_usd, trial.model_calls, trial.status) == (0.5, None, "passed")
    assert json.loads(trial.raw_usage or "")["agent_result"][0]["n_input_tokens"] == 100


def test_unknown_tokens_stay_unknown_and_zero_stays_zero(job: Path, tmp_path: Path) -> None:
    make_trial(job, "a", agent_result=None)
    make_trial(job, "b", agent_result={"n_input_tokens": 0, "n_output_tokens": 0, "cost_usd": 0.0})
    make_trial(job, "c", agent_result={"n_input_tokens": None, "n_output_tokens": 5})
    _, trials, _ = take(job, out=tmp_path)
    told = {(trial.input_tokens, trial.output_tokens, trial.cost_usd) for trial, _ in trials}
    assert told == {(None, None, None), (0, 0, 0.0), (None, 5, None)}


def test_repeats_of_a_task_are_its_epochs(job: Path, tmp_path: Path) -> None:
    make_trial(job, "a", trajectory())
    make_trial(job, "b", trajectory(), verifier_result={"rewards": {"reward": 0.0}})
    _, trials, _ = take(job, out=tmp_path)
    assert {(trial.epoch, trial.status) for trial, _ in trials} == {(1, "passed"), (2, "failed")}


def exception(kind: str) -> dict[str, Any]:
    return {
        "exception_type": kind,
        "exception_message": "it\nbroke",
        "exception_traceback": "...",
        "occurred_at": "x",
    }


@pytest.mark.parametrize(
    ("kind", "status", "stopped", "origin"),
    [
        ("AgentTimeoutError", "passed", "time_limit", None),
        ("ContextWindowExceededError", "passed", "context_limit", None),
        ("AgentSafetyRefusalError", "passed", "refused", None),
        ("NonZeroAgentExitCodeError", "passed", "error", None),
        ("EnvironmentStartTimeoutError", "unscored", "error", "sandbox"),
        ("AgentSetupTimeoutError", "unscored", "error", "harness"),
        ("VerifierTimeoutError", "unscored", "error", "grader"),
        ("RewardFileNotFoundError", "unscored", "error", "grader"),
        ("ApiRateLimitError", "unscored", "error", "model"),
        ("InternalServerError", "unscored", "error", "model"),
        ("CancelledError", "unscored", "cancelled", "harness"),
    ],
)
def test_an_exception_leaves_a_verified_reward_only_where_it_was_the_agents_own(
    kind: str, status: str, stopped: str, origin: str | None, job: Path, tmp_path: Path
) -> None:
    make_trial(job, "a", trajectory(), exception_info=exception(kind))
    trial, steps, _ = only(job, tmp_path)
    assert (trial.status, trial.stop_reason, trial.error_origin) == (status, stopped, origin)
    assert (trial.error_type, trial.error_message, trial.rewards) == (kind, "it broke", {"reward": 1.0})
    assert len(steps) == 2


def test_a_timeout_without_a_reward_is_unscored(job: Path, tmp_path: Path) -> None:
    make_trial(job, "a", trajectory(), exception_info=exception("AgentTimeoutError"), verifier_result=None)
    trial, _, _ = only(job, tmp_path)
    assert (trial.status, trial.stop_reason, trial.error_type) == (
        "unscored",
        "time_limit",
        "AgentTimeoutError",
    )


@pytest.mark.parametrize(
    ("rewards", "status", "reward"),
    [
        ({"reward": 0.5}, "failed", 0.5),
        ({"accuracy": 1}, "passed", 1.0),
        ({"reward": 1, "style": 0}, "passed", 1.0),
        ({"accuracy": 1, "style": 1}, "unscored", None),
        ({"reward": "x"}, "unscored", None),
        ({}, "unscored", None),
        (None, "unscored", None),
    ],
)
def test_the_reward_decides(
    rewards: object, status: str, reward: float | None, job: Path, tmp_path: Path
) -> None:
    make_trial(job, "a", trajectory(), verifier_result={"rewards": rewards})
    trial, _, _ = only(job, tmp_path)
    assert (trial.status, trial.reward) == (status, reward)


@pytest.mark.parametrize(("name", "text"), [("reward.txt", "1.0\n"), ("reward.json", '{"reward": 1}')])
def test_the_verifiers_file_counts_where_the_result_holds_no_reward(
    name: str, text: str, job: Path, tmp_path: Path
) -> None:
    folder = make_trial(job, "a", trajectory(), verifier_result=None)
    write(folder / "verifier" / name, text)
    trial, _, _ = only(job, tmp_path)
    assert (trial.status, trial.reward) == ("passed", 1.0)


def test_differences_between_what_files_report_are_remarked_on(job: Path, tmp_path: Path) -> None:
    folder = make_trial(job, "a", trajectory(prompt=90))
    write(folder / "verifier" / "reward.txt", "0")
    trial, _, remarks = only(job, tmp_path)
    assert trial.input_tokens == 50
    assert set(remarks) == {
        "the agent reports 100 prompt tokens, and the steps add up to 90",
        "result.json says reward 1, and the verifier's file 0",
    }


def test_a_jobs_own_sums_are_compared_with_its_trials(job: Path, tmp_path: Path) -> None:
    make_trial(job, "a", trajectory())
    stats = {"n_completed_trials": 1, "n_input_tokens": 100, "n_output_tokens": 99, "cost_usd": 0.5}
    write(job / "result.json", {"id": "j", "n_total_trials": 1, "stats": stats})
    done, trials, remarks = take(job, out=tmp_path)
    assert len(trials) == 1
    assert set(remarks) == {"the job says 99 output tokens, and its trials add up to 10"}
    assert not done.incomplete
    shutil.rmtree(done.path)
    stats["n_completed_trials"] = 3
    write(job / "result.json", {"id": "j", "n_total_trials": 3, "stats": stats})
    _, _, remarks = take(job, out=tmp_path)
    assert set(remarks) == {"the job says that 3 trials are done, and the results of 1 are here"}


def test_a_copy_of_a_job_inside_a_job_is_left_out(job: Path, tmp_path: Path) -> None:
    make_trial(job, "a", trajectory())
    shutil.copytree(job, tmp_path / "copy")
    shutil.move(tmp_path / "copy", job / "backup" / "first")
    done, trials, _ = take(job, out=tmp_path)
    assert len(trials) == 1
    assert done.adding.copies == 1


def test_a_trajectory_that_is_named_brings_the_result_of_its_trial(job: Path, tmp_path: Path) -> None:
    folder = make_trial(job, "a", trajectory())
    trial, _, _ = only(folder / "agent" / "trajectory.json", tmp_path)
    assert (trial.status, trial.task_id) == ("passed", "hello-world")


def test_a_continued_trajectory_in_a_trial_is_read_with_it(job: Path, tmp_path: Path) -> None:
    folder = make_trial(job, "a", trajectory(continued_trajectory_ref="trajectory.cont-1.json"))
    write(folder / "agent" / "trajectory.cont-1.json", trajectory(prompt=50))
    trial, steps, _ = only(job, tmp_path)
    assert trial.input_tokens == 60 + 10
    assert [type(step).__name__ for step in steps] == ["Prompt", "Think", "Event", "Prompt", "Think"]


def test_the_steps_of_a_task_of_several_are_one_trial(job: Path, tmp_path: Path) -> None:
    part = {"agent_result": {"n_input_tokens": 100, "n_output_tokens": 10}}
    parts = [{"step_name": "one", **part}, {"step_name": "two", **part}, {"step_name": "../x", **part}]
    folder = make_trial(job, "a", step_results=parts, agent_result=None)
    for name in ("one", "two"):
        write(folder / "steps" / name / "agent" / "trajectory.json", trajectory())
    trial, steps, _ = only(job, tmp_path)
    assert (trial.input_tokens, trial.model_calls) == (120, 2)
    marks = [json.loads(step.detail or "") for step in steps if isinstance(step, Event)]
    assert marks == [{"step": "one"}, {"step": "two"}]


def test_a_bad_trajectory_is_a_loss_and_the_trial_is_kept(job: Path, tmp_path: Path) -> None:
    make_trial(job, "a", "{")
    make_trial(job, "b", trajectory())
    done, trials, _ = take(job, out=tmp_path)
    assert len(trials) == 2
    [report] = done.incomplete
    [loss] = report.notes.losses
    assert loss.startswith("trajectory.json of the trial a: not JSON")


def test_a_bad_result_stops_no_other_trial(job: Path, tmp_path: Path) -> None:
    make_trial(job, "a", trajectory())
    whole = write(job / "b" / "result.json", result("b"))
    whole.write_text(whole.read_text()[:-20])
    done, trials, _ = take(job, out=tmp_path)
    assert len(trials) == 1
    [report] = done.incomplete
    assert (report.refused or "").startswith("not JSON")


def test_other_files_of_this_name_are_left_alone(tmp_path: Path) -> None:
    for text in ('{"result": 1}', '{"trial_name": "x"}', "", "[]"):
        path = write(tmp_path / "result.json", text)
        try:
            assert not IMPORTER.recognises(Source(path))
        except Refused:
            continue


@pytest.mark.parametrize("field", sorted(result("x")))
def test_no_field_is_trusted_to_have_its_type(field: str, job: Path, tmp_path: Path) -> None:
    values: tuple[Any, ...] = (None, 3, "x", [], [1], {"a": {}}, True, 10**3000)
    for number, value in enumerate(values):
        make_trial(job, f"trial-{number}", trajectory(completion=number), **{field: value})
    done, trials, _ = take(job, out=tmp_path)
    assert len(trials) + done.adding.copies == len(values)
    assert not done.incomplete
    assert all(trial.agent and len(steps) == 2 for trial, steps in trials)
