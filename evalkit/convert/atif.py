"""The Agent Trajectory Interchange Format (ATIF) v1.0 to v1.8, alone or in the job folders of Harbor.

    {"schema_version": "ATIF-v1.7", "session_id": "...", "agent": {"name": "terminus-2", "version": "2.0.0",
     "model_name": "openai/gpt-4o"}, "steps": [
        {"step_id": 1, "source": "user", "message": "...", "timestamp": "2026-01-01T00:00:00Z"},
        {"step_id": 2, "source": "agent", "message": "...", "reasoning_content": "...", "model_name": "gpt-4o",
         "tool_calls": [{"tool_call_id": "a", "function_name": "bash", "arguments": {"command": "ls"}}],
         "observation": {"results": [{"source_call_id": "a", "content": "..."}]},
         "metrics": {"prompt_tokens": 9, "cached_tokens": 4, "completion_tokens": 3, "cost_usd": 0.1}}],
     "final_metrics": {"total_prompt_tokens": 9, ...}, "continued_trajectory_ref": "trajectory.cont-1.json"}

| what                        | known?                                                                    |
|-----------------------------|---------------------------------------------------------------------------|
| task, success, rewards      | from the `result.json` of Harbor's trial; a trajectory alone is unscored  |
| thinking, text, calls       | yes; calls that stand only in the text, where their form is one of three  |
| observations                | yes; where no call was made, as what the agent was told next              |
| errors of calls, exit codes | no, except where `extra` of a result or its step tells them               |
| tokens, cost                | yes, as reported. Prompt tokens include cached ones there, and not here   |
| reasoning tokens            | only where `extra` of the metrics tells them                              |
| time                        | when steps began; of phases in Harbor's trials; not of calls              |
| why it stopped              | only in Harbor's trials that ended by an exception                        |
| sub-agents                  | embedded or in files beside it: part of the trial, behind what called them |

Files that go on with a run (`continued_trajectory_ref`) are the same trial, with an event `compaction` at the seam;
the steps that they copy from before are no steps, and what is new in them is in that event. Totals are added up from
the steps, sub-agents' with them. `final_metrics` count only where a step tells nothing, and only as far as they can be
true: not below what the other steps come to, and where there are sub-agents, only if it is plain whether these are in
them. A difference is remarked on.
A trial of Harbor without a trajectory has no steps; its tokens are those that the agent reported. A job's own result is
only compared with its trials.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from evalkit.convert.asked import agent_name
from evalkit.convert.atif_files import Document, first_file, read_document, whole_run
from evalkit.convert.atif_steps import Told, convert_run
from evalkit.convert.atif_tally import Tally, compare, final_usage, missing_columns
from evalkit.convert.converted import Converted
from evalkit.convert.harbor_job import (
    RESULT,
    agent_results,
    is_job_result,
    is_trial_result,
    outcome,
    trajectories,
    trial_folder,
)
from evalkit.convert.harbor_sums import check_job
from evalkit.convert.importer import Importer, Options
from evalkit.convert.json_text import JsonReader
from evalkit.convert.notes import Notes, Refused
from evalkit.convert.outcome import by_reward
from evalkit.convert.reported import between
from evalkit.convert.source import Source
from evalkit.models.wire.json_values import as_object, objects_in, text_in
from evalkit.trajectory.step import Act, Step, Think
from evalkit.trajectory.step_totals import totals

_VERSION = re.compile(rb'"schema_version"\s*:\s*"ATIF-v')


class _Atif:
    name = "atif"

    def expects(self, name: str) -> bool:
        del name
        return False

    def recognises(self, source: Source) -> bool:
        head = source.head.removeprefix(b"\xef\xbb\xbf").lstrip()
        if not head.startswith(b"{") or not source.name.endswith(".json"):
            return False
        return _VERSION.search(head) is not None or is_trial_result(source) or is_job_result(source)

    def convert(self, source: Source, notes: Notes, options: Options) -> Iterator[Converted]:
        if is_job_result(source):
            check_job(source, notes)
            return
        if is_trial_result(source):
            yield _trial(source.path.parent, notes, options)
            return
        first = first_file(source.path) or source.path
        folder = trial_folder(first)
        if folder is not None or first != source.path:
            if not source.named:
                return  # It is read together with the result or the file that it belongs to.
            if folder is not None:
                yield _trial(folder, notes, options)
                return
        yield _alone(first, notes, options)


def _alone(path: Path, notes: Notes, options: Options) -> Converted:
    """A trajectory of which nothing else is known."""
    run = whole_run(read_document(Source(path), notes), notes)
    told = convert_run(run, notes)
    name, model = _agent_of(run, told)
    thinking = _thinking(told, {})
    return Converted(
        suite=options.suite or "atif",
        task_id=_task_of(path),
        agent=options.agent or agent_name(name or "unknown", model, thinking),
        identity=text_in(run[0].root.get("trajectory_id")),
        steps=told.steps,
        columns={
            **by_reward(None, notes, options),
            **_columns(run, told, notes),
            "agent_loop": name,
            "model": model,
            "thinking": thinking,
        },
        settings=_settings(run),
    )


def _trial(folder: Path, notes: Notes, options: Options) -> Converted:
    """A trial of Harbor, with its trajectory where it has one."""
    result = JsonReader(notes).object(Source(folder / RESULT).text(notes))
    info = as_object(result.get("agent_info"))
    config = as_object(as_object(result.get("config")).get("agent"))
    run, told = _trajectory(folder, result, notes)
    known = outcome(folder, result, notes, options)
    columns = _columns(run, told, notes)
    summed = {**_summed(told.steps), **columns}
    columns.update(missing_columns(summed, known.usage, notes, told.steps, told.inner))
    reports = agent_results(result)
    for report in reports if len(reports) == 1 and told.steps else ():
        names = {
            "n_input_tokens": "prompt_tokens",
            "n_output_tokens": "completion_tokens",
            "cost_usd": "cost_usd",
        }
        said = {f"total_{ours}": report.get(theirs) for theirs, ours in names.items()}
        compare(said, {"all": told.tally}, notes, says="the agent reports")
    own_name, own_model = _agent_of(run, told)
    model_info = as_object(info.get("model_info"))
    parts = (text_in(model_info.get("provider")), text_in(model_info.get("name")))
    model = "/".join(filter(None, parts)) if parts[1] else own_model
    name = text_in(info.get("name")) or own_name
    thinking = _thinking(told, as_object(config.get("kwargs")))
    settings: dict[str, Any] = {"version": text_in(info.get("version")), "config": config}
    return Converted(
        suite=options.suite or text_in(result.get("source")) or "adhoc",
        task_id=text_in(result.get("task_name")) or folder.name,
        agent=options.agent or agent_name(name or "unknown", model, thinking),
        identity=text_in(result.get("id")),
        steps=told.steps,
        columns={
            **columns,
            **{key: value for key, value in known.columns.items() if value is not None},
            "agent_loop": name,
            "model": model,
            "thinking": thinking,
            "raw_usage": _json({"agent_result": [_short(report) for report in reports], **_finals(run)}),
        },
        settings={**_settings(run), **settings},
    )


def _trajectory(folder: Path, result: Mapping[str, object], notes: Notes) -> tuple[list[Document], Told]:
    """All trajectories of a trial as one; none at all where there is none, or none that can be read."""
    runs: list[Document] = []
    told = Told((), Tally(), 0, (), ())
    for step, path in trajectories(folder, result):
        try:
            run = whole_run(read_document(Source(path), notes), notes)
        except Refused as problem:
            notes.lose(f"{path.name} of the trial {folder.name}: {problem}")
            continue
        further = convert_run(run, notes)
        told = told.followed_by(further, _json({"step": step})) if runs or step else further
        runs += run
    return runs, told


def _columns(run: Sequence[Document], told: Told, notes: Notes) -> dict[str, Any]:
    """What the trajectory tells of the trial, beyond the sums of its steps."""
    columns: dict[str, Any] = {}
    if run:
        final = as_object(run[-1].root.get("final_metrics"))
        usage = final_usage(final, notes)
        prompt = final.get("total_prompt_tokens")
        whole = len(run) == 1 or (isinstance(prompt, int) and prompt >= told.tally.prompt)
        if whole:
            columns = missing_columns(_summed(told.steps), usage, notes, told.steps, told.inner)
        if text := _finals(run):
            columns["raw_usage"] = _json(text)
    if told.further_calls:
        columns["model_calls"] = sum(isinstance(step, Think) for step in told.steps) + told.further_calls
    if told.times:
        columns["started_at"] = told.times[0]
        if between(told.times[0], told.times[-1], notes) is not None:
            columns["finished_at"] = told.times[-1]
    return columns


def _summed(steps: Sequence[Step]) -> Mapping[str, Any]:
    thinks = [step for step in steps if isinstance(step, Think)]
    return totals(thinks, [step for step in steps if isinstance(step, Act)], counted=False)


def _agent_of(run: Sequence[Document], told: Told) -> tuple[str | None, str | None]:
    """Name and model, as the trajectory tells them."""
    agent = as_object(run[0].root.get("agent") if run else None)
    served = (step.model_served for step in told.steps if isinstance(step, Think))
    return text_in(agent.get("name")), text_in(agent.get("model_name")) or next(filter(None, served), None)


def _thinking(told: Told, kwargs: Mapping[str, object]) -> str | None:
    """The thinking setting as evalkit writes one: `tokens:` and their number, `off`, or `effort:` and the level."""
    efforts = told.efforts
    if not efforts:
        asked = kwargs.get("max_thinking_tokens", kwargs.get("reasoning_effort"))
        efforts = (str(asked),) if isinstance(asked, str | int) and not isinstance(asked, bool) else ()
    if len(efforts) != 1:
        return None
    level = efforts[0].strip()
    if level.replace(".", "", 1).isdigit() and level.isascii():
        number = level.removesuffix(".0")
        return "off" if number == "0" else f"tokens:{number}"
    return "off" if level in {"none", "off"} else f"effort:{level}"[:100]


def _task_of(path: Path) -> str:
    """A name for what a trajectory was about: its file's, or its folder's where it is simply `trajectory.json`."""
    name = path.name.removesuffix(".gz").removesuffix(".json").removesuffix("trajectory").strip("._-")
    folders = [folder for folder in path.absolute().parent.parts[1:] if folder != "agent"]
    return name or next(reversed(folders), "trajectory")


def _settings(run: Sequence[Document]) -> dict[str, Any]:
    if not run:
        return {}
    agent = as_object(run[0].root.get("agent"))
    tools = [
        as_object(tool.get("function")).get("name") for tool in objects_in(agent.get("tool_definitions"))
    ]
    told: dict[str, Any] = {key: value for key, value in agent.items() if key != "tool_definitions"}
    return {**told, "tools": [tool for tool in tools if isinstance(tool, str)]} if tools else told


def _finals(run: Sequence[Document]) -> dict[str, Any]:
    finals = [as_object(document.root.get("final_metrics")) for document in run]
    return {"final_metrics": finals} if any(finals) else {}


def _short(report: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in report.items() if key not in {"rollout_details", "metadata"}}


def _json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    except (ValueError, TypeError, RecursionError):
        return "{}"


IMPORTER: Importer = _Atif()
