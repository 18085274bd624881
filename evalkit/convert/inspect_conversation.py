"""How do the messages of an Inspect sample become steps, where no event tells of its generations?

So it is with logs of before late 2024, and with solvers that write messages of their own. What `tool` events know of a
call (time, duration) is taken from them.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping
from typing import Any

from evalkit.convert.generation import think_columns
from evalkit.convert.inspect_message import blocks_of, first_choice, said_in, thinking_shown, usage_of
from evalkit.convert.inspect_refs import Attachments
from evalkit.convert.inspect_tool_results import error_kind, observation
from evalkit.convert.notes import Notes
from evalkit.convert.reported import between, moment
from evalkit.convert.steps import Steps
from evalkit.models.wire.json_values import as_object, is_list, objects_in, text_in

Raw = Mapping[str, object]


class Conversation:
    """Adds the messages of one sample to steps."""

    def __init__(self, model: str, texts: Attachments, steps: Steps, notes: Notes) -> None:
        self._model, self._texts, self._steps, self._notes = model, texts, steps, notes
        self._clocks: dict[str, deque[Raw]] = {}

    def read(self, sample: Raw, events: object) -> None:
        """Every message. Usage is known of the last answer only, where the sample's `output` is that answer."""
        messages = objects_in(sample.get("messages")) or _input(sample.get("input"))
        self._clocks = _clocks(events)
        output = as_object(sample.get("output"))
        last = next((message for message in reversed(messages) if message.get("role") == "assistant"), None)
        for message in messages:
            role = message.get("role")
            if role == "assistant":
                own = message is last and _is_output(message, output)
                self._answer(message, output if own else as_object(None))
            elif role == "tool":
                self._result(message)
            else:
                text = said_in(message.get("content"), self._texts)
                self._steps.prompt("system" if role == "system" else "user", text)

    def _answer(self, message: Raw, output: Raw) -> None:
        blocks = blocks_of(message, self._model, self._texts)
        usage = usage_of(output.get("usage"), self._model, self._notes, thinking_shown=thinking_shown(blocks))
        think = self._steps.think(
            **think_columns(blocks, usage),
            cost_usd=None if usage is None else usage.reported_cost_usd,
            finish_reason=text_in(first_choice(output).get("stop_reason")),
            model_served=text_in(output.get("model")),
        )
        for call in objects_in(message.get("tool_calls")):
            arguments, identity = self._texts.inside(call.get("arguments")), text_in(call.get("id"))
            act = self._steps.call(think, text_in(call.get("function")), arguments, id=identity)
            if call.get("parse_error"):
                self._steps.change(act, error_kind="parsing")

    def _result(self, message: Raw) -> None:
        identity = text_in(message.get("tool_call_id"))
        error = as_object(message.get("error"))
        if not error and (told := text_in(message.get("tool_error"))):
            error = {"message": told}
        fields: dict[str, Any] = {}
        if waiting := self._clocks.get(identity or ""):
            event = waiting.popleft()
            began, ended = (moment(event.get(name), self._notes) for name in ("timestamp", "completed"))
            fields = {"started_at": began, "duration_s": between(began, ended, self._notes)}
        self._steps.result(
            identity,
            observation(message.get("content"), error, self._texts),
            tool=text_in(message.get("function")),
            error_kind=error_kind(error),
            **fields,
        )


def _clocks(events: object) -> dict[str, deque[Raw]]:
    """The `tool` events by the id of their call, in order."""
    found: dict[str, deque[Raw]] = defaultdict(deque[Raw])
    for event in objects_in(events):
        if event.get("event") == "tool":
            found[text_in(event.get("id")) or ""].append(event)
    return found


def _is_output(message: Raw, output: Raw) -> bool:
    answer = as_object(first_choice(output).get("message"))
    if isinstance(message.get("id"), str) and message.get("id") == answer.get("id"):
        return True
    return bool(answer) and message.get("content") == answer.get("content")


def _input(told: object) -> list[Raw]:
    if is_list(told):
        return objects_in(told)
    return [{"role": "user", "content": told}] if isinstance(told, str) else []
