"""How do the messages of mini-swe-agent become steps?"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from evalkit.convert.content import text_of
from evalkit.convert.mini_generation import Form, Generations
from evalkit.convert.notes import Notes
from evalkit.convert.reported import between, moment
from evalkit.convert.steps import Steps
from evalkit.models.wire.json_values import as_object, is_object, text_in
from evalkit.trajectory.step import ErrorKind, EventName, Think

_RETURNCODE = re.compile(
    r"\s*(?:<exception>.{0,2000}?</exception>\s*)?<returncode>(-?\d{1,9})</returncode>", re.DOTALL
)
_KILLED = " timed out and has been killed"
LIMITS = frozenset({"LimitsExceeded", "TimeExceeded"})
SUBMITTED = "Submitted"


@dataclass
class Exit:
    """How a run ended, as far as it says."""

    status: str | None
    submission: str | None
    message: str | None
    """What the exception said that ended it."""

    @property
    def event(self) -> EventName:
        """What that was, among the events that a record has."""
        return "submit" if self.status == SUBMITTED else "limit" if self.status in LIMITS else "error"


def exit_of(info: Mapping[str, object], messages: Sequence[object], notes: Notes) -> Exit:
    """How a run ended: what its header says, and otherwise its last message."""
    last = as_object(messages[-1]) if messages else as_object(None)
    extra = as_object(last.get("extra")) if last.get("role") == "exit" else as_object(None)
    status = text_in(info.get("exit_status")) or text_in(extra.get("exit_status"))
    if status != (text_in(extra.get("exit_status")) or status):
        notes.warn("the header and the last message name different exit statuses, and the header's counts")
    submission = info.get("submission")
    submission = submission if isinstance(submission, str) else extra.get("submission")
    message = text_in(info.get("exception_str")) or text_in(extra.get("exception_str"))
    return Exit(status, submission if isinstance(submission, str) else None, message)


@dataclass
class Conversation:
    """Adds messages, one after the other."""

    steps: Steps
    notes: Notes
    generations: Generations
    ended: Exit
    times: list[datetime] = field(default_factory=list[datetime])
    thinks: int = 0
    lost: int = 0
    """Answers that left no message, because a call in them was malformed."""
    _before: datetime | None = None
    _form: Form = "fields"
    _answered_at: datetime | None = None
    _alone: bool = False
    """Whether the last answer has one call only: then the time until its result is that of the call."""

    @property
    def cost(self) -> float | None:
        """What the answers cost; None where that is not known of each."""
        costs = [step.cost_usd for step in self.steps.done() if isinstance(step, Think)]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if costs and len(known) == len(costs) else None

    def add(self, messages: Sequence[object]) -> None:
        """Add all messages."""
        closing = self._closing(messages)
        for place, message in enumerate(messages):
            if not is_object(message):
                self.notes.lose("a message that is no object")
                continue
            extra = as_object(message.get("extra"))
            at = moment(extra.get("timestamp", message.get("timestamp")), self.notes)
            self._add(message, extra, at, closing=place == closing)
            self._before = at
            if at is not None:
                self.times.append(at)

    def _closing(self, messages: Sequence[object]) -> int | None:
        """The message of the user with which the first versions ended, which holds nothing but the submission."""
        last = as_object(messages[-1]) if messages else as_object(None)
        same = text_of(last.get("content")) == (self.ended.submission or "")
        ends = last.get("role") == "user" and self.ended.status is not None and same and len(messages) > 2
        return len(messages) - 1 if ends else None

    def _add(
        self,
        message: Mapping[str, object],
        extra: Mapping[str, object],
        at: datetime | None,
        *,
        closing: bool,
    ) -> None:
        role = text_in(message.get("role")) or text_in(message.get("type"))
        if role == "assistant" or message.get("object") == "response":
            self._answer(message, at)
        elif role in {"tool", "function", "function_call_output"}:
            self._result(message, extra, at)
        elif role == "exit" or closing:
            detail = {"exit_status": self.ended.status, "message": self.ended.message}
            self.steps.event(self.ended.event, _detail(detail), at=at)
        elif role in {"system", "developer"}:
            self.steps.prompt("system", text_of(message.get("content")), at=at)
        else:
            self._user(message, extra, at)

    def _answer(self, message: Mapping[str, object], at: datetime | None) -> int:
        self.thinks += 1
        think, self._form = self.generations.add(message, self._before, at)
        self._answered_at = at
        calls = len(self.steps) - think - 1
        self._alone = calls == 1
        if not calls and self.generations.empty:
            self.notes.warn("answers without any text, thinking or call")
        return think

    def _user(self, message: Mapping[str, object], extra: Mapping[str, object], at: datetime | None) -> None:
        interrupt = text_in(extra.get("interrupt_type"))
        if interrupt == "FormatError":
            self._malformed(extra)
        elif interrupt:
            self.steps.event("intervention", _detail({"interrupt_type": interrupt}), at=at)
        elif self._form != "fields" and self.steps.unanswered:
            self._result(message, extra, at)
            if "returncode" not in extra:
                self._form = "fields"
            return
        self.steps.prompt("user", text_of(message.get("content")), at=at)

    def _malformed(self, extra: Mapping[str, object]) -> None:
        """An answer that the harness threw away; later versions keep the completion beside the complaint."""
        response = as_object(extra.get("response"))
        if response:
            answer = {"role": "assistant", "extra": {"response": response, "cost": extra.get("cost")}}
            think = self._answer(answer, None)
            for number in range(think + 1, len(self.steps)):
                self.steps.change(number, error_kind="parsing")
            self._form = "fields"
            return
        self.lost += 1
        text = text_in(extra.get("model_response"))
        kept = "only its text was kept" if text else "the answer itself was not kept"
        self.steps.event("error", _detail({"type": "FormatError", "message": kept, "text": text}))

    def _result(
        self, message: Mapping[str, object], extra: Mapping[str, object], at: datetime | None
    ) -> None:
        content = message.get("content") if "content" in message else message.get("output")
        observation = text_of(content)
        exit_code, error_kind = self._outcome(observation, extra)
        raw = extra.get("raw_output")
        asked = text_in(message.get("tool_call_id")) or text_in(message.get("call_id"))
        fields: dict[str, Any] = {"exit_code": exit_code, "stdout": raw if isinstance(raw, str) else None}
        waiting = self.steps.unanswered
        number = self.steps.result(
            asked, observation, tool=text_in(message.get("name")), error_kind=error_kind, **fields
        )
        if self._alone and self.steps.unanswered < waiting:
            passed = between(self._answered_at, at, self.notes)
            self.steps.change(number, started_at=self._answered_at, duration_s=passed)
            self._alone = False

    def _outcome(self, text: str, extra: Mapping[str, object]) -> tuple[int | None, ErrorKind | None]:
        """Exit code and kind of error. -1 with an exception is the harness giving up, and no code of a program's."""
        told = extra.get("returncode")
        if told is None and (found := _RETURNCODE.match(text)):
            told = int(found[1])
        code = told if isinstance(told, int) and not isinstance(told, bool) and abs(told) < 2**31 else None
        if told is not None and code is None:
            self.notes.warn("an exit code that makes no sense counts as unknown")
        exception = text_in(extra.get("exception_info"))
        if exception:
            late = "timed out" in exception.lower()
            return (None if code == -1 else code), "timeout" if late else "sandbox"
        if self._form == "malformed":
            return code, "parsing"
        return code, "timeout" if self._form == "text" and told is None and _KILLED in text else None


def _detail(told: Mapping[str, str | None]) -> str:
    return json.dumps({key: value for key, value in told.items() if value is not None}, ensure_ascii=False)
