"""Do recorded responses of real providers read as they are known to be?"""

from __future__ import annotations

from typing import Any

import pytest

from evalkit.models.reading import Reading, Reasoning, Text
from evalkit.models.wire import read

CACHE_OUTSIDE = {"anthropic", "bedrock"}
REASONING_OUTSIDE = {"google"}

NO_MODEL_NAMED = {"bedrock_model_thinking_part_redacted#0", "bedrock_model_thinking_part_redacted#1"} | {
    "cohere_model_thinking_part#1"
}
ANOTHER_MODEL_SERVED = {
    "deepseek_deferred_capability_with_thinking#0": "deepseek-v4-flash",
    "deepseek_deferred_capability_with_thinking#1": "deepseek-v4-flash",
    "deepseek_deferred_capability_with_thinking#2": "deepseek-v4-flash",
    "anthropic_tool_with_thinking#0": "claude-sonnet-4-20250514",
    "anthropic_tool_with_thinking#1": "claude-sonnet-4-20250514",
    "google_model_thinking_config#0": "models/gemini-2.5-pro",
    "openrouter_thinking_false_supports_thinking_model#0": "anthropic/claude-4.5-sonnet-20250929",
    "openrouter_thinking_high_emits_effort_high#0": "anthropic/claude-4.5-sonnet-20250929",
}
FINISHED_OTHERWISE = {
    "anthropic_tool_with_thinking#0": "tool_calls",
    "deepseek_deferred_capability_with_thinking#0": "tool_calls",
    "deepseek_deferred_capability_with_thinking#1": "tool_calls",
    "google_model_max_tokens#0": "length",
    "google_model_max_tokens_thinking_model_empty_response#0": "length",
    "google_streaming_tool_call_thought_signature#0": "tool_calls",
    "groq_tool_use_failed_error#1": "tool_calls",
    "huggingface_max_completion_tokens#0": "length",
    "openrouter_stream_error#0": "length",
    "snowflake_thinking#0": "unknown",
    "snowflake_thinking#1": "unknown",
}
READABLE = {
    "reasoning",
    "reasoning_content",
    "reasoning_details",
    "summary_text",
    "thinking",
    "thinking_list",
    "thought_parts",
    "<think>_in_content",
}


@pytest.fixture(scope="module")
def readings(exchanges: list[Any]) -> list[tuple[Any, Reading]]:
    found = [(exchange, read(exchange.body, exchange.content_type)) for exchange in exchanges]
    assert [exchange.name for exchange, reading in found if reading is None] == []
    return [(exchange, reading) for exchange, reading in found if reading is not None]


def _expected_counts(row: dict[str, Any]) -> tuple[Any, ...] | None:
    """Input with caches, output with reasoning, reasoning, and the total, by the provider's own convention."""
    usage = row["usage"]
    if usage is None:
        return None
    output, reasoning = usage["output"], usage["reasoning"]
    if row["provider"] in REASONING_OUTSIDE:
        output = (output or 0) + (reasoning or 0)
    elif reasoning is not None and reasoning > output:
        reasoning = None
    if reasoning == 0 and row["thinking"]:
        reasoning = None
    return usage["prompt"], output, reasoning, usage["total"] or usage["prompt"] + output


def _read_counts(reading: Reading, provider: str) -> tuple[Any, ...] | None:
    usage = reading.usage
    if usage is None or usage.input_tokens is None or usage.output_tokens is None:
        return None
    cached = (usage.cache_read_tokens or 0) + (usage.cache_write_tokens or 0)
    prompt = usage.input_tokens + (0 if provider in CACHE_OUTSIDE else cached)
    total = usage.input_tokens + cached + usage.output_tokens
    return prompt, usage.output_tokens, usage.reasoning_tokens, total


def test_every_count_is_the_reported_one_in_our_convention(readings: list[tuple[Any, Reading]]) -> None:
    read_counts = {one.name: _read_counts(reading, one.expected["provider"]) for one, reading in readings}
    assert read_counts == {one.name: _expected_counts(one.expected) for one, _ in readings}
    assert len(read_counts) == 63


def test_all_the_thinking_that_came_back_is_there(readings: list[tuple[Any, Reading]]) -> None:
    def kinds(reading: Reading) -> tuple[bool, ...]:
        thoughts = [block for block in reading.blocks if isinstance(block, Reasoning)]
        return (
            any(block.text for block in thoughts),
            any(block.is_summary for block in thoughts),
            any(block.opaque for block in thoughts),
            any(getattr(block, "signature", None) for block in reading.blocks),
        )

    def expected(row: dict[str, Any]) -> tuple[bool, ...]:
        seen = set(row["thinking"])
        return (
            bool(seen & READABLE),
            bool(seen & {"summary_text", "thought_parts"}),
            bool(seen & {"encrypted_content", "redacted"}),
            bool(seen & {"signature", "thoughtSignature"}),
        )

    got = {one.name: kinds(reading) for one, reading in readings}
    wanted = {one.name: expected(one.expected) for one, _ in readings}
    # Shown in the parts of a Responses item, which the recorded kinds leave out.
    wanted["deepseek_responses__reasoning_effort#0"] = (True, False, False, False)
    assert got == wanted


def test_the_model_served_is_the_one_that_the_response_names(readings: list[tuple[Any, Reading]]) -> None:
    served = {one.name: reading.model_served for one, reading in readings if one.expected["status"] == 200}
    assert {name for name, model in served.items() if model is None} == NO_MODEL_NAMED
    asked = {one.name: one.expected["model"] for one, _ in readings}
    others = {name: model for name, model in served.items() if model and not model.startswith(asked[name])}
    assert others == ANOTHER_MODEL_SERVED
    assert all(reading.model_served is None for one, reading in readings if one.expected["status"] != 200)


def test_every_response_finished_as_recorded(readings: list[tuple[Any, Reading]]) -> None:
    answered = [(one, reading) for one, reading in readings if one.expected["status"] == 200]
    finishes = {one.name: reading.finish for one, reading in answered}
    assert finishes == {one.name: FINISHED_OTHERWISE.get(one.name, "stop") for one, _ in answered}
    assert all(reading.complete for _, reading in answered)


def test_every_error_says_what_the_provider_said(readings: list[tuple[Any, Reading]]) -> None:
    errors = {one.name: reading.error and reading.error[:120] for one, reading in readings}
    assert errors == {one.name: one.expected.get("error") for one, _ in readings}


def test_usage_stays_as_reported_beside_the_counts(readings: list[tuple[Any, Reading]]) -> None:
    raw = {one.name: reading.raw_usage for one, reading in readings}
    advisor = raw["anthropic_advisor_tool#0"]
    assert advisor is not None
    assert [part["type"] for part in advisor["iterations"]] == ["message", "advisor_message", "message"]  # type: ignore[attr-defined]
    assert {name for name, usage in raw.items() if usage is None} == {
        one.name for one, _ in readings if one.expected["status"] != 200
    }


def test_inline_thinking_is_taken_out_of_the_answer(readings: list[tuple[Any, Reading]]) -> None:
    tagged = [reading for one, reading in readings if "<think>_in_content" in one.expected["thinking"]]
    assert len(tagged) == 2
    for reading in tagged:
        said = "".join(block.text for block in reading.blocks if isinstance(block, Text))
        assert "think>" not in said
    cut = next(reading for one, reading in readings if one.name.startswith("huggingface"))
    assert [type(block) for block in cut.blocks] == [Reasoning]


def test_every_prefix_of_a_recorded_stream_reads(exchanges: list[Any]) -> None:
    streamed = [exchange for exchange in exchanges if exchange.expected["streamed"]]
    assert len(streamed) >= 4
    for exchange in streamed:
        body = exchange.body.encode("utf-8")
        step = max(1, len(body) // 300)
        for end in range(0, len(body), step):
            reading = read(body[:end], exchange.content_type)
            assert reading is not None
