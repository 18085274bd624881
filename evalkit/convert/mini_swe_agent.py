"""Trajectories of mini-swe-agent, one file `INSTANCE.traj.json` for each attempt, and SWE-bench's reports beside them.

    {"info": {"model_stats": {"instance_cost": 0.0293, "api_calls": 55}, "mini_version": "2.2.7",
              "config": {"agent": {"step_limit": 250, "cost_limit": 3.0},
                         "model": {"model_name": "deepseek/deepseek-chat", "model_kwargs": {"temperature": 0.0}},
                         "environment": {"image": "...", "timeout": 60}},
              "exit_status": "Submitted", "submission": "diff --git ...", "exception_str": "..."},
     "messages": [
        {"role": "system", "content": "..."}, {"role": "user", "content": "..."},
        {"role": "assistant", "content": "...", "reasoning_content": "...",
         "tool_calls": [{"id": "a", "function": {"name": "bash", "arguments": "{\"command\": \"ls\"}"}}],
         "extra": {"response": {"model": "deepseek-chat", "usage": {}, "choices": []}, "cost": 0.0004,
                   "timestamp": 1776073880.3}},
        {"role": "tool", "tool_call_id": "a", "content": "<returncode>0</returncode> ...",
         "extra": {"raw_output": "...", "returncode": 0, "exception_info": "", "timestamp": 1776073880.5}},
        {"role": "exit", "content": "...", "extra": {"exit_status": "Submitted", "submission": "..."}}],
     "trajectory_format": "mini-swe-agent-1.1", "instance_id": "django__django-14752"}

In the first versions (`mini-swe-agent-1`) a call is a block of bash in the assistant's text, and its result the user's
next message. Messages of OpenAI's Responses API (`"object": "response"`) are read too.

`INSTANCE.report.json`, or `report.json` in the same folder, is the report of SWE-bench's harness. One without a
trajectory is a trial without steps, of the agent that made the trajectories beside it, if they are all by one.

| what                      | known?                                                                          |
|---------------------------|---------------------------------------------------------------------------------|
| success                   | by the report, whatever the exit status says; without one the trial is unscored |
| tests mended and broken   | by the report, as checks `FAIL_TO_PASS:...` and `PASS_TO_PASS:...`              |
| the patch                 | yes, as the answer                                                              |
| suite                     | no: `swe-bench`, unless `--suite` says more                                     |
| thinking, text, calls     | yes                                                                             |
| exit codes, timeouts      | yes; a command that the harness gave up on has no exit code                     |
| tokens, model served      | by each answer's completion; else of the trial, if told                         |
| cost                      | by each answer; else that of the whole trial                                    |
| answers that left nothing | their number only (see below)                                                   |
| time                      | from the first answer on; the first answer's own duration is unknown            |
| why it stopped            | yes, but not always which limit                                                 |

`api_calls` also counts calls that died, and answers that were thrown away for a malformed call. What those cost is
nowhere: they are in `model_calls`, in no sum of tokens or cost, and each file that has some is remarked on. A trial
that has no answer at all has no tokens, not 0.

`exit_statuses.yaml` says nothing that the trajectories do not say, and is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from evalkit.convert.asked import agent_name
from evalkit.convert.converted import Converted
from evalkit.convert.importer import Importer, Options
from evalkit.convert.json_text import JsonReader
from evalkit.convert.mini_generation import Generations, sound_usage
from evalkit.convert.mini_messages import Conversation, Exit, exit_of
from evalkit.convert.mini_outcome import outcome
from evalkit.convert.mini_settings import LOOP, agent_beside, asked_of, settings_of
from evalkit.convert.notes import Notes, Refused
from evalkit.convert.reported import between, dollars, tokens
from evalkit.convert.source import Source
from evalkit.convert.steps import Steps
from evalkit.convert.swe_bench_report import (
    TRAJECTORY,
    is_report_name,
    judgement,
    report_beside,
    reports_in,
    without_trajectory,
)
from evalkit.models.wire.json_values import as_object, canonical, is_list, is_object, objects_in, text_in
from evalkit.models.wire.usage_fields import chat_usage
from evalkit.trajectory.step import Think

SUITE = "swe-bench"
_FORMAT = "mini-swe-agent"
_HEAD = re.compile(rb'"trajectory_format": ?"mini-swe-agent|"instance_cost"(?s:.{0,200})"api_calls"')
_REPORT = re.compile(rb'"patch_successfully_applied"|"FAIL_TO_PASS"')
_CLOSE = 1e-6


class _MiniSweAgent:
    name = _FORMAT

    def expects(self, name: str) -> bool:
        return name.endswith(TRAJECTORY)

    def recognises(self, source: Source) -> bool:
        if self.expects(source.name):
            return True
        if is_report_name(source.name):
            return _REPORT.search(source.head) is not None
        return source.name.endswith(".json") and _HEAD.search(source.head) is not None

    def convert(self, source: Source, notes: Notes, options: Options) -> Iterator[Converted]:
        try:
            whole = JsonReader(notes).object(source.text(notes), duplicates=True)
            reports = reports_in(whole)
            if not reports:
                yield _trial(whole, source, notes, options)
        except Refused as problem:
            instance = _stem(source)
            report = report_beside(source.path, instance, notes) if self.expects(source.name) else None
            if report is None:
                raise
            notes.lose(f"the trajectory: {problem}")
            reports = {}
            yield _judged(instance, report, source, notes, options)
        for instance, report in without_trajectory(source.path, reports):
            yield _judged(instance, report, source, notes, options)


def _trial(whole: Mapping[str, object], source: Source, notes: Notes, options: Options) -> Converted:
    messages, info = whole.get("messages"), as_object(whole.get("info"))
    format_name = text_in(whole.get("trajectory_format"))
    if format_name is not None and not format_name.startswith(_FORMAT):
        raise Refused(f"a trajectory of the format {format_name[:60]!r}, not of {_FORMAT}")
    if not is_list(messages) or (format_name is None and "info" not in whole):
        raise Refused(
            f"no trajectory of {_FORMAT}: it has no {'info' if is_list(messages) else 'list of messages'}"
        )
    if not is_object(whole.get("info")):
        notes.warn("there is no header, so how it ended, its configuration and its cost are unknown")
    config = as_object(info.get("config"))
    ended = exit_of(info, messages, notes)
    told = _conversation(messages, config, ended, notes)
    instance = text_in(whole.get("instance_id")) or _stem(source)
    asked = asked_of(config, notes)
    spent = _spent(told, info, config, notes)
    steps = told.steps.done()
    served = [step.model_served for step in steps if isinstance(step, Think) and step.model_served]
    model = asked["model"] or (served[-1] if served else None)
    columns = {**asked, "model": model, **spent, **outcome(told, ended, config, spent, notes)}
    if (report := report_beside(source.path, instance, notes)) is not None:
        columns |= _decided(report, columns, notes)
    environment = as_object(config.get("environment"))
    return Converted(
        suite=options.suite or SUITE,
        task_id=instance,
        agent=options.agent or agent_name(LOOP, model, asked["thinking"]),
        steps=steps,
        columns=columns,
        settings=settings_of(info),
        task={"image": image} if (image := text_in(environment.get("image"))) else {},
    )


def _conversation(
    messages: list[object], config: Mapping[str, object], ended: Exit, notes: Notes
) -> Conversation:
    steps = Steps(notes)
    in_text = not any(message.get("tool_calls") or message.get("output") for message in objects_in(messages))
    ignored = as_object(config.get("model")).get("cost_tracking") == "ignore_errors"
    generations = Generations(steps, notes, in_text=in_text, zero_is_unknown=ignored)
    told = Conversation(steps, notes, generations, ended)
    told.add(messages)
    return told


def _spent(
    told: Conversation, info: Mapping[str, object], config: Mapping[str, object], notes: Notes
) -> dict[str, Any]:
    """Columns of `Trial` about calls, cost and time. Aggregates are compared with what the steps add up to."""
    stats = as_object(info.get("model_stats"))
    calls = tokens(stats.get("api_calls"), notes, "api_calls")
    lost = 0 if calls is None else calls - told.thinks
    if lost < 0:
        notes.warn(f"api_calls says {calls}, but there are {told.thinks} answers, which count")
    if told.lost:
        notes.warn(
            "answers that were thrown away for a malformed call are in no sum of tokens or cost", told.lost
        )
    notes.warn("model calls that died without an answer are in no sum of tokens or cost", lost - told.lost)
    summed = told.cost
    reported = dollars(stats.get("instance_cost"), notes, "instance_cost")
    if as_object(config.get("model")).get("cost_tracking") == "ignore_errors" and not reported:
        reported = None
    if summed is not None and reported is not None and abs(summed - reported) > _CLOSE:
        notes.warn(f"instance_cost says {reported:.6g}, but the answers cost {summed:.6g}, which counts")
    first = next((step for step in told.steps.done() if isinstance(step, Think)), None)
    started, finished = min(told.times, default=None), max(told.times, default=None)
    return {
        "model_calls": max(calls or 0, told.thinks + told.lost) if told.thinks or calls is not None else None,
        "cost_usd": reported if summed is None else None,
        "started_at": started,
        "finished_at": finished,
        "agent_s": between(started, finished, notes) if first is not None and first.started_at else None,
        **_whole_usage(told, stats, notes),
        "raw_usage": canonical(stats) or None if stats else None,
    }


def _whole_usage(told: Conversation, stats: Mapping[str, object], notes: Notes) -> dict[str, Any]:
    """Tokens of the whole trial, as some write them down where no answer has its own."""
    thinks = [step for step in told.steps.done() if isinstance(step, Think)]
    if not thinks or any(step.output_tokens is not None or step.input_tokens is not None for step in thinks):
        return {}
    usage = chat_usage(sound_usage(stats, notes), thinking_shown=any(step.reasoning for step in thinks))
    return {
        "input_tokens": usage.input_tokens,
        "cache_read_tokens": usage.cache_read_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
        "output_tokens": usage.output_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "reasoning_source": None if usage.reasoning_tokens is None else "api",
    }


def _decided(report: Mapping[str, object], columns: Mapping[str, Any], notes: Notes) -> dict[str, Any]:
    """What a report says, which counts more than how the run ended."""
    told = judgement(report, notes)
    if told["status"] == "unscored":
        return told if columns["error_origin"] is None else {**told, "error_type": columns["error_type"]}
    if columns["error_origin"] is not None:
        notes.warn("a trial that died of its infrastructure counts as its report says")
    unjudged = columns["error_type"] == "unjudged"
    return {**told, **({"error_type": None, "error_message": None} if unjudged else {})}


def _judged(
    instance: str, report: Mapping[str, object], source: Source, notes: Notes, options: Options
) -> Converted:
    """A trial of which there is nothing but its report."""
    notes.warn("a report without a trajectory is a trial without steps")
    return Converted(
        suite=options.suite or SUITE,
        task_id=instance,
        agent=options.agent or agent_beside(source.path, notes),
        columns={"agent_loop": LOOP, **judgement(report, notes)},
        where=instance,
    )


def _stem(source: Source) -> str:
    return source.name.removesuffix(TRAJECTORY).removesuffix(".json") or source.name


IMPORTER: Importer = _MiniSweAgent()
