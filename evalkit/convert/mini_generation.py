"""What does one answer in a trajectory of mini-swe-agent become?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal, TypeAlias

from evalkit.convert.chat_steps import add_assistant
from evalkit.convert.generation import chat_blocks, think_columns
from evalkit.convert.notes import Notes
from evalkit.convert.reported import between, dollars, tokens
from evalkit.convert.steps import Steps
from evalkit.models.reading import Call, Reading
from evalkit.models.usage import Usage
from evalkit.models.wire.chat import assemble
from evalkit.models.wire.json_values import as_list, as_object, error_text, is_object, objects_in, text_in
from evalkit.models.wire.responses import read_responses

TOOL = "bash"
Form: TypeAlias = Literal["fields", "text", "malformed"]
"""Where an answer's calls stand: in fields of their own, as one block in the text, or as several: then none is run."""
_OPENING = re.compile(r"```(?:mswea_bash_command|bash|sh|shell)[^\S\n]*\n\s*")
_CLOSING = "\n```"


class Generations:
    """Adds answers to steps, each with its calls, in any of the forms in which the versions write them down."""

    def __init__(self, steps: Steps, notes: Notes, *, in_text: bool, zero_is_unknown: bool) -> None:
        self._steps, self._notes = steps, notes
        self._in_text = in_text
        """Calls stand in the text, as in the first versions."""
        self._zero_is_unknown = zero_is_unknown
        """A cost of 0 may be one that could not be computed."""
        self.empty = False
        """The last answer holds nothing: no text, no thinking, no call."""

    def add(
        self, message: Mapping[str, object], before: datetime | None, at: datetime | None
    ) -> tuple[int, Form]:
        """Add an answer that came at a time, after what was before it. Its number, and where its calls stand."""
        extra = as_object(message.get("extra"))
        fields: dict[str, Any] = {"started_at": before, "duration_s": between(before, at, self._notes)}
        if message.get("object") == "response":
            return self._responses(message, extra, fields), "fields"
        response = as_object(extra.get("response"))
        if response.get("object") == "response":
            return self._responses({**response, "usage": response.get("usage")}, extra, fields), "fields"
        whole, reading = self._chat(message, response)
        fields |= self._served(reading, extra)
        think = add_assistant(self._steps, whole, reading.usage, **fields)
        if as_list(whole.get("tool_calls")) or is_object(whole.get("function_call")):
            return think, "fields"
        return think, self._written_calls(think, message, extra, at)

    def _chat(
        self, message: Mapping[str, object], response: Mapping[str, object]
    ) -> tuple[Mapping[str, object], Reading]:
        """The message, with what only the completion tells, and the reading of both."""
        choice = next(iter(objects_in(response.get("choices"))), as_object(None))
        told = {name: value for name, value in message.items() if value not in (None, "", [])}
        whole = {**as_object(choice.get("message")), **told}
        blocks = chat_blocks({**whole, "tool_calls": objects_in(whole.get("tool_calls"))})
        reading = assemble(
            blocks,
            usage=sound_usage(response.get("usage"), self._notes),
            finish=choice.get("finish_reason"),
            refused=False,
            model=response.get("model"),
            error=error_text(response.get("error")),
        )
        self._compare(as_object(response.get("usage")), reading.usage)
        self.empty = not reading.blocks
        return whole, reading

    def _responses(
        self, message: Mapping[str, object], extra: Mapping[str, object], fields: dict[str, Any]
    ) -> int:
        """An answer of OpenAI's Responses API, whose object is the message."""
        reading = read_responses({**message, "usage": sound_usage(message.get("usage"), self._notes)})
        self._compare(as_object(message.get("usage")), reading.usage)
        self.empty = not reading.blocks
        columns = {**think_columns(reading.blocks, reading.usage), **fields, **self._served(reading, extra)}
        think = self._steps.think(**columns)
        for block in reading.blocks:
            if isinstance(block, Call):
                self._steps.call(think, block.tool or None, block.arguments, id=block.id or None)
        return think

    def _written_calls(
        self, think: int, message: Mapping[str, object], extra: Mapping[str, object], at: datetime | None
    ) -> Form:
        """Calls that are in no field of their own: those that the harness took out of the text, or the text's own.

        One answer holds one action; of several the harness runs none, and they are kept as one call that is malformed.
        """
        commands = [action for action in objects_in(extra.get("actions")) if "command" in action]
        if commands:
            for action in commands:
                call = text_in(action.get("tool_call_id"))
                self._steps.call(think, TOOL, {"command": action["command"]}, id=call, at=at)
            return "fields" if any(text_in(action.get("tool_call_id")) for action in commands) else "text"
        found = commands_in(text_in(message.get("content")) or "") if self._in_text else []
        if found:
            self._steps.call(think, TOOL, {"command": found[0]} if len(found) == 1 else found, at=at)
        return "malformed" if len(found) > 1 else "text" if found else "fields"

    def _served(self, reading: Reading, extra: Mapping[str, object]) -> dict[str, Any]:
        spent = dollars(extra.get("cost"), self._notes)
        if spent == 0 and self._zero_is_unknown and reading.usage and reading.usage.output_tokens:
            self._notes.warn("a cost of 0 where costs that cannot be computed are left out counts as unknown")
            spent = None
        return {"cost_usd": spent, "model_served": reading.model_served, "finish_reason": reading.finish_raw}

    def _compare(self, raw: Mapping[str, object], usage: Usage | None) -> None:
        details = as_object(raw.get("completion_tokens_details") or raw.get("output_tokens_details"))
        if details.get("reasoning_tokens") is not None and (usage is None or usage.reasoning_tokens is None):
            self._notes.warn(
                "thinking tokens that contradict the other counts, or the thinking, count as unknown"
            )


def sound_usage(usage: object, notes: Notes) -> dict[str, object]:
    """Usage as reported, without the counts that make no sense."""
    return {
        name: sound_usage(value, notes)
        if is_object(value)
        else tokens(value, notes, "token counts")
        if name.endswith("_tokens")
        else value
        for name, value in as_object(usage).items()
    }


def commands_in(text: str) -> list[str]:
    """The commands in the blocks of a text."""
    found: list[str] = []
    position = 0
    while (opening := _OPENING.search(text, position)) is not None:
        end = text.find(_CLOSING, opening.end() - 1)
        if end < 0:
            break
        found.append(text[opening.end() : end].strip())
        position = end + len(_CLOSING)
    return found
