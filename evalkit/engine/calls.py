"""How is one tool call executed and recorded?"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import anyio
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageTool, execute_tools
from inspect_ai.tool import Tool, ToolCall
from inspect_ai.util import LimitExceededError

from evalkit.engine.answer import raw_arguments
from evalkit.engine.checkpoints import look_after
from evalkit.engine.effects.attribution import look, missed
from evalkit.engine.recorder import Recorder, Stopwatch
from evalkit.engine.traces import CallTrace, Ending, current_call
from evalkit.errors import EvalkitError, TaskError
from evalkit.sandbox.protocol import Sandbox
from evalkit.trajectory.canonical import canonical_json
from evalkit.trajectory.inspect_words import ERROR_KINDS
from evalkit.trajectory.step import Act, ErrorKind

_UNCUT = 1 << 40
"""Inspect must not cut what our own tools have already cut as their settings say."""


@dataclass(frozen=True, slots=True)
class Done:
    """What came of one call."""

    messages: tuple[ChatMessage, ...]
    ending: Ending | None


async def run_call(
    tools: Sequence[Tool],
    sandbox: Sandbox,
    recorder: Recorder,
    *,
    asked: ChatMessageAssistant,
    call: ToolCall,
    position: tuple[int, int],
) -> Done:
    """Execute one call of a generation and record it, also when a limit cuts it off.

    Calls are keyed by position (generation, index): ids are not unique in the wild.
    """
    watch, trace = Stopwatch(), CallTrace()
    token = current_call.set(trace)
    call, raw = _checked(call), raw_arguments(asked, position[1])
    alone = asked.model_copy(update={"tool_calls": [call]})
    try:
        executed = await execute_tools([alone], tools, max_output=_UNCUT)
    except anyio.get_cancelled_exc_class():
        number = recorder.next
        recorder.add(act_step(number, call, position, trace, watch, raw=raw, error_kind="limit"))
        missed(number)
        call_events(recorder, trace, number)
        raise
    except Exception as error:  # a tool of the user's own that fails, which Inspect lets through
        missed(recorder.next)
        recorder.add(act_step(recorder.next, call, position, trace, watch, raw=raw, error_kind="unknown"))
        if isinstance(error, EvalkitError | LimitExceededError):
            raise
        said = f"{type(error).__name__}: {error}"
        raise TaskError(
            f"the tool {call.function} failed: {said}", hint="It is no tool of evalkit's. Repair it."
        ) from error
    finally:
        current_call.reset(token)
    answer = next((m for m in executed.messages if isinstance(m, ChatMessageTool)), None)
    kind = error_kind(answer, trace)
    digest = await sandbox.workspace_digest() if trace.result is not None else None
    number = recorder.next
    recorder.add(
        act_step(number, call, position, trace, watch, raw=raw, error_kind=kind, answer=answer, digest=digest)
    )
    call_events(recorder, trace, number)
    if trace.ended is None and (span := await look(digest)) is not None:
        span.steps.append(number)
    if trace.ended is None and trace.result is not None and (copied := await look_after(digest)) is not None:
        copied.step = number
    return Done(tuple(executed.messages), trace.ended)


def _checked(call: ToolCall) -> ToolCall:
    """The call itself, or one that Inspect answers with an error where its arguments are no JSON (NaN, too deep)."""
    if call.parse_error is None and _json(call) is None:
        return dataclasses.replace(call, arguments={}, parse_error="The arguments are not valid JSON.")
    return call


def _json(call: ToolCall) -> str | None:
    try:
        return canonical_json(call.arguments)
    except ValueError:
        return None


def act_step(
    number: int,
    call: ToolCall,
    position: tuple[int, int],
    trace: CallTrace,
    watch: Stopwatch,
    *,
    raw: str | None = None,
    error_kind: ErrorKind | None,
    answer: ChatMessageTool | None = None,
    digest: str | None = None,
) -> Act:
    """One call as a step. Arguments that did not parse are kept as they came."""
    result = trace.result
    arguments = _json(call)
    return Act(
        step=number,
        parent_step=position[0],
        started_at=watch.started_at,
        duration_s=result.duration_s if result else _own_s(watch, trace),
        think_step=position[0],
        call_index=position[1],
        tool=call.function,
        arguments=None if call.parse_error else arguments,
        arguments_raw=(arguments if raw is None else raw) if call.parse_error else None,
        observation=_shown(answer),
        stdout=result.stdout.escaped if result else None,
        stderr=result.stderr.escaped if result else None,
        stdout_bytes=result.stdout.total if result else None,
        stderr_bytes=result.stderr.total if result else None,
        stdout_truncated=result.stdout.truncated if result else None,
        stderr_truncated=result.stderr.truncated if result else None,
        exit_code=result.exit_code if result else None,
        error_kind=error_kind,
        fault_id=trace.strike.fault.id if trace.strike and trace.strike.visible else None,
        approval=trace.approved.text if trace.approved else None,
        workspace_digest=digest,
    )


def _own_s(watch: Stopwatch, trace: CallTrace) -> float:
    """Without the time in which somebody was asked."""
    return max(0.0, watch.seconds - (trace.approved.waited_s if trace.approved else 0.0))


def _shown(answer: ChatMessageTool | None) -> str | None:
    if answer is None:
        return None
    if answer.error is not None:
        return answer.error.message
    return answer.text


def error_kind(answer: ChatMessageTool | None, trace: CallTrace) -> ErrorKind | None:
    """What kept a call from doing what it was asked for; None for one that went through."""
    if trace.strike is not None and trace.strike.error_kind is not None:
        return trace.strike.error_kind
    result = trace.result
    if result is not None and (result.timed_out or result.shell_lost or result.over_limit):
        return "timeout" if result.timed_out else "sandbox" if result.shell_lost else "limit"
    if trace.refused:
        return "parsing"
    if answer is not None and answer.error is not None:
        return ERROR_KINDS.get(answer.error.type, "unknown")
    return None


def call_events(recorder: Recorder, trace: CallTrace, act: int) -> None:
    """Record what happened beside a call, after its step."""
    result = trace.result
    if trace.approved is not None and not trace.approved.is_plain:
        recorder.event("approval", canonical_json(trace.approved.parts), parent=act)
    if trace.strike is not None:
        recorder.event("fault", trace.strike.detail, parent=act)
    if result is not None and result.late:
        recorder.event("background_output", canonical_json({"text": result.late}), parent=act)
    if result is not None and result.shell_lost:
        recorder.event("shell_lost", canonical_json({"restarted": True}), parent=act)
    if trace.ended is not None:
        detail = {"impossible": trace.ended.impossible, "answer": trace.ended.answer}
        recorder.event("submit", canonical_json(detail), parent=act)
