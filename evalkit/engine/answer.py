"""How does an endpoint's answer become one of Inspect's model outputs, with all that the record needs?"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    Content,
    ContentReasoning,
    ContentText,
    ModelOutput,
    ModelUsage,
    StopReason,
)
from inspect_ai.tool import ToolCall

from evalkit.engine.wire_messages import SAID, WIRE, said
from evalkit.models.blocks_json import blocks_as_json
from evalkit.models.endpoint import Completion
from evalkit.models.giving_back import NO_CONTENT
from evalkit.models.reading import Block, Call, Finish, Reading, Reasoning, Text
from evalkit.models.responses_input import ITEMS
from evalkit.models.usage import Usage

FACTS = "evalkit"
"""Under which key of an output's metadata the facts for the record are."""
REFUSED = "evalkit_refused"
"""Under which key of an output's metadata it says that nothing was generated, and why."""
RAW = "evalkit_raw_arguments"
"""Under which key of a message's metadata it says what the model wrote where that did not parse."""
_QUOTED = 1000
"""Characters of malformed arguments that the model is shown again."""
_SAYING = ("content", "reasoning_content", "reasoning", "reasoning_details", ITEMS)
_NO_NAME = re.compile(r"[^A-Za-z0-9_-]")
_STOP: Mapping[Finish, StopReason] = {
    "stop": "stop",
    "tool_calls": "tool_calls",
    "length": "max_tokens",
    "context_length": "model_length",
    "content_filter": "content_filter",
    "unknown": "unknown",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the record wants to know of a generation beyond Inspect's own output."""

    usage: Usage | None
    raw_usage: Mapping[str, object] | None = None
    cost_usd: float | None = None
    price_source: str | None = None
    blocks: Sequence[Mapping[str, object]] = ()
    """Reasoning, text and calls in the order in which they were made."""
    thinking_sent: str | None = None
    """The level of thinking that the request asked for, read from its body; None where nobody saw it."""

    def as_metadata(self) -> dict[str, Any]:
        """For an output's metadata, as JSON values."""
        return {FACTS: asdict(self)}


def facts_of(metadata: Mapping[str, Any] | None) -> Facts | None:
    """The facts that an output or its message carries; None where it came from elsewhere."""
    kept = (metadata or {}).get(FACTS)
    if not isinstance(kept, dict):
        return None
    fields = dict(cast("dict[str, Any]", kept))
    usage = fields.pop("usage")
    return Facts(usage=None if usage is None else Usage(**usage), **fields)


def refusal_in(output: ModelOutput) -> str | None:
    """What the endpoint said where it generated nothing, because the conversation is at its end; None for an answer."""
    said = (output.metadata or {}).get(REFUSED)
    return said if isinstance(said, str) else None


def raw_arguments(message: ChatMessageAssistant, index: int) -> str | None:
    """What the model wrote as the arguments of a call, where it did not parse; None where it did."""
    raw = (message.metadata or {}).get(RAW)
    return cast("dict[str, str]", raw).get(str(index)) if isinstance(raw, dict) else None


def output_of(
    completion: Completion, *, model: str, cost_usd: float | None, price_source: str | None
) -> ModelOutput:
    """The output for Inspect. Counts that nobody reported are 0 in Inspect's own usage, and None in ours."""
    reading = completion.reading
    calls = _calls(reading, completion.invalid_calls)
    raw = {str(index): call.raw for index, call in enumerate(calls) if call.raw is not None}
    facts = Facts(
        usage=reading.usage,
        raw_usage=reading.raw_usage,
        cost_usd=cost_usd,
        price_source=price_source,
        blocks=blocks_as_json(reading.blocks),
        thinking_sent=completion.thinking_sent,
    )
    message = ChatMessageAssistant(
        content=[part for block in reading.blocks if (part := _content(block)) is not None],
        tool_calls=[call.call for call in calls] or None,
        model=reading.model_served or model,
        source="generate",
    )
    wire = _with_ids(completion.message, calls)
    message.metadata = {WIRE: wire, SAID: said(message), RAW: raw}
    return ModelOutput(
        model=reading.model_served or "",
        choices=[ChatCompletionChoice(message=message, stop_reason=_STOP[reading.finish])],
        usage=_inspect_usage(reading.usage),
        metadata=facts.as_metadata(),
    )


@dataclass(frozen=True, slots=True)
class _Asked:
    call: ToolCall
    raw: str | None
    """What the model wrote, where it cannot be executed."""


def _calls(reading: Reading, invalid: Mapping[int, str]) -> list[_Asked]:
    asked = [block for block in reading.blocks if isinstance(block, Call)]
    times = Counter(call.id for call in asked)
    calls: list[_Asked] = []
    for index, call in enumerate(asked):
        unique = call.id if call.id and times[call.id] == 1 else f"{call.id or 'call'}-{index}"
        calls.append(_parsed(call, unique, invalid.get(index)))
    return calls


def _parsed(call: Call, identity: str, invalid: str | None) -> _Asked:
    problem, arguments = invalid, None
    if not call.tool:
        problem = "The call names no tool."
    if problem is None:
        try:
            arguments = json.loads(call.arguments or "{}", parse_constant=_refused)
        except (ValueError, RecursionError) as error:
            problem = f"The arguments are not valid JSON ({str(error)[:200]})."
        else:
            if not isinstance(arguments, dict):
                problem = "The arguments are no JSON object."
    if problem is None:
        return _Asked(ToolCall(identity, call.tool, cast("dict[str, Any]", arguments)), None)
    told = f"{problem} Nothing was run. You wrote: {call.arguments[:_QUOTED]}"
    return _Asked(ToolCall(identity, call.tool, {}, parse_error=told), call.arguments)


def _refused(constant: str) -> object:
    raise ValueError(f"{constant} is not JSON")


def _with_ids(message: Mapping[str, object], calls: Sequence[_Asked]) -> dict[str, object]:
    """The message to give back: each call under the id that its result will name.

    Many servers refuse the whole conversation for what a model wrote in it: so arguments that do not parse become an
    empty object, names get characters that names can have, and an answer without anything in it says so.
    """
    kept = message.get("tool_calls")
    if not calls and not any(message.get(part) for part in _SAYING):
        return {**message, "content": NO_CONTENT}
    if not isinstance(kept, list) or len(cast("list[object]", kept)) != len(calls):
        return dict(message)
    given: list[dict[str, Any]] = []
    for asked, old in zip(calls, cast("list[object]", kept), strict=True):
        fields = dict(cast("Mapping[str, Any]", old)) if isinstance(old, dict) else {}
        function = dict(cast("Mapping[str, Any]", fields.get("function") or {}))
        function["name"] = _NO_NAME.sub("_", str(function.get("name") or "unnamed"))[:64]
        if asked.raw is not None:
            function["arguments"] = "{}"
        given.append({**fields, "id": asked.call.id, "function": function})
    return {**message, "tool_calls": given}


def _content(block: Block) -> Content | None:
    if isinstance(block, Text):
        return ContentText(text=block.text)
    if not isinstance(block, Reasoning):
        return None
    hidden = block.opaque is not None or block.is_summary
    return ContentReasoning(
        reasoning=(block.opaque or "") if hidden else (block.text or ""),
        summary=block.text if hidden else None,
        signature=block.signature,
        redacted=hidden,
    )


def _inspect_usage(usage: Usage | None) -> ModelUsage | None:
    """Inspect has no unknown counts; it only uses these for its own log and limits."""
    if usage is None:
        return ModelUsage()
    read, written = usage.cache_read_tokens, usage.cache_write_tokens
    counts = (usage.input_tokens, usage.output_tokens, read, written)
    return ModelUsage(
        input_tokens=usage.input_tokens or 0,
        output_tokens=usage.output_tokens or 0,
        total_tokens=sum(count or 0 for count in counts),
        input_tokens_cache_read=read,
        input_tokens_cache_write=written,
        reasoning_tokens=usage.reasoning_tokens,
    )
