"""How do the events of an Inspect sample become steps?

Generations of the agent's model become `think`, its calls `act`, and what it was told since the one before `prompt`.
What another model was asked, in a role or by a scorer, is an `intervention`; an attempt that failed, a `retry`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from evalkit.convert.generation import think_columns
from evalkit.convert.inspect_message import blocks_of, first_choice, said_in, thinking_shown, usage_of
from evalkit.convert.inspect_refs import Attachments, Pool
from evalkit.convert.inspect_spans import Spans
from evalkit.convert.inspect_tool_results import error_kind, observation
from evalkit.convert.notes import Notes
from evalkit.convert.reported import between, moment, seconds, tokens
from evalkit.convert.steps import Steps
from evalkit.models.wire.json_values import as_object, is_object, objects_in, text_in
from evalkit.trajectory.canonical import canonical_json
from evalkit.trajectory.step import EventName

Raw = Mapping[str, object]
_USAGE = (
    "input_tokens",
    "output_tokens",
    "total_tokens",
    "reasoning_tokens",
    "input_tokens_cache_read",
    "input_tokens_cache_write",
)
_LONGEST = 2000


class Events:
    """Reads the events of one sample into steps."""

    def __init__(self, model: str, texts: Attachments, pool: Pool, steps: Steps, notes: Notes) -> None:
        self._model, self._texts, self._pool, self._steps, self._notes = model, texts, pool, steps, notes
        self.spans = Spans(notes)
        self.thinks = 0
        self.spent: dict[str, Counter[str]] = defaultdict(Counter[str])
        """By model, what all generations together reported, those of graders too."""
        self.settings: dict[str, object] = {}
        """Of the last generation's `config`."""
        self.request: Raw = {}
        """The last request that went out, where the log has it."""
        self.failed_in_scoring = False
        self._told: Counter[tuple[str, str]] = Counter()
        self._waiting: Counter[str] = Counter()
        """By the call's id, how many have no result yet."""
        self._approvals: dict[str, str] = {}
        self._exits: dict[int, list[object]] = defaultdict(list[object])
        self._failed = 0

    def read(self, events: object) -> None:
        """All of them, in their order."""
        self._walk(events, None)
        for act, exits in self._exits.items():
            if len(exits) == 1 and type(exits[0]) is int and abs(exits[0]) < 1 << 31:
                self._steps.change(act, exit_code=exits[0])

    def only_facts(self, events: object) -> None:
        """The same without generations and calls, for steps that were made of messages: limits, errors and the like."""
        for event in objects_in(events):
            kind = event.get("event")
            if kind == "model" and (event.get("role") or self.spans.grading(event)):
                self._generation(event)
            elif kind == "model":
                self._attempt_failed(event, text_in(event.get("model")) or self._model)
            elif kind == "approval":
                self._approval(event)
            elif not self.spans.note(event):
                self._remark(event)

    def _walk(self, events: object, inside: int | None) -> None:
        """`inside`: the act in which these happened."""
        for event in objects_in(events):
            kind = event.get("event")
            if kind == "model":
                self._generation(event)
            elif kind == "tool":
                self._result(event)
            elif kind == "sandbox":
                self._sandbox(event, inside)
            elif kind == "subtask":
                self._walk(event.get("events"), inside)
            elif kind == "approval":
                self._approval(event)
            elif not self.spans.note(event):
                self._remark(event)

    def _generation(self, event: Raw) -> None:
        output = as_object(event.get("output"))
        model = text_in(event.get("model")) or self._model
        role = text_in(event.get("role"))
        if event.get("cache") == "read":
            self._notes.warn(
                "answers out of Inspect's own cache: their tokens are counted, but were not spent again"
            )
        else:
            self._spend(model, output.get("usage"))
        if role is not None or self.spans.grading(event):
            if role is not None and not self.spans.grading(event):
                self._notes.warn("what models in a role of their own spent is not in the agent's totals")
            self._intervene(role or "grader", model, event, output)
            return
        self._tell(event)
        if not self._attempt_failed(event, model):
            self._think(event, model, output, first_choice(output))

    def _attempt_failed(self, event: Raw, model: str) -> bool:
        """Whether no answer came of a request, which is recorded."""
        output = as_object(event.get("output"))
        choice = first_choice(output)
        error = text_in(event.get("error")) or (None if choice else text_in(output.get("error")))
        if error is None and event.get("pending") is True:
            error = "the run ended before there was an answer"
        if error is not None:
            self._failed += 1
            self._event("retry", event, {"model": model, "error": self._line(error)})
        return error is not None

    def _think(self, event: Raw, model: str, output: Raw, choice: Raw) -> None:
        message = as_object(choice.get("message"))
        blocks = blocks_of(message, model, self._texts)
        usage = usage_of(output.get("usage"), model, self._notes, thinking_shown=thinking_shown(blocks))
        began = moment(event.get("timestamp"), self._notes)
        retries = tokens(event.get("retries"), self._notes, "retries")
        call = as_object(event.get("call"))
        number = self._steps.think(
            **think_columns(blocks, usage),
            parent_step=self.spans.act_of(event),
            started_at=began,
            duration_s=self._lasted(event, began, output.get("time")),
            cost_usd=None if usage is None else usage.reported_cost_usd,
            finish_reason=text_in(choice.get("stop_reason")),
            model_served=self._served(model, output, as_object(call.get("response"))),
            retries=max(retries or 0, self._failed) or retries,
        )
        self.thinks += 1
        self._failed = 0
        self.settings = dict(as_object(event.get("config"))) or self.settings
        self.request = as_object(call.get("request")) or self.request
        for asked in objects_in(message.get("tool_calls")):
            self._call(number, asked)

    def _call(self, think: int, asked: Raw) -> None:
        identity = text_in(asked.get("id"))
        arguments = self._texts.inside(asked.get("arguments"))
        act = self._steps.call(think, text_in(asked.get("function")), arguments, id=identity)
        if asked.get("parse_error"):
            self._steps.change(act, error_kind="parsing")
        self._waiting[identity or ""] += 1

    def _result(self, event: Raw) -> None:
        if self.spans.grading(event):
            return
        identity, tool = text_in(event.get("id")), text_in(event.get("function"))
        began = moment(event.get("timestamp"), self._notes)
        error = as_object(event.get("error"))
        fields: dict[str, Any] = {"started_at": began, "duration_s": self._lasted(event, began, None)}
        if identity is not None and identity in self._approvals:
            fields["approval"] = self._approvals.pop(identity)
        if not self._waiting[identity or ""]:
            fields["arguments"] = _canonical(self._texts.inside(event.get("arguments")))
        else:
            self._waiting[identity or ""] -= 1
        pending = event.get("pending") is True and not error
        act = self._steps.result(
            identity,
            None if pending else observation(event.get("result"), error, self._texts),
            tool=tool,
            error_kind="limit" if pending else error_kind(error),
            **fields,
        )
        self.spans.bind(event, act)
        self._walk(event.get("events"), act)

    def _sandbox(self, event: Raw, inside: int | None) -> None:
        act = self.spans.act_of(event) if inside is None else inside
        if act is not None and event.get("action") == "exec":
            self._exits[act].append(event.get("result"))

    def _approval(self, event: Raw) -> None:
        decision, approver = text_in(event.get("decision")) or "", text_in(event.get("approver")) or ""
        call = as_object(event.get("call"))
        identity = text_in(call.get("id"))
        if identity is not None and decision != "escalate":
            verdict = "allow" if decision in {"approve", "modify"} else "deny"
            asked = f"ask_{'allowed' if verdict == 'allow' else 'denied'}"
            self._approvals[identity] = f"{asked if approver == 'human' else verdict}:{approver}"
        told = {"decision": decision, "approver": approver, "tool": text_in(call.get("function"))}
        self._event("approval", event, told)

    def _remark(self, event: Raw) -> None:
        """An event for which the record has one."""
        kind = event.get("event")
        if kind == "sample_limit":
            told = {"type": event.get("type"), "limit": event.get("limit"), "message": event.get("message")}
            self._event("limit", event, told)
        elif kind == "error":
            error = as_object(event.get("error"))
            self.failed_in_scoring = self.spans.scored
            self._event("error", event, {"error": self._line(text_in(error.get("message")) or "unknown")})
        elif kind == "compaction":
            told = {key: event.get(key) for key in ("type", "tokens_before", "tokens_after")}
            self._event("compaction", event, told)
        elif kind == "interrupt":
            told = {"interrupted": event.get("interrupted"), "by": event.get("source")}
            self._event("intervention", event, told)
        elif kind == "input":
            self._event(
                "intervention", event, {"role": "human", "text": said_in(event.get("input"), self._texts)}
            )
        elif kind == "checkpoint":
            self._event("checkpoint", event, {})

    def _intervene(self, role: str, model: str, event: Raw, output: Raw) -> None:
        message = as_object(first_choice(output).get("message"))
        told = {
            "role": role,
            "model": model,
            "text": said_in(message.get("content"), self._texts)[:_LONGEST],
            "usage": output.get("usage"),
            "error": self._line(text_in(event.get("error")) or "") or None,
        }
        self._event("intervention", event, told)

    def _tell(self, event: Raw) -> None:
        """The messages of a request that were in none before it."""
        if event.get("input"):
            seen: Counter[tuple[str, str]] = Counter()
            for message in objects_in(event.get("input")):
                key = _key(message)
                seen[key] += 1
                if seen[key] > self._told[key]:
                    self._told[key] += 1
                    self._message(message)
        for message in self._pool.new(event.get("input_refs")):
            if is_object(message):
                self._message(message)

    def _message(self, message: Raw) -> None:
        role = text_in(message.get("role"))
        if role in {"system", "user"}:
            text = said_in(message.get("content"), self._texts)
            self._steps.prompt("system" if role == "system" else "user", text)
        elif role == "tool" and self._waiting[identity := text_in(message.get("tool_call_id")) or ""]:
            self._waiting[identity] -= 1
            error = as_object(message.get("error"))
            self._steps.result(
                identity or None,
                observation(message.get("content"), error, self._texts),
                error_kind=error_kind(error),
            )

    def _spend(self, model: str, usage: object) -> None:
        for name in _USAGE:
            value = as_object(usage).get(name)
            if type(value) is int:
                self.spent[model][name] += value

    def _served(self, model: str, output: Raw, response: Raw) -> str | None:
        named = (response.get("model"), response.get("modelVersion"), response.get("model_version"))
        served = next(filter(None, map(text_in, named)), None) or text_in(output.get("model"))
        if served is not None:
            one, other = (name.rpartition("/")[2] for name in (served, model))
            if not one.startswith(other) and not other.startswith(one):
                self._notes.warn(f"{served[:100]} answered where {model[:100]} was asked")
        return served

    def _lasted(self, event: Raw, began: datetime | None, told: object) -> float | None:
        ended = moment(event.get("completed"), self._notes)
        if ended is not None and began is not None:
            return between(began, ended, self._notes)
        return seconds(told if event.get("working_time") is None else event.get("working_time"), self._notes)

    def _event(self, name: EventName, event: Raw, told: Mapping[str, object]) -> None:
        detail = _canonical(
            {key: value for key, value in self._texts.inside(told).items() if value is not None}
        )
        self._steps.event(name, detail, at=moment(event.get("timestamp"), self._notes))

    def _line(self, text: str) -> str:
        lines = (self._texts.text(text) or "").strip().splitlines()
        return lines[0][:_LONGEST] if lines else ""


def _key(message: Raw) -> tuple[str, str]:
    identity = message.get("id")
    if isinstance(identity, str):
        return identity, ""
    content = message.get("content")
    return str(message.get("role")), content if isinstance(content, str) else repr(content)


def _canonical(value: object) -> str | None:
    try:
        return None if value is None else canonical_json(value)
    except ValueError:
        return None
