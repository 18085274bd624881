"""Where does each dialect keep its token counts?"""

from __future__ import annotations

from collections.abc import Mapping

from evalkit.models.reconcile import cost, count, reconcile
from evalkit.models.usage import Usage
from evalkit.models.wire.json_values import as_object

Raw = Mapping[str, object]


def chat_usage(raw: Raw, *, thinking_shown: bool) -> Usage:
    """OpenAI chat completions and everything alike: cache inside the input, thinking inside the output."""
    prompt = as_object(raw.get("prompt_tokens_details") or raw.get("input_tokens_details"))
    completion = as_object(raw.get("completion_tokens_details") or raw.get("output_tokens_details"))
    return reconcile(
        input_tokens=_first(raw, "prompt_tokens", "input_tokens"),
        output_tokens=_first(raw, "completion_tokens", "output_tokens"),
        reasoning_tokens=_either(
            count(completion.get("reasoning_tokens")), count(raw.get("reasoning_tokens"))
        ),
        cache_read_tokens=_either(
            count(prompt.get("cached_tokens")),
            _first(raw, "prompt_cache_hit_tokens", "cached_tokens", "cache_read_input_tokens"),
        ),
        cache_write_tokens=_either(
            _first(prompt, "cache_write_tokens", "cache_creation_tokens"),
            count(raw.get("cache_creation_input_tokens")),
        ),
        total_tokens=count(raw.get("total_tokens")),
        thinking_shown=thinking_shown,
        reported_cost_usd=_reported_cost(raw),
    )


def responses_usage(raw: Raw, *, thinking_shown: bool) -> Usage:
    """OpenAI Responses: the same conventions under other names."""
    return chat_usage(raw, thinking_shown=thinking_shown)


def anthropic_usage(raw: Raw, *, thinking_shown: bool) -> Usage:
    """Anthropic: no total, caches outside the input, thinking inside the output and only lately split off.

    What an advisor or another model called inside spent is not in these numbers; it is in `iterations` of the raw ones.
    """
    return reconcile(
        input_tokens=count(raw.get("input_tokens")),
        output_tokens=count(raw.get("output_tokens")),
        reasoning_tokens=count(as_object(raw.get("output_tokens_details")).get("thinking_tokens")),
        cache_read_tokens=count(raw.get("cache_read_input_tokens")),
        cache_write_tokens=count(raw.get("cache_creation_input_tokens")),
        cache_in_input=False,
        thinking_shown=thinking_shown,
    )


def gemini_usage(raw: Raw, *, thinking_shown: bool) -> Usage:
    """Google: thinking outside the candidates, cache inside the prompt, tool results beside the prompt."""
    prompt, tools = count(raw.get("promptTokenCount")), count(raw.get("toolUsePromptTokenCount"))
    return reconcile(
        input_tokens=None if prompt is None else prompt + (tools or 0),
        output_tokens=_first(raw, "candidatesTokenCount", "responseTokenCount"),
        reasoning_tokens=count(raw.get("thoughtsTokenCount")),
        cache_read_tokens=count(raw.get("cachedContentTokenCount")),
        total_tokens=count(raw.get("totalTokenCount")),
        reasoning_in_output=False,
        thinking_shown=thinking_shown,
    )


def bedrock_usage(raw: Raw, *, thinking_shown: bool) -> Usage:
    """Bedrock Converse: caches outside the input, no split of the output."""
    return reconcile(
        input_tokens=count(raw.get("inputTokens")),
        output_tokens=count(raw.get("outputTokens")),
        cache_read_tokens=_first(raw, "cacheReadInputTokens", "cacheReadInputTokenCount"),
        cache_write_tokens=_first(raw, "cacheWriteInputTokens", "cacheWriteInputTokenCount"),
        total_tokens=count(raw.get("totalTokens")),
        cache_in_input=False,
        thinking_shown=thinking_shown,
    )


def cohere_usage(raw: Raw, *, thinking_shown: bool) -> Usage:
    """Cohere: what went through the model (`tokens`), not what was billed; no split of the output."""
    tokens = as_object(raw.get("tokens"))
    return reconcile(
        input_tokens=count(tokens.get("input_tokens")),
        output_tokens=count(tokens.get("output_tokens")),
        cache_read_tokens=count(raw.get("cached_tokens")),
        thinking_shown=thinking_shown,
    )


def _reported_cost(raw: Raw) -> float | None:
    """OpenRouter's `cost`. With a key of the caller's own it is only the fee, and the provider's price comes on top."""
    fee = cost(raw.get("cost"))
    if fee is None or raw.get("is_byok") is not True:
        return fee
    upstream = cost(as_object(raw.get("cost_details")).get("upstream_inference_cost"))
    return None if upstream is None else fee + upstream


def _first(raw: Raw, *names: str) -> int | None:
    """The first of these fields that holds a count."""
    return next((found for found in (count(raw.get(name)) for name in names) if found is not None), None)


def _either(one: int | None, other: int | None) -> int | None:
    return other if one is None else one
