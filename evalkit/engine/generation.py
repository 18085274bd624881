"""How does one of Inspect's model outputs become a `think` step?"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    Content,
    ContentReasoning,
    ContentText,
    ModelOutput,
)

from evalkit.engine.answer import Facts, facts_of
from evalkit.engine.recorder import Stopwatch
from evalkit.models.prices import cost_of
from evalkit.models.rates import Price
from evalkit.models.reconcile import reconcile
from evalkit.models.usage import Usage
from evalkit.trajectory.canonical import canonical_json
from evalkit.trajectory.step import Think
from evalkit.trajectory.trial import ReasoningVisibility


@dataclass(frozen=True, slots=True)
class _Said:
    reasoning: str | None
    text: str
    visibility: ReasoningVisibility
    blocks: str | None


def think_step(
    number: int,
    messages: Sequence[ChatMessage],
    output: ModelOutput,
    facts: Facts,
    watch: Stopwatch,
    *,
    retries: int | None,
) -> Think:
    """Record one generation. Counts that the provider did not report stay None."""
    usage = facts.usage or Usage()
    said = _said(output.message if output.choices else None)
    return Think(
        step=number,
        started_at=watch.started_at,
        duration_s=watch.seconds,
        reasoning=said.reasoning,
        reasoning_tokens=usage.reasoning_tokens,
        reasoning_visibility=_visibility(said.visibility, usage),
        text=said.text,
        output_tokens=usage.output_tokens,
        input_tokens=usage.input_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        cost_usd=facts.cost_usd,
        finish_reason=output.stop_reason if output.choices else None,
        model_served=output.model or None,
        request_digest=_request_digest(messages),
        retries=retries,
        blocks=canonical_json(list(facts.blocks)) if facts.blocks and said.blocks else said.blocks,
    )


def facts_about(output: ModelOutput, price: Price | None) -> Facts:
    """What our own providers say about their answer; about an answer of Inspect's own, what Inspect's usage says."""
    said = facts_of(output.metadata)
    if said is not None:
        return said
    usage = output.usage
    if usage is None:
        return Facts(usage=None)
    counted = reconcile(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        reasoning_tokens=usage.reasoning_tokens,
        cache_read_tokens=usage.input_tokens_cache_read,
        cache_write_tokens=usage.input_tokens_cache_write,
        total_tokens=usage.total_tokens or None,
        cache_in_input=False,
        thinking_shown=_is_thinking_shown(output),
    )
    cost = cost_of(price, counted)
    return Facts(
        usage=counted,
        raw_usage=usage.model_dump(exclude_none=True),
        cost_usd=cost.usd,
        price_source=cost.source,
    )


def _is_thinking_shown(output: ModelOutput) -> bool:
    """Whether thinking came back, so that a count of 0 is none."""
    content = output.message.content if output.choices else ""
    return not isinstance(content, str) and any(
        isinstance(part, ContentReasoning) and bool((part.reasoning or part.summary or "").strip())
        for part in content
    )


def _visibility(shown: ReasoningVisibility, usage: Usage) -> ReasoningVisibility:
    """Where no reasoning is shown, its count tells whether there was any; without a count nobody knows."""
    if shown != "none" or usage.reasoning_tokens == 0:
        return shown
    return "unknown" if usage.reasoning_tokens is None else "count_only"


def _said(message: ChatMessageAssistant | None) -> _Said:
    if message is None:
        return _Said(reasoning=None, text="", visibility="unknown", blocks=None)
    if isinstance(message.content, str):
        return _Said(reasoning=None, text=message.content, visibility="none", blocks=None)
    thoughts = [part for part in message.content if isinstance(part, ContentReasoning)]
    text = "".join(part.text for part in message.content if isinstance(part, ContentText))
    if not thoughts:
        return _Said(reasoning=None, text=text, visibility="none", blocks=None)
    shown = [part.summary if part.redacted else part.reasoning for part in thoughts]
    visibility: ReasoningVisibility = "full"
    if all(part.redacted for part in thoughts):
        visibility = "summary" if any(part.summary for part in thoughts) else "encrypted"
    reasoning = "\n\n".join(part for part in shown if part) or None
    blocks = canonical_json([_block(part) for part in message.content])
    return _Said(reasoning=reasoning, text=text, visibility=visibility, blocks=blocks)


def _block(part: Content) -> dict[str, object]:
    if isinstance(part, ContentReasoning):
        return {
            "type": "reasoning",
            "reasoning": part.reasoning,
            "summary": part.summary,
            "signature": part.signature,
            "redacted": part.redacted,
        }
    if isinstance(part, ContentText):
        return {"type": "text", "text": part.text}
    return {"type": part.type}


def _request_digest(messages: Sequence[ChatMessage]) -> str:
    """sha256 over the role and text of every message sent: equal requests have equal digests."""
    sent = [[message.role, message.text] for message in messages]
    return hashlib.sha256(canonical_json(sent).encode("utf-8", "replace")).hexdigest()
