"""How does one sample of an Inspect log become a trial?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalkit.convert.converted import Converted
from evalkit.convert.importer import Options
from evalkit.convert.inspect_conversation import Conversation
from evalkit.convert.inspect_events import Events
from evalkit.convert.inspect_message import usage_of
from evalkit.convert.inspect_refs import Attachments, Pool
from evalkit.convert.inspect_scores import outcome
from evalkit.convert.inspect_setup import Setup, sandbox_of, seed, thinking_sent
from evalkit.convert.inspect_totals import UsageCheck
from evalkit.convert.notes import Notes, Refused
from evalkit.convert.reported import between, moment, seconds, tokens
from evalkit.convert.steps import Steps
from evalkit.models.wire.json_values import (
    as_list,
    as_object,
    canonical,
    objects_in,
    storable,
    text_in,
)
from evalkit.trajectory.step import Step, Think

Raw = Mapping[str, object]
_SKILLS = 20


def convert_sample(sample: Raw, setup: Setup, notes: Notes, options: Options, usage: UsageCheck) -> Converted:
    """The trial of a sample. Refused for one without an id."""
    identity, epoch = sample.get("id"), sample.get("epoch")
    if not isinstance(identity, str | int) or isinstance(identity, bool) or identity == "":
        raise Refused("a sample without an id")
    task_id = str(identity)[:500]
    texts = Attachments(sample, notes)
    steps, events = _read(sample, setup.model, texts, notes)
    found = steps.done()
    usage.compare(sample, events.spent)
    uuid = text_in(sample.get("uuid"))
    graded = events.failed_in_scoring
    columns: dict[str, Any] = {
        **setup.columns,
        **outcome(sample, setup.status, texts, notes, options, graded=graded),
        **_times(sample, events, notes),
        **_usage(sample, setup.model, found, notes),
        **_described(sample.get("metadata")),
        "thinking_sent": thinking_sent(events.request),
        "sandbox": sandbox_of(sample.get("sandbox")) or setup.sandbox,
    }
    if columns.get("seed") is None:
        columns["seed"] = seed(events.settings.get("seed"))
    return Converted(
        suite=setup.suite,
        task_id=task_id,
        epoch=tokens(epoch, notes, "an epoch"),
        agent=setup.agent,
        identity=None if uuid is None else f"{uuid} {epoch}",
        retry=setup.retry,
        steps=found,
        columns=columns,
        settings=setup.settings,
        where=f"sample {task_id[:100]} epoch {epoch if type(epoch) is int else 1}",
    )


def _read(sample: Raw, model: str, texts: Attachments, notes: Notes) -> tuple[Steps, Events]:
    """The steps from the sample's events, or where no generation of the agent is among them, from its messages."""
    told = sample.get("events")
    if told is None:
        told = as_object(sample.get("transcript")).get("events")
    steps = Steps(notes)
    _retried(sample, steps, texts)
    events = Events(model, texts, Pool(sample), steps, notes)
    if any(_is_answer(event) for event in objects_in(told)):
        events.read(told)
        if events.thinks:
            return steps, events
    steps = Steps(notes)
    _retried(sample, steps, texts)
    events = Events(model, texts, Pool({}), steps, notes)
    Conversation(model, texts, steps, notes).read(sample, told)
    events.only_facts(told)
    return steps, events


def _is_answer(event: Raw) -> bool:
    return event.get("event") == "model" and event.get("error") is None and event.get("role") is None


def _retried(sample: Raw, steps: Steps, texts: Attachments) -> None:
    """Earlier attempts at the whole sample that ended in an error."""
    for retry in objects_in(sample.get("error_retries")):
        message = (texts.text(retry.get("message")) or "unknown").strip()
        steps.event("retry", canonical({"sample": (message.splitlines() or [""])[0][:500]}))


def _times(sample: Raw, events: Events, notes: Notes) -> dict[str, Any]:
    """When it ran. The agent's time is that of the solvers; where the log does not tell, that of the whole sample."""
    began, ended = (moment(sample.get(name), notes) for name in ("started_at", "completed_at"))
    whole = seconds(sample.get("total_time"), notes)
    working = seconds(sample.get("working_time"), notes)
    agent = events.spans.seconds("solvers")
    if agent is None:
        agent = whole if whole is not None else between(began, ended, notes)
    waited = whole - working if whole is not None and working is not None and whole >= working else None
    return {
        "started_at": began,
        "finished_at": ended,
        "agent_s": agent,
        "grade_s": events.spans.seconds("scorers"),
        "retry_s": waited if waited is not None and agent is not None and waited <= agent else None,
    }


def _usage(sample: Raw, model: str, steps: tuple[Step, ...], notes: Notes) -> dict[str, Any]:
    """What the log says was spent, and where no generation says it, that as the trial's totals."""
    told = as_object(sample.get("model_usage"))
    if not told:
        return {}
    columns: dict[str, Any] = {"raw_usage": canonical(storable(told)) or None}
    thinks = [step for step in steps if isinstance(step, Think)]
    only = len(told) == 1 or not sample.get("role_usage")
    if only and all(think.output_tokens is None and think.input_tokens is None for think in thinks):
        usage = usage_of(told.get(model), model, notes)
        if usage is not None:
            columns.update(
                input_tokens=usage.input_tokens,
                output_tokens=usage.output_tokens,
                reasoning_tokens=usage.reasoning_tokens,
                cache_read_tokens=usage.cache_read_tokens,
                cache_write_tokens=usage.cache_write_tokens,
                cost_usd=usage.reported_cost_usd,
                reasoning_source=None if usage.reasoning_tokens is None else "api",
            )
    return columns


def _described(metadata: object) -> dict[str, Any]:
    """Difficulty and skills, where the sample's metadata names them so."""
    told = as_object(metadata)
    skills = tuple(
        skill[:100] for skill in as_list(told.get("skills"))[:_SKILLS] if isinstance(skill, str) and skill
    )
    difficulty = text_in(told.get("difficulty"))
    return {"difficulty": difficulty[:100] if difficulty else None, "skills": skills or None}
