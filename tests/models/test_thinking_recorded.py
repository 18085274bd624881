"""What real requests asked for, read back from bodies that were recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evalkit.models.name import parse_model
from evalkit.models.thinking_sent import contradicts, knobs, level_of, sent_level
from evalkit.models.thinking_wire import wire_of

WIRES = [
    wire_of(parse_model(model), level)
    for model, level in (
        ("openai-compatible/Qwen3-8B", "off"),
        ("openai-compatible/Qwen3-8B", "tokens:64"),
        ("anthropic/claude-sonnet-4-5", "tokens:2048"),
        ("openai-compatible/gpt-oss-20b", "effort:high"),
        ("gemini/gemini-2.5-flash", "off"),
        ("openrouter/qwen/qwen3-8b", "tokens:64"),
        ("openai/gpt-4o", "default"),
    )
]
LEVELS = {
    "anthropic_explicit_effort_xhigh_unsupported_model_errors#0": "effort:xhigh",
    "anthropic_model_thinking_part_redacted#0": "tokens:1024",
    "anthropic_opus_46_features__adaptive-thinking#0": "dynamic",
    "anthropic_opus_5_features#0": "effort:xhigh",
    "anthropic_tool_with_thinking#0": "tokens:3000",
    "bedrock_model_thinking_part_redacted#0": "tokens:1024",
    "deepseek_model_thinking_part#0": "default",
    "deepseek_responses__reasoning_effort#0": "effort:high",
    "google_model_max_tokens#0": "off",
    "google_model_thinking_config#0": "default",
    "openai_model_thinking_part#0": "effort:high",
    "openai_model_thinking_part#1": "effort:high",
    "openai_responses_gpt_5_6_minimal_thinking_uses_low_effort#0": "effort:low",
    "openai_responses_gpt_5_6_reasoning_off_keeps_sampling_params#0": "off",
    "openrouter_thinking_false_supports_thinking_model#0": "off",
    "openrouter_thinking_high_emits_effort_high#0": "effort:high",
    "snowflake_thinking#0": "effort:low",
    "wire__cerebras-gpt-oss-always-on#0": "default",
    "wire__cerebras-zai-clear-thinking#0": "off",
    "wire__google-gemini-25-disable#0": "off",
    "wire__groq-gpt-oss-thinking-high#0": "effort:high",
    "wire__groq-qwen3-disable#0": "off",
    "wire__groq-qwen3-effort-setting#0": "on",
    "wire__groq-qwen3-enable-level-sends-no-effort#0": "default",
    "wire__mistral-small-disable#0": "off",
    "wire__mistral-small-thinking-high#0": "effort:high",
    "zai_reasoning_effort#0": "effort:high",
    "zai_thinking_mode#0": "on",
}


@pytest.fixture(scope="module")
def requests(shared_data: Path) -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """Each recorded request's body, and the knob of thinking that is known of it."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    values = json.loads((shared_data / "expected.json").read_text("utf-8"))["values"]
    found: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {}
    for path in sorted((shared_data / "pydantic_ai").glob("*.yaml")):
        recording = yaml.load(path.read_text("utf-8"), loader)
        rows = values[f"pydantic_ai/{path.name}"]["value"]
        for number, (interaction, row) in enumerate(zip(recording["interactions"], rows, strict=True)):
            request = interaction["request"]
            body = request.get("parsed_body") or request.get("body") or "{}"
            body = body if isinstance(body, dict) else json.loads(body)
            found[f"{path.stem}#{number}"] = (body, row["knob"])
    return found


def test_levels_are_read_back_from_real_bodies(requests):
    assert {name: sent_level(requests[name][0]) for name in LEVELS} == LEVELS


def test_every_knob_that_is_known_of_a_recording_is_found_and_no_other(requests):
    for name, (body, knob) in requests.items():
        assert knobs(body) == knobs(knob), name
        assert level_of(knobs(body)) == sent_level(knob), name
    assert sum(bool(knobs(body)) for body, _ in requests.values()) > 20


@pytest.mark.parametrize(
    ("body", "level"),
    [
        ({}, "default"),
        ({"model": "m", "max_tokens": 4096, "messages": []}, "default"),
        ({"thinking": {"type": "enabled", "budget_tokens": 2048}}, "tokens:2048"),
        ({"generationConfig": {"thinkingConfig": {}}}, "default"),
        ({"generationConfig": {"thinkingConfig": {"includeThoughts": True}}}, "default"),
        ({"generation_config": {"thinking_config": {"thinking_budget": -1}}}, "dynamic"),
        ({"reasoning": {"effort": "high", "summary": "auto"}}, "effort:high"),
        ({"reasoning": {"summary": "auto"}}, "default"),
        ({"reasoning": {"enabled": False}}, "off"),
        ({"think": True}, "on"),
        ({"think": "low"}, "effort:low"),
        ({"chat_template_kwargs": {"enable_thinking": True, "thinking_budget": 5}}, "tokens:5"),
        ({"chat_template_kwargs": {"thinking": False}}, "off"),
        ({"thinking": {"type": "disabled"}, "reasoning_effort": "high"},
         '{"reasoning_effort":"high","thinking":{"type":"disabled"}}'),
        ({"thinking": {"type": "brand-new"}}, '{"thinking":{"type":"brand-new"}}'),
        ({"thinking": "yes"}, '{"thinking":"yes"}'),
        ({"reasoning_effort": None}, "default"),
        ({"reasoning": "high"}, '{"reasoning":"high"}'),
        ({"reasoning_effort": "high", "extra_body": {"reasoning_effort": "high"}}, "effort:high"),
    ],
)  # fmt: skip
def test_a_body_is_read_as_a_level_or_kept_as_it_is(body, level):
    assert sent_level(body) == level


@pytest.mark.parametrize(
    "body",
    [
        {"thinking": {"type": "enabled", "budget_tokens": 2048}, "reasoning_effort": "high"},
        {"thinking": {"type": "adaptive", "budget_tokens": 2048}},
        {"thinking": {"type": "disabled", "budget_tokens": 2048}},
        {"enable_thinking": True, "chat_template_kwargs": {"enable_thinking": False}},
        {"chat_template_kwargs": {"enable_thinking": False}, "enable_thinking": True},
        {"chat_template_kwargs": {"thinking_budget": 64}, "thinking_budget": 6400},
        {"reasoning_effort": "low", "extra_body": {"reasoning_effort": "high"}},
        {"reasoning": {"effort": "none", "enabled": True}},
        {"generationConfig": {"thinkingConfig": {"thinkingBudget": 0, "thinkingLevel": "high"}}},
        {
            "generationConfig": {
                "thinkingConfig": {"thinkingBudget": 64},
                "thinking_config": {"thinking_budget": 65},
            }
        },
        {"reasoning": {"max_tokens": 64, "effort": "low"}},
    ],
)
def test_settings_that_contradict_each_other_are_no_level_wherever_they_stand(body):
    assert contradicts(knobs(body))
    assert sent_level(body).startswith("{")
    for wire in WIRES:
        assert not wire.is_sent({**body, "messages": []})


def test_a_second_setting_beside_the_one_that_evalkit_wrote_is_seen():
    wire = wire_of(parse_model("openai-compatible/Qwen3-8B"), "off")
    sent = {"messages": [], "chat_template_kwargs": {"enable_thinking": False}}
    assert wire.is_sent(sent)
    assert not wire.is_sent({**sent, "enable_thinking": True})
    assert not wire.is_sent({"enable_thinking": True, **sent})
    assert wire.is_sent({"enable_thinking": False, **sent}), "said twice, and the same"
