"""How does the agent loop go? Query, execute, repeat, until the agent ends it or a limit does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from inspect_ai.log import transcript
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelOutput,
)
from inspect_ai.tool import Tool
from inspect_ai.util import LimitExceededError

from evalkit.engine.agent_clock import AgentClock
from evalkit.engine.answer import refusal_in
from evalkit.engine.attempts import Attempts
from evalkit.engine.calls import run_call
from evalkit.engine.generation import facts_about, think_step
from evalkit.engine.inspect_thinking import latest_call, levels_of_failed, seen
from evalkit.engine.limits import AgentLimits, note_spent, tokens_spent
from evalkit.engine.recorder import Recorder
from evalkit.engine.spending import Spending
from evalkit.engine.traces import Ending
from evalkit.errors import ModelError
from evalkit.models.budget import Spent
from evalkit.models.failure import SentDiffers
from evalkit.sandbox.protocol import Sandbox
from evalkit.trajectory.canonical import canonical_json
from evalkit.trajectory.trial import StopReason

SYSTEM = """\
You work on a task in a sandboxed Linux machine, through tool calls only. There is no network unless the
task says so. Look before you change things, check your work, and call `submit` when the task is done.
If the task cannot be done as it stands, call `report_impossible` and say why."""

NUDGE = "There was no tool call. Go on with the task, or call `submit` if it is done."

MAX_SILENT = 3
"""Generations in a row without a tool call after which the agent has given up."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the agent's part of a trial ended."""

    stop_reason: StopReason
    ending: Ending | None = None


@dataclass(frozen=True, slots=True)
class LoopInput:
    """All that an agent loop gets."""

    instruction: str
    model: Model
    tools: tuple[Tool, ...]
    sandbox: Sandbox
    recorder: Recorder
    limits: AgentLimits
    config: GenerateConfig
    clock: AgentClock
    spending: Spending
    messages: list[ChatMessage] = field(default_factory=list[ChatMessage])
    """What was said before, which grows."""
    strike: Callable[[Sequence[Tool]], Sequence[Tool]] | None = None
    """What tools of the user's own go through where a fault is planned."""


async def react(given: LoopInput) -> Outcome:
    """The default loop: one generation, then its tool calls one after the other, again and again."""
    recorder, messages = given.recorder, given.messages
    if not messages:
        _tell(messages, recorder, ChatMessageSystem(content=SYSTEM))
    _answer_open_calls(messages)
    _tell(messages, recorder, ChatMessageUser(content=given.instruction))
    silent = 0
    while (reached := given.limits.reached(recorder)) is None:
        try:
            output = await _generate(given, messages)
        except Spent as spent:
            reached = note_spent(recorder, spent)
            break
        if output.empty:
            raise ModelError("the model returned no choice at all")
        messages.append(output.message)
        if output.stop_reason == "content_filter":
            return Outcome("refused")
        if output.stop_reason == "model_length":
            return Outcome("context_limit")
        if not output.message.tool_calls:
            silent += 1
            if silent == MAX_SILENT:
                return Outcome("gave_up")
            _tell(messages, recorder, ChatMessageUser(content=NUDGE))
            continue
        silent = 0
        ending = await _act(given, messages, output.message)
        if ending is not None:
            return Outcome("gave_up" if ending.impossible else "submitted", ending)
    else:
        recorder.event("limit", canonical_json({"limit": reached, "tokens": tokens_spent(recorder)}))
    return Outcome(reached)


def _answer_open_calls(messages: list[ChatMessage]) -> None:
    """Give every call a result that was left without, as a conversation cannot go on otherwise."""
    answered = {message.tool_call_id for message in messages if isinstance(message, ChatMessageTool)}
    calls = [
        call
        for message in messages
        if isinstance(message, ChatMessageAssistant)
        for call in message.tool_calls or ()
        if call.id not in answered
    ]
    messages.extend(
        ChatMessageTool(content="not run", tool_call_id=call.id, function=call.function) for call in calls
    )


def _tell(
    messages: list[ChatMessage], recorder: Recorder, message: ChatMessageSystem | ChatMessageUser
) -> None:
    messages.append(message)
    recorder.prompt(message.role, message.text)


async def _generate(given: LoopInput, messages: list[ChatMessage]) -> ModelOutput:
    attempts = Attempts(given.clock, given.recorder, given.spending)
    begin = len(transcript().events)
    with attempts.counted():
        try:
            output = await given.model.generate(messages, tools=list(given.tools), config=given.config)
        except LimitExceededError:
            raise
        except Exception as error:
            _note_failed(given, begin)
            raise attempts.failure(error, str(given.model)) from error
        attempts.answered(output, _retries_told())
    refusal = refusal_in(output)
    if refusal is not None:
        detail = {"refused": output.stop_reason, "message": refusal}
        given.recorder.event("limit", canonical_json(detail))
        return output
    _note_failed(given, begin)
    try:
        facts = seen(facts_about(output, given.spending.price), latest_call(), given.spending.wire)
    except SentDiffers as failure:
        given.spending.note_level(failure.sent)
        raise
    given.spending.add(facts)
    given.recorder.add(
        think_step(given.recorder.next, messages, output, facts, attempts.watch, retries=attempts.failed)
    )
    return output


def _note_failed(given: LoopInput, begin: int) -> None:
    """Take down what failed attempts asked for. Raises SentDiffers where that was another level than is asked for."""
    try:
        for level in levels_of_failed(begin, given.spending.wire):
            given.spending.note_level(level)
    except SentDiffers as failure:
        given.spending.note_level(failure.sent)
        raise


def _retries_told() -> int | None:
    """How often the provider's own client tried again for the latest answer, by Inspect's event."""
    latest = latest_call()
    return latest.retries if latest else None


async def _act(given: LoopInput, messages: list[ChatMessage], asked: ChatMessageAssistant) -> Ending | None:
    think = given.recorder.next - 1
    for index, call in enumerate(asked.tool_calls or ()):
        done = await run_call(
            given.tools, given.sandbox, given.recorder, asked=asked, call=call, position=(think, index)
        )
        messages.extend(done.messages)
        if done.ending is not None:
            return done.ending
    return None
