"""Results of tau-bench: one JSON list of episodes.

    [{"task_id": 0, "trial": 0, "reward": 0.0,
      "info": {"task": {"user_id": "...", "instruction": "...", "actions": [{"name": "...", "kwargs": {}}],
                        "outputs": []},
               "user_cost": 0.0035,
               "reward_info": {"reward": 0.0, "info": {"r_actions": 0.0, "gt_data_hash": "..."}, "actions": []}},
      "traj": [{"role": "system", "content": "# Airline Agent Policy ..."},
               {"role": "user", "content": "..."},
               {"role": "assistant", "content": null, "tool_calls": [{"id": "a", "function": {"name": "...",
                                                                      "arguments": "{}"}}]},
               {"role": "tool", "tool_call_id": "a", "name": "...", "content": "Error: ..."}]}]

The list is read one episode at a time. A trial `n` is the epoch `n + 1`. The user is played by a model; what it says
are prompts, and what it cost is in `raw_usage`. Call ids come again within an episode, so that results go to calls by
their order. A result that begins with `Error` is a call that failed. The loops `act` and `react` have their calls in
the text, after `Action:`, and results in messages that begin with `API output:`. An episode without `reward_info` came
to the limit of steps and has the reward 0: it failed, as the harness counts it. One with `info.error` died of an
exception and is unscored, though the harness counts it as failed.

| what               | known?                                                                              |
|--------------------|-------------------------------------------------------------------------------------|
| task, epoch        | yes; the suite by the policy's heading or the file's name                           |
| model              | only by a file name such as `gpt-4o-airline.json` or the one that tau-bench gives   |
| success            | by the reward, which is 0 or 1; `rewards` hold its two parts, `checks` the outputs  |
| thinking           | where the messages hold it                                                          |
| calls, errors      | yes                                                                                 |
| tokens, cost, time | no; only what the simulated user cost                                               |
| why it stopped     | submitted where a reward was computed, else at the limit of steps                   |
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evalkit.convert.asked import agent_name
from evalkit.convert.chat_steps import add_assistant, add_message
from evalkit.convert.content import text_of
from evalkit.convert.converted import Converted
from evalkit.convert.importer import Importer, Options
from evalkit.convert.json_items import JsonItems
from evalkit.convert.naming import name_of
from evalkit.convert.notes import Notes, Refused
from evalkit.convert.occurrences import Occurrences
from evalkit.convert.outcome import by_reward
from evalkit.convert.reported import finite, tokens
from evalkit.convert.source import Source
from evalkit.convert.steps import Steps
from evalkit.models.wire.json_values import (
    as_list,
    as_object,
    canonical,
    decode,
    is_list,
    is_object,
    objects_in,
    text_in,
)
from evalkit.trajectory.manifest import Json

_BEGIN = re.compile(rb"\s*\[\s*\{")
_KEYS = (b'"task_id"', b'"reward"', b'"traj"')
_OWN_NAME = re.compile(
    r"(?P<loop>tool-calling|act|react|few-shot)-(?P<model>.+)-(?P<temperature>\d+(?:\.\d+)?)"
    r"_range_-?\d+--?\d+_user-(?P<user>.+)-[a-z]+_\d+"
)
_SHORT_NAME = re.compile(r"(?P<model>.+)-(?P<domain>airline|retail)")
_POLICY = re.compile(r"#\s*(airline|retail) agent policy", re.IGNORECASE)
_OUTPUT = "API output: "
"""Begins a result where calls are in the text."""
_NEARLY = 1e-6
"""How far a reward may be from 1 and be 1, as tau-bench has it."""


class _TauBench:
    name = "tau-bench"

    def expects(self, name: str) -> bool:
        del name
        return False

    def recognises(self, source: Source) -> bool:
        head = source.head.removeprefix(b"\xef\xbb\xbf")
        return _BEGIN.match(head) is not None and all(key in head for key in _KEYS)

    def convert(self, source: Source, notes: Notes, options: Options) -> Iterator[Converted]:
        agent = _agent(source.name.removesuffix(".json"))
        seen = Occurrences()
        number = 0
        for number, episode in enumerate(JsonItems(source, notes).items(), 1):
            if is_object(episode) and is_list(episode.get("traj")):
                identity = seen.identity(episode) if episode.get("trial") is None else None
                told = _trial(episode, agent, notes, options)
                yield Converted(**told, where=f"episode {number}", identity=identity)
            else:
                notes.lose(f"episode {number}: has no list of messages")
        if not number:
            raise Refused("holds no episodes")
        if options.agent is None and agent.model is None:
            notes.warn("neither the file nor its name tells the model; say it with --agent")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Agent:
    """What a file's name says."""

    loop: str = "tau-bench"
    model: str | None = None
    domain: str | None = None
    temperature: float | None = None
    user: str | None = None


def _agent(name: str) -> _Agent:
    if found := _OWN_NAME.fullmatch(name):
        return _Agent(
            loop=f"tau-bench-{found['loop']}",
            model=found["model"],
            temperature=finite(float(found["temperature"]), Notes(), "a temperature"),
            user=found["user"],
        )
    if found := _SHORT_NAME.fullmatch(name):
        return _Agent(model=found["model"], domain=found["domain"])
    return _Agent()


def _trial(episode: Mapping[str, object], agent: _Agent, notes: Notes, options: Options) -> dict[str, Any]:
    messages, info = as_list(episode["traj"]), as_object(episode.get("info"))
    trial = tokens(episode.get("trial"), notes, "a trial's number")
    domain = _domain(messages) or agent.domain
    task = name_of(episode.get("task_id"))
    if task is None:
        notes.warn("episodes that name no task are one task")
    spent = {name: info[name] for name in ("user_cost",) if name in info}
    return {
        "suite": options.suite or (f"tau-bench-{domain}" if domain else "tau-bench"),
        "task_id": task or "unnamed",
        "epoch": None if trial is None else trial + 1,
        "agent": options.agent or agent_name(agent.loop, agent.model, None),
        "steps": _steps(messages, notes).done(),
        "columns": {
            **_outcome(episode, info, notes, options),
            "agent_loop": agent.loop,
            "model": agent.model,
            "temperature": agent.temperature,
            "raw_usage": canonical(spent) or None if spent else None,
        },
        "settings": {"model": agent.model, "temperature": agent.temperature, "user_model": agent.user},
        "task": _task(as_object(info.get("task"))),
    }


def _steps(messages: list[object], notes: Notes) -> Steps:
    steps = Steps(notes)
    spoken = [message for message in messages if is_object(message)]
    notes.warn("messages that are no objects are left out", len(messages) - len(spoken))
    in_text = not any(message.get("tool_calls") for message in spoken)
    for message in spoken:
        role, said = message.get("role"), text_of(message.get("content"))
        if role == "tool":
            _result(steps, text_in(message.get("tool_call_id")), said, text_in(message.get("name")))
        elif role == "user" and steps.unanswered and said.startswith(_OUTPUT):
            _result(steps, None, said.removeprefix(_OUTPUT), None)
        elif role == "assistant" and in_text:
            think = add_assistant(steps, message, None)
            if action := _action(said):
                steps.call(think, text_in(action.get("name")), action.get("arguments"))
        else:
            add_message(steps, message)
    return steps


def _result(steps: Steps, call: str | None, said: str, tool: str | None) -> None:
    steps.result(call, said, tool=tool, error_kind="unknown" if said.startswith("Error") else None)


def _action(said: str) -> Mapping[str, object] | None:
    """The call in a text, as the loops `act` and `react` ask for one; None where the text is said to the user."""
    _, marked, written = said.rpartition("Action:")
    action = as_object(decode(written.strip()) if marked else None)
    name = text_in(action.get("name"))
    return action if name and name != "respond" else None


def _outcome(
    episode: Mapping[str, object], info: Mapping[str, object], notes: Notes, options: Options
) -> dict[str, Any]:
    if error := text_in(info.get("error")):
        notes.warn("episodes that an exception ended are unscored; tau-bench counts them as failed")
        kind = (text_in(info.get("traceback")) or "").strip().rpartition("\n")[2].partition(":")[0]
        return {
            "status": "unscored",
            "stop_reason": "error",
            "error_origin": "harness",
            "error_type": kind[:200] or "exception",
            "error_message": " ".join(error.split())[:1000],
        }
    reward = episode.get("reward")
    graded = by_reward(reward, notes, options)
    if graded.get("reward") is not None and abs(graded["reward"] - 1) <= _NEARLY:
        graded = {**by_reward(1.0, notes, options), "reward": graded["reward"]}
    told = as_object(info.get("reward_info"))
    if told:
        stop = "submitted"
        _compare(graded.get("reward"), told.get("reward"), notes)
    else:
        stop = "step_limit" if "reward_info" in info else None
        notes.warn("episodes without reward_info count by the reward that they have")
    parts = as_object(told.get("info"))
    checks = {f"output:{name}": met for name, met in as_object(parts.get("outputs")).items() if _is_bool(met)}
    return {**graded, "stop_reason": stop, "rewards": _parts(parts, notes) or None, "checks": checks or None}


def _compare(reward: float | None, computed: object, notes: Notes) -> None:
    own = finite(computed, notes, "a reward") if not isinstance(computed, bool) else float(computed)
    if reward is not None and own is not None and abs(reward - own) > _NEARLY:
        notes.warn(f"an episode's reward is {reward:g}, that of its reward_info {own:g}; the first counts")


def _parts(parts: Mapping[str, object], notes: Notes) -> dict[str, float]:
    """The reward's parts: whether the data base is as it should be, whether the outputs were said."""
    found: dict[str, float] = {}
    for name in ("r_actions", "r_outputs"):
        value = parts.get(name)
        number = float(value) if isinstance(value, bool) else finite(value, notes, "a reward")
        if number is not None:
            found[name] = number
    return found


def _is_bool(value: object) -> bool:
    return isinstance(value, bool)


def _domain(messages: list[object]) -> str | None:
    """Which policy the agent was given."""
    first = next(iter(objects_in(messages[:1])), as_object(None))
    found = _POLICY.search(text_of(first.get("content"))[:1000]) if first.get("role") == "system" else None
    return found[1].lower() if found else None


def _task(told: Mapping[str, object]) -> dict[str, Json]:
    instruction = text_in(told.get("instruction"))
    return {"instruction": instruction} if instruction else {}


IMPORTER: Importer = _TauBench()
