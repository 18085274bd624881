"""Results of tau2-bench: one JSON object that holds all simulations.

    {"timestamp": "...", "info": {
        "num_trials": 4, "max_steps": 200, "seed": 300,
        "agent_info": {"implementation": "llm_agent", "llm": "gpt-5.2", "llm_args": {"reasoning_effort": "high"}},
        "user_info": {"implementation": "user_simulator", "llm": "gpt-4.1", "llm_args": {"temperature": 0.0}},
        "environment_info": {"domain_name": "airline", "policy": "..."}},
     "tasks": [{"id": "0"}],
     "simulations": [{"id": "...", "task_id": "0", "trial": 0, "seed": 1, "start_time": "...", "end_time": "...",
        "duration": 42.2, "termination_reason": "user_stop", "agent_cost": 0.11, "user_cost": 0.01,
        "reward_info": {"reward": 1.0, "db_check": {"db_match": true}, "action_checks": [], "env_assertions": [],
                        "communicate_checks": [], "nl_assertions": [], "reward_breakdown": {"DB": 1.0}},
        "messages": [{"role": "assistant", "content": null, "timestamp": "...", "cost": 0.02,
                      "tool_calls": [{"id": "a", "name": "...", "arguments": {}, "requestor": "assistant"}],
                      "usage": {"prompt_tokens": 5730, "completion_tokens": 157},
                      "raw_data": {"model": "...", "stop_reason": "...", "usage": {}, "thinking_blocks": []}},
                     {"role": "tool", "id": "a", "requestor": "assistant", "content": "...", "error": false}]}]}

In the form of a folder, which is that of voice, `results.json` has a `simulation_index` instead, and each simulation is
a file `simulations/ID.json` beside it. A conversation in full duplex has `ticks` instead of messages, each with a piece
of what agent and user say at the same time: what one says until the other takes over is one message of his. How often
the model was called for that, and how long it took, is not known there, nor are tokens unless a tick tells them.

The simulations are read one at a time, and those before a cut are kept. A trial `n` is the epoch `n + 1`. Calls and
results of the user's (`requestor: user`) are interventions and no acts of the agent's; so is the greeting that opens a
conversation without a model. `prompt_tokens` include the cache; the raw response tells how much that is, and is
believed where it comes to the same sum. A cost of 0 is an unknown cost; where the messages' costs are known, they are
added up, and another `agent_cost` is a warning. A generation took the time since the message before. `duration` is the
whole conversation's, with the user's turns in it. Times without a zone are taken as UTC. `agent_error` and
`too_many_errors` are the agent's failures, as the harness grades them. `infrastructure_error` and
`context_window_exceeded` are unscored, as they are in no number of tau2-bench's. What the user's model, the environment
or grading that broke down ended is unscored too, though tau2-bench counts it as failed; so is an end that is not known
here, where nothing but a reward of 0 was written down. The leaderboard (`submissions`) holds no simulations.

| what                   | known?                                                                                  |
|------------------------|-----------------------------------------------------------------------------------------|
| task, epoch, seed      | yes                                                                                     |
| model, thinking budget | as asked for, by `llm_args`; the model that answered where the raw response names it    |
| success                | by the reward; `rewards` hold its parts, `checks` all that was looked at                |
| thinking               | where the raw response holds it; how many tokens it was only where the provider says so |
| calls, errors          | yes; what kind of an error it was is not                                                |
| tokens, cost, time     | yes; of messages that the harness refused and asked for anew only their text            |
| why it stopped         | yes                                                                                     |
| system prompt          | no, only the policy in it, which is left out                                            |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evalkit.convert.asked import agent_name, thinking_asked
from evalkit.convert.converted import Converted
from evalkit.convert.importer import Importer, Options
from evalkit.convert.json_items import JsonItems
from evalkit.convert.json_text import kind_of
from evalkit.convert.naming import name_of
from evalkit.convert.notes import Notes, Refused
from evalkit.convert.reported import dollars, finite, moment, seconds, tokens
from evalkit.convert.source import Source
from evalkit.convert.tau2_folder import simulations_beside
from evalkit.convert.tau2_grades import died, outcome
from evalkit.convert.tau2_messages import steps_of
from evalkit.models.wire.json_values import as_object, canonical, is_list, is_object, text_in
from evalkit.trajectory.step import Step, Think

_INFO = (b'"agent_info"', b'"user_info"', b'"environment_info"')
_RUNS = (b'"simulations"', b'"termination_reason"', b'"messages"')
_SPENT = ("agent_cost", "user_cost", "agent_usage")
"""`agent_usage` is of voice: what the provider says of the whole session."""
_MOST_SEED = 2**63


class _Tau2:
    name = "tau2"

    def expects(self, name: str) -> bool:
        del name
        return False

    def recognises(self, source: Source) -> bool:
        head = source.head.removeprefix(b"\xef\xbb\xbf").lstrip()
        return head.startswith(b"{") and any(all(key in head for key in keys) for keys in (_INFO, _RUNS))

    def convert(self, source: Source, notes: Notes, options: Options) -> Iterator[Converted]:
        aside = Notes()
        header = JsonItems(source, aside).header("simulations", "tasks")
        run = _Run.of(as_object(header.get("info")), notes)
        number = 0
        for number, simulation in enumerate(JsonItems(source, notes).items("simulations"), 1):
            yield from _checked(simulation, str(number), run, notes, options)
        for name, simulation in simulations_beside(source, header, notes) if not number else ():
            number += 1
            yield from _checked(simulation, name, run, notes, options)
        if not number and not notes.losses:
            if "termination_reason" in header:
                raise Refused("one simulation; import the results.json of its run, in the folder above")
            raise Refused("holds no simulations")
        if not notes.losses:
            for loss in aside.losses:
                notes.lose(f"after the simulations: {loss}")


def _checked(simulation: object, name: str, run: _Run, notes: Notes, options: Options) -> Iterator[Converted]:
    """The trial of what stands in the place of a simulation. Without a conversation it is none, and a loss, unless it
    died of what may have come before there was any.
    """
    if not is_object(simulation):
        notes.lose(f"simulation {name}: holds {kind_of(simulation)}, not an object")
    elif is_list(simulation.get("messages")) or is_list(simulation.get("ticks")) or died(simulation):
        yield _trial(simulation, name, run, notes, options)
    else:
        notes.lose(f"simulation {name}: has no list of messages, and no ticks")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """What is the same for all simulations of a file."""

    domain: str | None
    loop: str
    model: str | None
    thinking: str | None
    temperature: float | None
    settings: dict[str, Any]

    @staticmethod
    def of(info: Mapping[str, object], notes: Notes) -> _Run:
        agent, user = as_object(info.get("agent_info")), as_object(info.get("user_info"))
        voice = as_object(info.get("audio_native_config"))
        arguments = as_object(agent.get("llm_args")) or {
            name: voice[name] for name in ("reasoning_effort",) if voice.get(name)
        }
        loop = text_in(agent.get("implementation"))
        model = text_in(agent.get("llm")) or text_in(voice.get("model"))
        if model is None:
            notes.warn("the file does not tell the model; say it with --agent")
        return _Run(
            domain=text_in(as_object(info.get("environment_info")).get("domain_name")),
            loop="tau2" if loop in {None, "llm_agent"} else f"tau2-{loop}",
            model=model,
            thinking=thinking_asked(arguments),
            temperature=finite(arguments.get("temperature"), notes, "a temperature"),
            settings={
                "model": model,
                "implementation": loop,
                "llm_args": arguments,
                "user_model": text_in(user.get("llm")),
                "user_llm_args": as_object(user.get("llm_args")),
                **{name: info.get(name) for name in ("max_steps", "max_errors", "git_commit")},
                **({"audio_native_config": voice} if voice else {}),
            },
        )


def _trial(
    simulation: Mapping[str, object], name: str, run: _Run, notes: Notes, options: Options
) -> Converted:
    trial = tokens(simulation.get("trial"), notes, "a trial's number")
    steps = steps_of(simulation, notes)
    own = text_in(simulation.get("id"))
    spent = {key: simulation[key] for key in _SPENT if key in simulation}
    return Converted(
        suite=options.suite or (f"tau2-{run.domain}" if run.domain else "tau2"),
        task_id=name_of(simulation.get("task_id")) or "unnamed",
        epoch=None if trial is None else trial + 1,
        agent=options.agent or agent_name(run.loop, run.model, run.thinking),
        identity=own and f"{own}:{trial}",
        steps=steps,
        columns={
            **outcome(simulation, notes, options),
            "agent_loop": run.loop,
            "model": run.model,
            "thinking": run.thinking,
            "temperature": run.temperature,
            "seed": _seed(simulation.get("seed")),
            "started_at": moment(simulation.get("start_time"), notes),
            "finished_at": moment(simulation.get("end_time"), notes),
            "agent_s": seconds(simulation.get("duration"), notes),
            "cost_usd": _cost(simulation, steps, notes),
            "raw_usage": canonical(spent) or None if spent else None,
        },
        settings=run.settings,
        where=f"simulation {(own or name)[:200]}",
    )


def _cost(simulation: Mapping[str, object], steps: tuple[Step, ...], notes: Notes) -> float | None:
    """The stated cost where no message tells one, or not every message does and it is more than those; else None, and
    the messages' costs are added up.
    """
    stated = dollars(simulation.get("agent_cost"), notes)
    costs = [step.cost_usd for step in steps if isinstance(step, Think)]
    known = [cost for cost in costs if cost is not None]
    if stated and known and len(known) == len(costs) and abs(sum(known) - stated) > 1e-6 * stated:
        notes.warn(f"agent_cost is {stated:.6g}, but the messages cost {sum(known):.6g}, which counts")
    if known and (len(known) == len(costs) or not stated or stated <= sum(known) * (1 + 1e-6)):
        return None
    return stated or None


def _seed(value: object) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _MOST_SEED:
        return value
    return None


IMPORTER: Importer = _Tau2()
