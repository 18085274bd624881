"""How does a conversation of tau2-bench become the agent's steps?

The simulated user has tools of its own. What it does with them the agent does not see, so that each of its calls is an
`intervention` with its result. The fixed greeting is one too: no model said it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from evalkit.convert.arguments import parsed_arguments
from evalkit.convert.chat_steps import add_assistant
from evalkit.convert.content import text_of
from evalkit.convert.generation import chat_blocks
from evalkit.convert.notes import Notes
from evalkit.convert.open_calls import OpenCalls
from evalkit.convert.reported import between, dollars, moment, tokens
from evalkit.convert.steps import Steps
from evalkit.convert.tau2_ticks import messages_in
from evalkit.models.usage import Usage
from evalkit.models.wire.blocks import thinking_in
from evalkit.models.wire.json_values import (
    as_list,
    as_object,
    canonical,
    decode,
    is_object,
    objects_in,
    text_in,
)
from evalkit.models.wire.usage_fields import anthropic_usage, chat_usage
from evalkit.trajectory.step import Step

_THOUGHTS = ("thinking_blocks", "reasoning_details", "reasoning_content", "reasoning")


def steps_of(simulation: Mapping[str, object], notes: Notes) -> tuple[Step, ...]:
    """The steps of one simulation, from its messages, or where it has none, from its ticks."""
    messages: Iterable[object] = as_list(simulation.get("messages"))
    in_ticks = not messages and bool(as_list(simulation.get("ticks")))
    if in_ticks:
        notes.warn("messages of simulations in full duplex are put together from what was said in each tick")
        messages = messages_in(simulation["ticks"])
    talk = _Talk(notes, in_ticks=in_ticks)
    for message in messages:
        if is_object(message):
            talk.add(message)
        else:
            notes.warn("messages that are no objects are left out")
    return talk.steps.done()


class _Talk:
    """A conversation, as far as it is read."""

    def __init__(self, notes: Notes, *, in_ticks: bool = False) -> None:
        self.steps = Steps(notes)
        self._notes = notes
        self._in_ticks = in_ticks
        """Messages bear the time at which they begin, and nobody has a fixed greeting."""
        self._said = False
        """Whether the agent's model has said anything yet."""
        self._before: datetime | None = None
        """When the message before was made."""
        self._by_user = OpenCalls()
        self._told: dict[int, dict[str, object]] = {}
        """What is known of the user's calls, by the number of their event."""

    def add(self, message: Mapping[str, object]) -> None:
        """Add one message."""
        role, at = text_in(message.get("role")), moment(message.get("timestamp"), self._notes)
        if role == "assistant":
            self._assistant(message, at)
        elif role == "tool":
            for result in objects_in(message.get("tool_messages")) or [message]:
                self._result(result, at)
        elif role == "system":
            self.steps.prompt("system", text_of(message.get("content")), at=at)
        else:
            self._user(message, at)
        self._before = at or self._before

    def _assistant(self, message: Mapping[str, object], at: datetime | None) -> None:
        raw = _raw(message)
        text, calls = text_of(message.get("content")), objects_in(message.get("tool_calls"))
        no_model = not (message.get("usage") or message.get("cost") or raw or calls)
        if not self._said and no_model and text and not self._in_ticks:
            self.steps.event(
                "intervention", canonical({"role": "assistant", "by": "harness", "text": text}), at=at
            )
            return
        self._said = True
        refused = [text_of(error) for error in as_list(message.get("errors"))]
        if refused:
            self._notes.warn("messages that the harness refused and asked for anew are kept as events")
            self.steps.event("error", canonical({"refused": refused}) or None, at=self._before)
        spoken = {
            **_thoughts(raw, message),
            "content": message.get("content"),
            "tool_calls": [_call(call) for call in calls],
        }
        usage = _usage(message, raw, thinking_in(chat_blocks(spoken)), self._notes)
        add_assistant(
            self.steps,
            spoken,
            usage,
            cost_usd=_cost(message, usage, self._notes),
            finish_reason=text_in(raw.get("finish_reason")) or text_in(raw.get("stop_reason")),
            model_served=text_in(raw.get("model")),
            started_at=at if self._in_ticks else self._before or at,
            duration_s=None if self._in_ticks else between(self._before, at, self._notes),
            retries=len(refused) or None,
        )

    def _user(self, message: Mapping[str, object], at: datetime | None) -> None:
        text, calls = text_of(message.get("content")), objects_in(message.get("tool_calls"))
        if text or not calls:
            self.steps.prompt("user", text, at=at)
        for call in calls:
            canonical_arguments, raw = parsed_arguments(call.get("arguments"))
            told: dict[str, object] = {
                "role": "user",
                "tool": text_in(call.get("name")),
                "arguments": raw if canonical_arguments is None else decode(canonical_arguments),
            }
            number = self.steps.event("intervention", canonical(told) or None, at=at)
            self._by_user.add(number, text_in(call.get("id")))
            self._told[number] = told

    def _result(self, result: Mapping[str, object], at: datetime | None) -> None:
        called, text = text_in(result.get("id")), text_of(result.get("content"))
        if result.get("requestor") == "user":
            self._user_result(called, {"result": text, "error": bool(result.get("error"))}, at)
            return
        self.steps.result(
            called,
            text,
            tool=text_in(result.get("name")),
            error_kind="unknown" if result.get("error") else None,
        )

    def _user_result(self, called: str | None, told: dict[str, object], at: datetime | None) -> None:
        number = self._by_user.take(called)
        if number is None:
            self._notes.warn("a result of no known call of the user's is kept without one")
            self.steps.event("intervention", canonical({"role": "user", **told}) or None, at=at)
            return
        self.steps.change(number, detail=canonical({**self._told[number], **told}) or None)


def _raw(message: Mapping[str, object]) -> Mapping[str, object]:
    """What the provider sent: a message, a choice, or a whole completion, of which it is the first choice."""
    raw = as_object(message.get("raw_data"))
    choice = next(iter(objects_in(raw.get("choices"))), None)
    return raw if choice is None else {**raw, **choice}


def _call(call: Mapping[str, object]) -> dict[str, object]:
    """A call in OpenAI's form."""
    return {
        "id": call.get("id"),
        "function": {"name": call.get("name"), "arguments": call.get("arguments")},
    }


def _thoughts(raw: Mapping[str, object], message: Mapping[str, object]) -> dict[str, Any]:
    """The thinking, wherever a provider's response or the harness has put it."""
    found: dict[str, Any] = {}
    for place in (message, raw, as_object(raw.get("message"))):
        found.update({name: place[name] for name in _THOUGHTS if place.get(name) and name not in found})
    return found


def _usage(
    message: Mapping[str, object], raw: Mapping[str, object], thinking_shown: bool, notes: Notes
) -> Usage | None:
    """The counts of the raw response, which tell caches apart, where they come to those of the message."""
    reported, detailed = as_object(message.get("usage")), as_object(raw.get("usage"))
    fuller: Usage | None = None
    if detailed:
        read = chat_usage if "prompt_tokens" in detailed else anthropic_usage
        fuller = read(detailed, thinking_shown=thinking_shown)
    if not reported:
        return fuller
    named = {name: tokens(reported.get(name), notes) for name in ("prompt_tokens", "completion_tokens")}
    own = chat_usage({**reported, **named}, thinking_shown=thinking_shown)
    if fuller is None:
        return own
    if _sums(fuller) == _sums(own):
        return fuller
    notes.warn("a message's usage is not that of its raw response; the message's own counts")
    return own


def _sums(usage: Usage) -> tuple[int | None, int | None]:
    read = usage.input_tokens
    if read is not None:
        read += (usage.cache_read_tokens or 0) + (usage.cache_write_tokens or 0)
    return read, usage.output_tokens


def _cost(message: Mapping[str, object], usage: Usage | None, notes: Notes) -> float | None:
    """What a message cost. 0 is what the harness writes where it knows no price."""
    cost = dollars(message.get("cost"), notes)
    if cost == 0:
        if usage is not None:
            notes.warn("a cost of 0 for a generation is an unknown cost")
        return None
    return cost
