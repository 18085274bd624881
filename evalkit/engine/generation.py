"""How does one of Inspect's model outputs become a `think` step?"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from inspect_ai.model import (
    ChatMessage,
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
from evalkit.models.think_tags import split_inline
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
    said = _said(_content_of(output))
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
        thinking_shown=any(map(_shows, _content_of(output) or ())),
    )
    cost = cost_of(price, counted)
    return Facts(
        usage=counted,
        raw_usage=usage.model_dump(exclude_none=True),
        cost_usd=cost.usd,
        price_source=cost.source,
    )


def _content_of(output: ModelOutput) -> list[Content] | None:
    """What an output holds, in order; None for an output without any choice.

    Our own providers have taken think tags out of the text; of what those of Inspect's leave in it they count where no
    thinking came on its own.
    """
    if not output.choices:
        return None
    told = output.message.content
    content: list[Content] = [ContentText(text=told)] if isinstance(told, str) else list(told)
    if facts_of(output.metadata) is not None or any(isinstance(part, ContentReasoning) for part in content):
        return content
    text = "".join(part.text for part in content if isinstance(part, ContentText))
    thought, answer = split_inline(text)
    if thought is None:
        return content
    others = [part for part in content if not isinstance(part, ContentText)]
    return [ContentReasoning(reasoning=thought), ContentText(text=answer), *others]


def _shows(part: Content) -> bool:
    """Whether thinking came back, readable or not, so that a count of 0 is none."""
    if not isinstance(part, ContentReasoning):
        return False
    return bool(part.reasoning.strip() or part.summary or part.signature or part.redacted)


def _visibility(shown: ReasoningVisibility, usage: Usage) -> ReasoningVisibility:
    """Where no reasoning is shown, its count tells whether there was any; without a count nobody knows."""
    if shown != "none" or usage.reasoning_tokens == 0:
        return shown
    return "unknown" if usage.reasoning_tokens is None else "count_only"


def _said(content: Sequence[Content] | None) -> _Said:
    if content is None:
        return _Said(reasoning=None, text="", visibility="unknown", blocks=None)
    thoughts = [part for part in content if isinstance(part, ContentReasoning)]
    text = "".join(part.text for part in content if isinstance(part, ContentText))
    if not thoughts:
        return _Said(reasoning=None, text=text, visibility="none", blocks=None)
    shown = [part.summary if part.redacted else part.reasoning for part in thoughts]
    visibility: ReasoningVisibility = "full"
    if all(part.redacted for part in thoughts):
        visibility = "summary" if any(part.summary for part in thoughts) else "encrypted"
    reasoning = "\n\n".join(part for part in shown if part) or None
    blocks = canonical_json([_block(part) for part in content])
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
