"""How do the events that Inspect tells of become steps?

Generations become `think`, tool calls `act`, and what was said to the agent since becomes `prompt`. Steps keep the
order in which things began, so what is still going on holds back what began after it.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict, deque
from datetime import datetime

from inspect_ai.event import ApprovalEvent, CompactionEvent, Event, ModelEvent, ToolEvent
from inspect_ai.log import transcript
from inspect_ai.model import ChatMessage, ChatMessageSystem, ChatMessageTool, ChatMessageUser
from inspect_ai.tool import ToolCall

from evalkit.engine.answer import Facts, raw_arguments, refusal_in
from evalkit.engine.approvals.guard import approved_in
from evalkit.engine.calls import act_step, call_events, error_kind
from evalkit.engine.effects.attribution import missed
from evalkit.engine.generation import facts_about, think_step
from evalkit.engine.inspect_thinking import seen
from evalkit.engine.recorder import Recorder, Stopwatch
from evalkit.engine.same_request import FailedAttempts
from evalkit.engine.spending import Spending
from evalkit.engine.traces import Approved, CallTrace, Traces
from evalkit.models.failure import SentDiffers
from evalkit.trajectory.canonical import canonical_json
from evalkit.trajectory.step import ErrorKind


@dataclasses.dataclass(frozen=True, slots=True)
class _Asked:
    """A call, which generation asked for it and where among its calls, and what was written where it did not parse."""

    position: tuple[int, int] | None
    call: ToolCall
    raw: str | None = None


class EventSteps:
    """Records one trial's steps from Inspect's events, from now on."""

    def __init__(self, recorder: Recorder, traces: Traces, spending: Spending) -> None:
        self._recorder, self._traces, self._spending = recorder, traces, spending
        self._next = len(transcript().events)
        self._told: set[str] = set()
        self.failure: SentDiffers | None = None
        """Why no further call is worth its money; the trial fails with it."""
        self._failed = FailedAttempts()
        self._asked: dict[str, _Asked] = {}
        """By the call's id."""
        self._approved: defaultdict[str, deque[Approved]] = defaultdict(deque)
        """What was decided about calls whose own events are still to come, by the call's id."""

    def flush(self, *, final: bool = False) -> None:
        """Record every event up to the first that is still going on; `final`: that one too, as cut off."""
        for event in transcript().events[self._next :]:
            if event.pending and not final:
                return
            self._next += 1
            self._record(event)

    @property
    def generations(self) -> int:
        """How many answers the agent's model has given so far, recorded or not."""
        waiting = transcript().events[self._next :]
        return len(self._recorder.thinks) + sum(_is_answer(event) for event in waiting)

    def _record(self, event: Event) -> None:
        if isinstance(event, ModelEvent):
            self._generation(event)
        elif isinstance(event, ToolEvent):
            self._call(event)
        elif isinstance(event, ApprovalEvent):
            if (approved := approved_in(event.metadata)) is not None:
                self._approved[event.call.id].append(approved)
                return
            detail = {"decision": event.decision, "approver": event.approver, "tool": event.call.function}
            self._recorder.event("approval", canonical_json(detail))
        elif isinstance(event, CompactionEvent):
            self._recorder.event("compaction")

    def _generation(self, event: ModelEvent) -> None:
        if event.role is not None:
            detail = {"role": event.role, "model": event.model, "text": event.output.completion}
            self._recorder.event("intervention", canonical_json(detail))
            return
        for message in event.input:
            self._prompt(message)
        if not _is_answer(event):
            said = (event.error or "cut off").strip().splitlines()[0]
            self._recorder.event("error", canonical_json({"model": event.model, "error": said}))
            self._failed.fail(event)
            self._seen(Facts(usage=None), event)
            return
        retries = self._failed.answered(event)
        refusal = refusal_in(event.output)
        if refusal is not None:
            detail = {"refused": event.output.stop_reason, "message": refusal}
            self._recorder.event("limit", canonical_json(detail))
            return
        facts = self._seen(facts_about(event.output, self._spending.price), event)
        self._spending.add(facts)
        number = self._recorder.next
        step = think_step(number, event.input, event.output, facts, Stopwatch(), retries=retries)
        began, seconds = _clock(event)
        self._recorder.add(dataclasses.replace(step, started_at=began, duration_s=seconds))
        calls = event.output.message.tool_calls if event.output.choices else None
        for index, call in enumerate(calls or ()):
            self._asked[call.id] = _Asked((number, index), call, raw_arguments(event.output.message, index))

    def _seen(self, facts: Facts, event: ModelEvent) -> Facts:
        """The facts with the level of thinking that an attempt asked for; another one than was asked for is kept as
        the `failure`.
        """
        try:
            found = seen(facts, event, self._spending.wire)
        except SentDiffers as failure:
            self.failure = failure
            found = dataclasses.replace(facts, thinking_sent=failure.sent)
        if found.thinking_sent is not None:
            self._spending.note_level(found.thinking_sent)
        return found

    def _prompt(self, message: ChatMessage) -> None:
        if not isinstance(message, ChatMessageSystem | ChatMessageUser):
            return
        key = message.id or f"{message.role}\0{message.text}"
        if key not in self._told:
            self._told.add(key)
            self._recorder.prompt(message.role, message.text)

    def _call(self, event: ToolEvent) -> None:
        asked = self._asked.get(event.id)
        if asked is None or asked.call.function != event.function:
            asked = _Asked(None, ToolCall(event.id, event.function, event.arguments))
        trace = self._traces.by_event.get(event.uuid or "", CallTrace())
        if decided := self._approved.get(event.id):
            trace.approved = decided.popleft()
        answer = None if event.pending else _answer(event)
        kind: ErrorKind | None = "limit" if event.pending else error_kind(answer, trace)
        number = self._recorder.next
        step = act_step(
            number,
            asked.call,
            asked.position or (0, 0),
            trace,
            Stopwatch(),
            raw=asked.raw,
            error_kind=kind,
            answer=answer,
            digest=trace.digest,
        )
        began, seconds = _clock(event)
        if trace.result is not None:
            seconds = trace.result.duration_s
        elif seconds is not None and trace.approved is not None:
            seconds = max(0.0, seconds - trace.approved.waited_s)
        if asked.position is None:
            step = dataclasses.replace(step, parent_step=None, think_step=None, call_index=None)
        self._recorder.add(dataclasses.replace(step, started_at=began, duration_s=seconds))
        if trace.span is not None:
            trace.span.steps.append(number)
        elif trace.ended is None:
            missed(number)
        if trace.copied is not None:
            trace.copied.step = number
        call_events(self._recorder, trace, number)


def _is_answer(event: Event) -> bool:
    return isinstance(event, ModelEvent) and not event.pending and event.error is None and event.role is None


def _answer(event: ToolEvent) -> ChatMessageTool:
    result = event.result
    content = (
        result if isinstance(result, str) else str(result) if isinstance(result, int | float | bool) else None
    )
    if content is None:
        content = list(result) if isinstance(result, list) else [result]
    return ChatMessageTool(
        content=content,  # pyright: ignore[reportArgumentType]  the same parts, of a narrower list
        tool_call_id=event.id,
        function=event.function,
        error=event.error,
    )


def _clock(event: ModelEvent | ToolEvent) -> tuple[datetime, float | None]:
    if event.completed is None:
        return event.timestamp, None
    return event.timestamp, max(0.0, (event.completed - event.timestamp).total_seconds())
