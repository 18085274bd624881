"""How do the lines of a conversation with Claude Code become steps?"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from evalkit.convert.claude_lines import Line, messages
from evalkit.convert.content import text_of
from evalkit.convert.generation import think_columns
from evalkit.convert.notes import Notes
from evalkit.convert.reported import dollars, moment, seconds
from evalkit.convert.steps import Steps
from evalkit.models.wire.anthropic import read_anthropic
from evalkit.models.wire.json_values import as_list, as_object, is_object, objects_in, text_in
from evalkit.trajectory.step import ErrorKind, Step

_AGENT_ID = re.compile(r"agentId: ([A-Za-z0-9_-]{1,100})")
_EXIT_CODE = re.compile(r"Exit code (-?\d{1,9})(?:\n|$)")
_SYNTHETIC = "<synthetic>"
_NO_CONVERSATION = frozenset(
    {
        *("summary", "file-history-snapshot", "queue-operation", "progress", "attachment", "custom-title"),
        *(
            "ai-title",
            "last-prompt",
            "permission-mode",
            "agent-name",
            "agent-color",
            "mode",
            "pr-link",
            "tag",
        ),
    }
)
"""Types of lines that the model was not told, or that repeat what other lines say."""
_ERRORS: tuple[tuple[str, ErrorKind], ...] = (
    ("<tool_use_error>InputValidationError", "parsing"),
    ("<tool_use_error>Error: No such tool", "unavailable"),
    ("The user doesn't want to", "denied"),
    ("Permission to use", "permission"),
    ("Claude requested permissions", "permission"),
    ("Command timed out", "timeout"),
)


@dataclass(slots=True)
class Asked:
    """A call that may have been one of a sub-agent."""

    prompt: str | None
    """What the sub-agent was told."""
    agent_id: str | None = None
    """Whose file its steps are in."""


@dataclass(slots=True)
class Told:
    """A conversation, converted."""

    steps: tuple[Step, ...]
    asked: dict[int, Asked]
    """By the number of the step, every call that has a prompt."""
    models: list[str]
    """Of every generation, in order."""
    times: list[datetime]
    levels: dict[str, None]
    """The thinking settings of the user's messages, each once."""


def convert_lines(lines: Sequence[Line], notes: Notes) -> Told:
    """The steps of one conversation, without those of its sub-agents."""
    conversion = _Conversion(notes)
    for together in messages(lines):
        conversion.add(together)
    return conversion.told()


@dataclass
class _Conversion:
    notes: Notes
    asked: dict[int, Asked] = field(default_factory=dict[int, Asked])
    models: list[str] = field(default_factory=list[str])
    times: list[datetime] = field(default_factory=list[datetime])
    levels: dict[str, None] = field(default_factory=dict[str, None])

    def __post_init__(self) -> None:
        self._steps = Steps(self.notes)

    def told(self) -> Told:
        return Told(self._steps.done(), self.asked, self.models, self.times, self.levels)

    def add(self, together: Sequence[Line]) -> None:
        """Add one line, or all lines of one message of the model."""
        line = together[0]
        kind = line.get("type")
        times = [moment(part.get("timestamp"), self.notes) for part in together]
        at = times[0]
        if kind == "assistant":
            self._assistant(together, at)
        elif kind == "user":
            self._user(line, at)
        elif kind == "system":
            self._system(line, at)
        elif text_in(kind) not in _NO_CONVERSATION:
            self.notes.warn(f"lines of the type {str(kind)[:40]!r} are left out")
            return
        self.times += [time for time in times if time is not None]

    def _assistant(self, together: Sequence[Line], at: datetime | None) -> None:
        message = _whole(together)
        model = text_in(message.get("model"))
        if together[0].get("isApiErrorMessage") is True or model == _SYNTHETIC:
            text = text_of(message.get("content"))
            self._steps.event("error", _json({"message": text, "origin": "model"}), at=at)
            return
        reading = read_anthropic(message)
        if not as_object(message.get("usage")):
            self.notes.warn("messages of the model without usage have unknown tokens")
        spent = [dollars(line.get("costUSD"), self.notes) for line in together]
        think = self._steps.think(
            **think_columns(reading.blocks, reading.usage),
            cost_usd=next((value for value in reversed(spent) if value is not None), None),
            finish_reason=reading.finish_raw,
            model_served=reading.model_served,
            started_at=at,
        )
        if model is not None:
            self.models.append(model)
        for block in objects_in(message.get("content")):
            if block.get("type") == "tool_use":
                self._call(think, block, at)

    def _call(self, think: int, block: Mapping[str, object], at: datetime | None) -> None:
        given = block.get("input")
        number = self._steps.call(
            think, text_in(block.get("name")), given, id=text_in(block.get("id")), at=at
        )
        prompt = text_in(as_object(given).get("prompt"))
        if prompt is not None:
            self.asked[number] = Asked(prompt)

    def _user(self, line: Line, at: datetime | None) -> None:
        level = _level(line)
        if level is not None:
            self.levels[level] = None
        content = as_object(line.get("message")).get("content")
        if isinstance(content, str):
            self._steps.prompt("user", content, at=at)
            return
        said: list[object] = []
        for block in as_list(content):
            if is_object(block) and block.get("type") == "tool_result":
                self._result(block, line)
            else:
                said.append(block)
        if said:
            self._steps.prompt("user", text_of(said), at=at)

    def _result(self, block: Mapping[str, object], line: Line) -> None:
        content = block.get("content")
        text = None if content is None else text_of(content)
        more = as_object(line.get("toolUseResult"))
        failed = block.get("is_error") is True
        columns: dict[str, Any] = {"error_kind": _error_kind(text or "") if failed else None}
        if failed and (code := _EXIT_CODE.match(text or "")):
            columns["exit_code"] = int(code.group(1))
        for name in ("stdout", "stderr"):
            if isinstance(stream := more.get(name), str):
                columns[name] = stream
        took = seconds(more.get("totalDurationMs", more.get("durationMs")), self.notes)
        columns["duration_s"] = None if took is None else took / 1000
        number = self._steps.result(text_in(block.get("tool_use_id")), text, **columns)
        agent = text_in(more.get("agentId"))
        if agent is None and (found := _AGENT_ID.search(text or "")):
            agent = found.group(1)
        if agent is not None and number in self.asked:
            self.asked[number].agent_id = agent

    def _system(self, line: Line, at: datetime | None) -> None:
        kind = line.get("subtype")
        if kind == "compact_boundary":
            detail = as_object(line.get("compactMetadata"))
            self._steps.event("compaction", _json(detail), at=at)
        elif kind == "api_error":
            detail = {key: line.get(key) for key in ("error", "retryAttempt", "maxRetries", "retryInMs")}
            self._steps.event("retry", _json(detail), at=at)


def _whole(together: Sequence[Line]) -> dict[str, object]:
    """One message of all its lines. Blocks that come again count once; the last usage and the last reason to stop are
    those of the whole message, since they grow while it is streamed.
    """
    whole: dict[str, object] = {}
    blocks: list[object] = []
    seen: set[str] = set()
    for line in together:
        message = as_object(line.get("message"))
        whole.update({key: value for key, value in message.items() if value is not None and value != {}})
        content = message.get("content")
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else as_list(content):
            key = _json(block) if len(together) > 1 else str(len(blocks))
            if key not in seen:
                seen.add(key)
                blocks.append(block)
    return {**whole, "content": blocks}


def _level(line: Line) -> str | None:
    """The thinking setting of a user's message, as evalkit writes one."""
    told = as_object(line.get("thinkingMetadata"))
    most = told.get("maxThinkingTokens")
    if isinstance(most, int) and not isinstance(most, bool) and most >= 0:
        return str(most) if most else "off"
    if told.get("disabled") is True or told.get("level") == "none":
        return "off"
    level = text_in(told.get("level"))
    return None if level is None else f"effort:{level[:40]}"


def _error_kind(text: str) -> ErrorKind:
    for beginning, kind in _ERRORS:
        if text.startswith(beginning):
            return kind
    return "unknown"


def _json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    except (ValueError, TypeError, RecursionError):
        return "{}"
