"""What did tau2-bench make of a simulation?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evalkit.convert.importer import Options
from evalkit.convert.notes import Notes
from evalkit.convert.outcome import by_reward
from evalkit.convert.reported import finite
from evalkit.errors import Origin
from evalkit.models.wire.json_values import as_object, is_object, objects_in, text_in
from evalkit.trajectory.trial import StopReason

_STOPS: Mapping[str, StopReason] = {
    "user_stop": "submitted",
    "agent_stop": "submitted",
    "max_steps": "step_limit",
    "timeout": "time_limit",
    "too_many_errors": "error",
    "agent_error": "error",
    "invalid_agent_message": "error",
}
_NOT_EVALUATED: Mapping[str, StopReason] = {
    "infrastructure_error": "error",
    "context_window_exceeded": "context_limit",
}
"""Ends that tau2-bench leaves out of all its numbers, whatever reward stands there."""
_NOT_THE_AGENTS = ("user_error", "invalid_user", "infrastructure", "unexpected", "environment")
"""How the ends begin that are no fault of the agent's."""
_JUDGED = (
    "reward_basis",
    "reward_breakdown",
    "db_check",
    "action_checks",
    "env_assertions",
    "communicate_checks",
    "nl_assertions",
)
"""What a simulation has of which tau2-bench looked at the outcome, and did not only write a reward of 0."""
_NEARLY = 1e-6
"""How far a reward may be from 1 and be 1, as tau2-bench has it."""


def outcome(simulation: Mapping[str, object], notes: Notes, options: Options) -> dict[str, Any]:
    """Columns of `Trial`: status, reward and checks, and why it stopped."""
    ended = (text_in(simulation.get("termination_reason")) or "").lower()
    told = as_object(simulation.get("reward_info"))
    if unscored := _unscored(ended, told, notes):
        return unscored
    graded = by_reward(told.get("reward"), notes, options)
    if graded.get("reward") is not None and abs(graded["reward"] - 1) <= _NEARLY:
        graded = {**by_reward(1.0, notes, options), "reward": graded["reward"]}
    if _STOPS.get(ended) == "error":
        graded |= {"error_origin": "model", "error_type": ended, "error_message": _note(told)}
    return {
        **graded,
        "stop_reason": _STOPS.get(ended),
        "rewards": _rewards(told, notes) or None,
        "checks": dict(_checks(told)) or None,
    }


def died(simulation: Mapping[str, object]) -> bool:
    """Whether it ended by what nobody can be judged by, so that there need not be a conversation."""
    ended = (text_in(simulation.get("termination_reason")) or "").lower()
    return ended in _NOT_EVALUATED or ended.startswith(_NOT_THE_AGENTS)


def _unscored(ended: str, told: Mapping[str, object], notes: Notes) -> dict[str, Any]:
    """Columns of a simulation whose reward is no verdict on the agent; none where it is one."""
    stop: StopReason | None = _STOPS.get(ended)
    origin: Origin | None = "harness"
    broken = text_in(as_object(told.get("info")).get("error"))
    why = f"the simulation ended by {ended[:200]}"
    if ended in _NOT_EVALUATED:
        stop = _NOT_EVALUATED[ended]
        origin = "model" if stop == "context_limit" else "harness"
        notes.warn(f"simulations that ended by {ended} are unscored; tau2-bench leaves them out too")
    elif ended.startswith(_NOT_THE_AGENTS):
        stop = "error"
        notes.warn(f"simulations that ended by {ended} are unscored; tau2-bench counts them as failed")
    elif broken and not any(told.get(name) for name in _JUDGED if name != "reward_basis"):
        ended, origin, why = broken.partition(":")[0], "grader", " ".join(broken.split())[:1000]
        notes.warn("simulations whose grading broke down are unscored; tau2-bench counts them as failed")
    elif ended and ended not in _STOPS:
        notes.warn(f"the end {ended[:60]!r} is not known")
        if told.get("reward") or any(told.get(name) for name in _JUDGED):
            return {}
        origin = None
    else:
        return {}
    return {
        "status": "unscored",
        "stop_reason": stop,
        "error_origin": origin,
        "error_type": ended[:200],
        "error_message": why if origin == "grader" else _note(told) or why,
    }


def _note(told: Mapping[str, object]) -> str | None:
    note = text_in(as_object(told.get("info")).get("note"))
    return " ".join(note.split())[:1000] if note else None


def _rewards(told: Mapping[str, object], notes: Notes) -> dict[str, float]:
    parts = {name: finite(value, notes, "a reward") for name, value in _items(told.get("reward_breakdown"))}
    return {name: value for name, value in parts.items() if value is not None}


def _items(value: object) -> Iterator[tuple[str, object]]:
    yield from as_object(value).items()


def _checks(told: Mapping[str, object]) -> Iterator[tuple[str, bool]]:
    """All that was looked at, also what does not count for the reward."""
    if isinstance(match := as_object(told.get("db_check")).get("db_match"), bool):
        yield "db", match
    for kind, key, met, describe in (
        ("action", "action_checks", "action_match", _action),
        ("env", "env_assertions", "met", _assertion),
        ("communicate", "communicate_checks", "met", _info),
        ("nl", "nl_assertions", "met", _wish),
    ):
        for number, check in enumerate(objects_in(told.get(key))):
            if isinstance(result := check.get(met), bool):
                yield f"{kind}:{number}:{describe(check)}"[:200], result


def _action(check: Mapping[str, object]) -> str:
    return _named(check.get("action"), "name")


def _assertion(check: Mapping[str, object]) -> str:
    return _named(check.get("env_assertion"), "func_name")


def _info(check: Mapping[str, object]) -> str:
    return _named(check, "info")


def _wish(check: Mapping[str, object]) -> str:
    return _named(check, "nl_assertion")


def _named(value: object, key: str) -> str:
    return (text_in(value.get(key)) or "") if is_object(value) else ""
