"""Every row of the table of thinking budgets, through litellm to a server on loopback: what is sent is what it says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from evalkit.models.name import parse_model
from evalkit.models.thinking_table import row_for, rows
from evalkit.models.thinking_wire import wire_for

GEMINI = "generationConfig"
ADAPTIVE = {"type": "adaptive", "display": "summarized"}
CLAUDE_INTERLEAVED = "interleaved-thinking-2025-05-14"


def thinks(**config: Any) -> dict[str, Any]:
    return {"thinkingConfig": {**config, "includeThoughts": True}}


CASES: list[tuple[str, str, dict[str, Any], str]] = [
    # model, level asked for, what the body holds, level read back
    ("gemini/gemini-2.5-flash", "off", {GEMINI: {"thinkingConfig": {"thinkingBudget": 0}}}, "off"),
    ("gemini/gemini-2.5-flash", "tokens:2048", {GEMINI: thinks(thinkingBudget=2048)}, "tokens:2048"),
    ("gemini/gemini-2.5-flash", "dynamic", {GEMINI: thinks(thinkingBudget=-1)}, "dynamic"),
    ("gemini/gemini-2.5-flash", "effort:high", {GEMINI: thinks(thinkingBudget=24576)}, "tokens:24576"),
    ("gemini/gemini-2.5-flash-lite", "tokens:512", {GEMINI: thinks(thinkingBudget=512)}, "tokens:512"),
    ("gemini/gemini-2.5-pro", "tokens:128", {GEMINI: thinks(thinkingBudget=128)}, "tokens:128"),
    ("gemini/gemini-2.5-pro", "dynamic", {GEMINI: thinks(thinkingBudget=-1)}, "dynamic"),
    ("gemini/gemini-3-pro-preview", "effort:low", {GEMINI: thinks(thinkingLevel="low")}, "effort:low"),
    (
        "gemini/gemini-3.1-pro-preview",
        "effort:medium",
        {GEMINI: thinks(thinkingLevel="medium")},
        "effort:medium",
    ),
    (
        "gemini/gemini-3-flash-preview",
        "off",
        {GEMINI: {"thinkingConfig": {"thinkingLevel": "minimal"}}},
        "effort:minimal",
    ),
    ("gemini/gemini-3-flash-preview", "effort:high", {GEMINI: thinks(thinkingLevel="high")}, "effort:high"),
    (
        "anthropic/claude-3-7-sonnet-20250219",
        "tokens:1024",
        {"thinking": {"type": "enabled", "budget_tokens": 1024}},
        "tokens:1024",
    ),
    ("anthropic/claude-sonnet-4-5", "off", {"thinking": {"type": "disabled"}}, "off"),
    (
        "anthropic/claude-sonnet-4-5",
        "tokens:2048",
        {"thinking": {"type": "enabled", "budget_tokens": 2048}},
        "tokens:2048",
    ),
    (
        "anthropic/claude-opus-4-5",
        "effort:medium",
        {"thinking": {"type": "enabled", "budget_tokens": 8192}},
        "tokens:8192",
    ),
    ("anthropic/claude-opus-4-6", "dynamic", {"thinking": {"type": "adaptive"}}, "dynamic"),
    (
        "anthropic/claude-opus-4-6",
        "tokens:1500",
        {"thinking": {"type": "enabled", "budget_tokens": 1500}},
        "tokens:1500",
    ),
    (
        "anthropic/claude-opus-4-6",
        "effort:max",
        {"thinking": {"type": "adaptive"}, "output_config": {"effort": "max"}},
        "effort:max",
    ),
    ("anthropic/claude-opus-4-7", "off", {"thinking": {"type": "disabled"}}, "off"),
    ("anthropic/claude-opus-4-7", "dynamic", {"thinking": ADAPTIVE}, "dynamic"),
    (
        "anthropic/claude-sonnet-5",
        "effort:xhigh",
        {"thinking": ADAPTIVE, "output_config": {"effort": "xhigh"}},
        "effort:xhigh",
    ),
    (
        "anthropic/claude-mythos-5",
        "effort:low",
        {"thinking": ADAPTIVE, "output_config": {"effort": "low"}},
        "effort:low",
    ),
    (
        "anthropic/claude-mythos-preview",
        "effort:max",
        {"thinking": ADAPTIVE, "output_config": {"effort": "max"}},
        "effort:max",
    ),
    ("openai/o3-mini", "effort:high", {"reasoning_effort": "high"}, "effort:high"),
    ("openai/gpt-5-mini", "effort:minimal", {"reasoning_effort": "minimal"}, "effort:minimal"),
    ("openai/responses/gpt-5-mini", "effort:minimal", {"reasoning": {"effort": "minimal"}}, "effort:minimal"),
    ("openai/gpt-5.1", "off", {"reasoning_effort": "none"}, "off"),
    ("openai/responses/gpt-5.1", "off", {"reasoning": {"effort": "none"}}, "off"),
    ("openai/responses/gpt-5.6-sol", "effort:xhigh", {"reasoning": {"effort": "xhigh"}}, "effort:xhigh"),
    ("openai/gpt-5.2", "effort:low", {"reasoning_effort": "low"}, "effort:low"),
    ("openai/responses/gpt-5-pro", "effort:high", {"reasoning": {"effort": "high"}}, "effort:high"),
    ("openai/responses/gpt-5.2-pro", "effort:medium", {"reasoning": {"effort": "medium"}}, "effort:medium"),
    ("openai/responses/gpt-5-codex", "effort:low", {"reasoning": {"effort": "low"}}, "effort:low"),
    ("openai/responses/gpt-5.3-codex", "effort:xhigh", {"reasoning": {"effort": "xhigh"}}, "effort:xhigh"),
    ("openai/responses/o4-mini", "effort:low", {"reasoning": {"effort": "low"}}, "effort:low"),
    ("deepseek/deepseek-chat", "off", {"thinking": {"type": "disabled"}}, "off"),
    ("deepseek/deepseek-reasoner", "on", {"thinking": {"type": "enabled"}}, "on"),
    (
        "deepseek/deepseek-v4-pro",
        "effort:max",
        {"thinking": {"type": "enabled"}, "reasoning_effort": "max"},
        "effort:max",
    ),
    ("moonshot/kimi-k2.5", "off", {"thinking": {"type": "disabled"}}, "off"),
    ("moonshot/kimi-k2.6", "on", {"thinking": {"type": "enabled"}}, "on"),
    ("zai/glm-4.7", "off", {"thinking": {"type": "disabled"}}, "off"),
    (
        "zai/glm-5.2",
        "effort:high",
        {"thinking": {"type": "enabled"}, "reasoning_effort": "high"},
        "effort:high",
    ),
    ("zai/glm-5.3", "effort:low", {"thinking": {"type": "enabled"}, "reasoning_effort": "low"}, "effort:low"),
    ("dashscope/qwen3-235b-a22b", "off", {"enable_thinking": False}, "off"),
    ("dashscope/qwen-plus", "tokens:300", {"enable_thinking": True, "thinking_budget": 300}, "tokens:300"),
    ("dashscope/qwen3-235b-a22b-thinking-2507", "tokens:300", {"thinking_budget": 300}, "tokens:300"),
    ("openrouter/anthropic/claude-sonnet-4.5", "off", {"reasoning": {"effort": "none"}}, "off"),
    ("openrouter/qwen/qwen3-8b", "on", {"reasoning": {"enabled": True}}, "on"),
    ("openrouter/qwen/qwen3-8b", "tokens:777", {"reasoning": {"max_tokens": 777}}, "tokens:777"),
    ("openrouter/openai/gpt-5", "effort:high", {"reasoning": {"effort": "high"}}, "effort:high"),
    ("groq/openai/gpt-oss-120b", "effort:low", {"reasoning_effort": "low"}, "effort:low"),
    ("cerebras/gpt-oss-120b", "effort:high", {"reasoning_effort": "high"}, "effort:high"),
    ("groq/qwen/qwen3-32b", "off", {"reasoning_effort": "none"}, "off"),
    ("groq/qwen/qwen3-32b", "on", {"reasoning_effort": "default"}, "on"),
    ("cerebras/zai-glm-4.7", "off", {"reasoning_effort": "none"}, "off"),
    ("mistral/mistral-small-latest", "off", {"reasoning_effort": "none"}, "off"),
    ("mistral/mistral-small-latest", "effort:high", {"reasoning_effort": "high"}, "effort:high"),
    ("xai/grok-3-mini", "effort:high", {"reasoning_effort": "high"}, "effort:high"),
    ("xai/grok-4.3", "off", {"reasoning_effort": "none"}, "off"),
    ("ollama_chat/qwen3:8b", "off", {"think": False}, "off"),
    ("ollama_chat/qwen3:8b", "on", {"think": True}, "on"),
    ("ollama_chat/qwen3:8b", "effort:low", {"think": "low"}, "effort:low"),
    ("ollama_chat/gpt-oss:20b", "effort:high", {"think": "high"}, "effort:high"),
    ("hosted_vllm/Qwen/Qwen3-8B", "off", {"chat_template_kwargs": {"enable_thinking": False}}, "off"),
    (
        "hosted_vllm/Qwen/Qwen3-8B",
        "tokens:2048",
        {"chat_template_kwargs": {"enable_thinking": True}, "thinking_token_budget": 2048},
        "tokens:2048",
    ),
    ("hosted_vllm/Qwen/Qwen3-4B-Thinking-2507", "tokens:99", {"thinking_token_budget": 99}, "tokens:99"),
    ("openai-compatible/Qwen/Qwen3-8B", "off", {"chat_template_kwargs": {"enable_thinking": False}}, "off"),
    ("openai-compatible/Qwen/Qwen3-8B", "on", {"chat_template_kwargs": {"enable_thinking": True}}, "on"),
    (
        "openai-compatible/Qwen/Qwen3-8B",
        "tokens:64",
        {"chat_template_kwargs": {"enable_thinking": True, "thinking_budget": 64}},
        "tokens:64",
    ),
    (
        "openai-compatible/Qwen3-4B-Thinking-2507",
        "tokens:64",
        {"chat_template_kwargs": {"thinking_budget": 64}},
        "tokens:64",
    ),
    (
        "nvidia_nim/nvidia/nemotron-3-nano-30b-a3b",
        "off",
        {"chat_template_kwargs": {"enable_thinking": False}},
        "off",
    ),
    (
        "nvidia_nim/nvidia/nemotron-3-nano-30b-a3b",
        "tokens:64",
        {"chat_template_kwargs": {"enable_thinking": True}, "reasoning_budget": 64},
        "tokens:64",
    ),
    (
        "nvidia_nim/nvidia/nvidia-nemotron-nano-9b-v2",
        "tokens:64",
        {"nvext": {"max_thinking_tokens": 64}},
        "tokens:64",
    ),
    ("hosted_vllm/deepseek-ai/DeepSeek-V3.1", "off", {"chat_template_kwargs": {"thinking": False}}, "off"),
    ("openai-compatible/moonshotai/Kimi-K2.5", "off", {"chat_template_kwargs": {"thinking": False}}, "off"),
    ("openai-compatible/zai-org/GLM-4.6", "off", {"chat_template_kwargs": {"enable_thinking": False}}, "off"),
    (
        "openai-compatible/openai/gpt-oss-20b",
        "effort:medium",
        {"reasoning_effort": "medium"},
        "effort:medium",
    ),
    ("openai-compatible/XiaomiMiMo/MiMo-7B-RL", "tokens:500", {"max_tokens": 500}, "tokens:500"),
    ("openai-compatible/microsoft/Phi-4-reasoning", "tokens:500", {"max_tokens": 500}, "tokens:500"),
    ("hosted_vllm/Skywork/Skywork-OR1-7B", "tokens:500", {"max_tokens": 500}, "tokens:500"),
    ("openai-compatible/Open-Reasoner-Zero-7B", "tokens:500", {"max_tokens": 500}, "tokens:500"),
    ("openai-compatible/mistralai/Magistral-Small-2509", "tokens:500", {"max_tokens": 500}, "tokens:500"),
]
CASES += [
    (model, "dynamic", {}, "default")
    for model in (
        "gemini/gemini-3-pro-preview",
        "openai/responses/gpt-5-mini",
        "deepseek/deepseek-reasoner",
        "moonshot/kimi-k2-thinking",
        "zai/glm-4.6",
        "openrouter/qwen/qwen3-8b",
        "mistral/magistral-medium-latest",
        "openai-compatible/Qwen/Qwen3-8B",
        "openai-compatible/adactrl-7b",
        "openai-compatible/MiMo-7B-RL",
    )
]
SPOKEN = [
    (
        "openai-compatible/nvidia/Llama-3_3-Nemotron-Super-49B-v1",
        "off",
        "system",
        "detailed thinking off\nYou work.",
    ),
    ("nvidia_nim/nvidia/llama-3.1-nemotron-ultra-253b-v1", "on", "system", "detailed thinking on\nYou work."),
    ("nvidia_nim/nvidia/llama-3.3-nemotron-super-49b-v1.5", "off", "system", "/no_think\nYou work."),
    ("nvidia_nim/nvidia/nvidia-nemotron-nano-9b-v2", "off", "system", "/no_think\nYou work."),
    ("openai-compatible/adactrl-7b", "off", "user", "[Easy] Go."),
    ("openai-compatible/adactrl-7b", "effort:high", "user", "[Hard] Go."),
]
WITHOUT_A_LEVEL = {
    "Claude without thinking",
    "OpenAI without thinking",
    "Qwen that does not think",
}
ELSEWHERE = {"scripted agents", "Claude 3.7 - 4.6 on Bedrock"}


def part_of(body: Mapping[str, Any], piece: Mapping[str, Any]) -> dict[str, Any]:
    """What a body has in the places of a piece, and all that is beside it in the objects that are about thinking."""
    return {
        name: part_of(body.get(name) or {}, value)
        if isinstance(value, dict) and name in {GEMINI, "output_config"}
        else body.get(name)
        for name, value in piece.items()
    }


@pytest.mark.parametrize(
    ("model", "level", "piece", "sent"), CASES, ids=[f"{case[0]}@{case[1]}" for case in CASES]
)
def test_what_is_sent_is_what_the_table_says(asked, model, level, piece, sent):
    completion, _, body = asked(model, level)
    assert part_of(body, piece) == piece
    assert completion.thinking_sent == sent


@pytest.mark.parametrize(
    ("model", "level", "role", "text"), SPOKEN, ids=[f"{case[0]}@{case[1]}" for case in SPOKEN]
)
def test_levels_that_are_words_stand_before_the_conversation(asked, model, level, role, text):
    completion, _, body = asked(model, level)
    (said,) = [message["content"] for message in body["messages"] if message["role"] == role]
    assert said == text
    assert completion.thinking_sent == level


ONE_OF_EACH = {
    row.name: model
    for model in [case[0] for case in SPOKEN] + [case[0] for case in CASES]
    if (row := row_for(parse_model(model))) is not None
}


@pytest.mark.parametrize("model", ONE_OF_EACH.values(), ids=ONE_OF_EACH)
def test_each_level_of_each_row_goes_out_through_litellm_and_is_read_back(asked, model):
    row = row_for(parse_model(model))
    assert row is not None
    for level in (one.replace("N", str(max(row.least, 2048))) for one in row.levels):
        completion, headers, body = asked(model, level)
        wire = wire_for(row, level, responses="/responses/" in model)
        assert wire.is_sent(body), level
        assert completion.thinking_sent == wire.read_back(body)
        assert all(value in headers.get(name, "") for name, value in wire.headers.items())


def test_every_row_of_the_table_has_its_contract_here():
    models = [case[0] for case in CASES] + [case[0] for case in SPOKEN]
    tested = {row.name for model in models if (row := row_for(parse_model(model))) is not None}
    assert {row.name for row in rows()} - tested - ELSEWHERE == WITHOUT_A_LEVEL
    assert {row.name for row in rows() if row.levels == ("default",)} == WITHOUT_A_LEVEL


def test_every_row_says_where_it_comes_from_and_every_level_something_of_its_own():
    for row in rows():
        assert row.source
        if row.exact:
            continue
        for level in row.levels[1:]:
            if level == "dynamic" and not row.dynamic:
                continue  # the default
            wire = wire_for(row, level.replace("N", str(row.least)))
            assert wire.body or wire.system or wire.prefix, (row.name, level)


@pytest.mark.parametrize("model", sorted({case[0] for case in CASES}))
def test_by_default_nothing_is_said_of_thinking(asked, model):
    completion, headers, _ = asked(model, "default")
    assert completion.thinking_sent == "default"
    assert CLAUDE_INTERLEAVED not in headers.get("anthropic-beta", "")
