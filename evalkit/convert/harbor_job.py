"""What does a trial folder of Harbor say beside the trajectory?

    jobs/JOB/result.json                         the job: counts and sums
    jobs/JOB/TRIAL/result.json                   task_name, trial_name, source, agent_info{name, version, model_info},
                                                 agent_result{n_input_tokens, n_cache_tokens, n_output_tokens,
                                                 cost_usd},
                                                 verifier_result{rewards}, exception_info, times of every phase
    jobs/JOB/TRIAL/agent/trajectory.json         (in a task of several steps: TRIAL/steps/STEP/agent/trajectory.json)
    jobs/JOB/TRIAL/verifier/reward.txt           or reward.json; read where result.json holds no reward

A verified reward counts where nothing went wrong, or where it was the agent itself that ran out of time, context or
patience. After any other exception the trial is unscored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalkit.convert.importer import Options
from evalkit.convert.json_text import JsonReader
from evalkit.convert.notes import Notes, Refused
from evalkit.convert.outcome import by_reward
from evalkit.convert.reported import between, dollars, finite, moment, tokens
from evalkit.convert.source import Source
from evalkit.errors import Origin
from evalkit.models.reconcile import reconcile
from evalkit.models.usage import Usage
from evalkit.models.wire.json_values import as_object, is_object, objects_in, text_in
from evalkit.trajectory.trial import StopReason

RESULT = "result.json"
_MOST_REWARDS = 1000
_LINE = 500
_AGENTS_OWN: Mapping[str, StopReason] = {
    "AgentTimeoutError": "time_limit",
    "ContextWindowExceededError": "context_limit",
    "ContextLengthExceededError": "context_limit",
    "OutputTokenExceededError": "token_limit",
    "OutputLengthExceededError": "token_limit",
    "AgentSafetyRefusalError": "refused",
    "ContentPolicyViolationError": "refused",
    "NonZeroAgentExitCodeError": "error",
}
"""Exceptions after which Harbor too takes the reward for valid, and why the agent stopped."""
_GRADERS = ("Verifier", "RewardFile", "AddTestsDir", "DownloadVerifierDir")
_SANDBOXES = ("Environment", "Sandbox", "Healthcheck", "MemoryLimit", "SSHAccess", "GKE", "Docker")
_HARNESSES = ("AgentSetup", "Regrade", "MissingExtra", "RuntimeRequest", "Cancelled")


def is_trial_result(source: Source) -> bool:
    """Whether a file is a trial's result, by its name and its head."""
    head = source.head
    return (
        source.name == RESULT
        and b'"trial_name"' in head
        and b'"task_name"' in head
        and any(field in head for field in (b'"task_checksum"', b'"trial_uri"', b'"agent_info"'))
        and not is_job_result(source)
    )


def is_job_result(source: Source) -> bool:
    """Whether a file is a job's result."""
    return source.name == RESULT and b'"n_total_trials"' in source.head and b'"stats"' in source.head


def trial_folder(trajectory: Path) -> Path | None:
    """The trial's folder that a trajectory is in; None where it is in none."""
    if trajectory.parent.name != "agent":
        return None
    folder = trajectory.parent.parent
    candidates = [folder, folder.parent.parent] if folder.parent.name == "steps" else [folder]
    for candidate in candidates:
        try:
            if is_trial_result(Source(candidate / RESULT)):
                return candidate
        except Refused:
            continue
    return None


def trajectories(folder: Path, result: Mapping[str, object]) -> list[tuple[str, Path]]:
    """The trial's trajectories that are there, in order, each with the name of its step in a task of several."""
    names = [text_in(step.get("step_name")) for step in objects_in(result.get("step_results"))]
    places = [("", folder / "agent")]
    places += [
        (name, folder / "steps" / name / "agent")
        for name in dict.fromkeys(names)
        if name and name not in {".", ".."} and "/" not in name and "\0" not in name
    ]
    found: list[tuple[str, Path]] = []
    for name, place in places:
        files = (place / "trajectory.json", place / "trajectory.json.gz")
        file = next((file for file in files if _is_file(file)), None)
        if file is not None:
            found.append((name, file))
    return found


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a trial's result says, as columns of `Trial`."""

    columns: dict[str, Any]
    usage: Usage
    """Of the whole trial, as the agent reported it."""


def outcome(folder: Path, result: Mapping[str, object], notes: Notes, options: Options) -> Outcome:
    """Status, rewards, error and times of a trial, and what it used."""
    rewards = _rewards(folder, result, notes)
    failure = as_object(result.get("exception_info"))
    steps = objects_in(result.get("step_results"))
    if not failure:
        failures = (as_object(step.get("exception_info")) for step in steps)
        failure = next(filter(None, failures), failure)
    return Outcome(
        {
            **_status(rewards, failure, notes, options),
            **_times(result, notes),
            "rewards": rewards or None,
            "task_digest": text_in(result.get("task_checksum")),
            "sandbox": text_in(_in(result, "config", "environment").get("type")),
        },
        _usage(result, notes),
    )


def agent_results(result: Mapping[str, object]) -> list[Mapping[str, object]]:
    """What the agent reported, for the trial or for each of its steps."""
    own = result.get("agent_result")
    if is_object(own):
        return [own]
    parts = (step.get("agent_result") for step in objects_in(result.get("step_results")))
    return [part for part in parts if is_object(part)]


def _usage(result: Mapping[str, object], notes: Notes) -> Usage:
    """Harbor counts cached tokens into the input. A sum is unknown where one of its parts is."""
    parts = agent_results(result)
    counts = [
        _sum([tokens(part.get(name), notes) for part in parts])
        for name in ("n_input_tokens", "n_output_tokens", "n_cache_tokens")
    ]
    spent = [dollars(part.get("cost_usd"), notes) for part in parts]
    known = [value for value in spent if value is not None]
    return reconcile(
        input_tokens=counts[0],
        output_tokens=counts[1],
        cache_read_tokens=counts[2],
        reported_cost_usd=sum(known) if known and len(known) == len(spent) else None,
    )


def _sum(values: list[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


def _rewards(folder: Path, result: Mapping[str, object], notes: Notes) -> dict[str, float]:
    told = as_object(_in(result, "verifier_result").get("rewards"))
    filed = _reward_files(folder, notes)
    rewards = _finite(told, notes)
    if not rewards:
        return filed
    for name, value in filed.items():
        if name in rewards and rewards[name] != value:
            notes.warn(f"result.json says reward {rewards[name]:g}, and the verifier's file {value:g}")
    return rewards


def _reward_files(folder: Path, notes: Notes) -> dict[str, float]:
    for name in ("reward.json", "reward.txt"):
        file = folder / "verifier" / name
        if not _is_file(file):
            continue
        try:
            value = JsonReader(notes).value(Source(file).text(notes).strip())
        except Refused as problem:
            notes.warn(f"verifier/{name} cannot be read: {problem}")
            continue
        return _finite(value if is_object(value) else {"reward": value}, notes)
    return {}


def _finite(told: Mapping[str, object], notes: Notes) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, value in list(told.items())[:_MOST_REWARDS]:
        number = float(value) if isinstance(value, bool) else finite(value, notes, "a reward")
        if number is not None:
            found[name] = number
    return found


def _status(
    rewards: Mapping[str, float], failure: Mapping[str, object], notes: Notes, options: Options
) -> dict[str, Any]:
    kind = text_in(failure.get("exception_type")) or ("an exception" if failure else None)
    message = " ".join((text_in(failure.get("exception_message")) or "").split())[:_LINE]
    error: dict[str, Any] = {}
    if kind is not None:
        stopped = "cancelled" if kind == "CancelledError" else _AGENTS_OWN.get(kind, "error")
        error = {"error_type": kind, "error_message": message or kind, "stop_reason": stopped}
        error["error_origin"] = None if kind in _AGENTS_OWN else _origin(kind)
    if kind is not None and kind not in _AGENTS_OWN:
        return {"status": "unscored", **error}
    reward = (
        rewards.get("reward") if "reward" in rewards or len(rewards) != 1 else next(iter(rewards.values()))
    )
    if reward is None and rewards:
        told = {
            "status": "unscored",
            "error_type": "unjudged",
            "error_message": "there are several rewards, and none of them is named `reward`",
        }
        return {**told, **error}
    return {**by_reward(reward, notes, options), **error}


def _origin(kind: str) -> Origin:
    if kind.startswith(_GRADERS):
        return "grader"
    if kind.startswith(_SANDBOXES):
        return "sandbox"
    return "harness" if kind.startswith(_HARNESSES) else "model"


def _times(result: Mapping[str, object], notes: Notes) -> dict[str, Any]:
    columns: dict[str, Any] = {
        name: moment(result.get(name), notes) for name in ("started_at", "finished_at")
    }
    for column, phase in (
        ("start_s", "environment_setup"),
        ("setup_s", "agent_setup"),
        ("agent_s", "agent_execution"),
        ("grade_s", "verifier"),
    ):
        told = as_object(result.get(phase))
        start, end = (moment(told.get(name), notes) for name in ("started_at", "finished_at"))
        columns[column] = between(start, end, notes)
    return columns


def _in(value: Mapping[str, object], *names: str) -> Mapping[str, object]:
    for name in names:
        value = as_object(value.get(name))
    return value


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False
