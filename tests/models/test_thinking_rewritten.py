"""litellm rewrites thinking budgets. Asked by its own parameters, every rewriting is found on the wire and refused."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest

from evalkit.models.endpoint import Endpoint, Question
from evalkit.models.failure import EndpointFailure
from evalkit.models.litellm_setup import close_clients
from evalkit.models.name import parse_model
from evalkit.models.thinking_sent import sent_level
from evalkit.models.thinking_wire import ThinkingWire, wire_of

USER = {"role": "user", "content": "Go."}
BUDGET = {"thinking": {"type": "enabled", "budget_tokens": 2048}}
UNBOUNDED = {"thinking": {"type": "enabled", "budget_tokens": -1}}
OFF = {"thinking": {"type": "disabled"}}


def by_litellm(
    model: str, level: str, parameters: dict[str, Any], wanted: dict[str, Any] | None = None
) -> ThinkingWire:
    """What a level should say, left to litellm's own parameters instead of being put into the body."""
    body = wire_of(parse_model(model), level).body if wanted is None else wanted
    return ThinkingWire(level=level, body=body, parameters=parameters)


@pytest.fixture
def by_litellms_parameters(endpoint, reply, whole_bodies):
    """Ask a model with litellm's own parameters for a level; returns the failure and the body that went out."""

    def run(model: str, wire: ThinkingWire) -> tuple[EndpointFailure, dict[str, Any]]:
        dialect = {"gemini": "gemini", "anthropic": "anthropic"}.get(model.partition("/")[0], "chat")
        endpoint(reply(json.dumps(whole_bodies[dialect]).encode()))
        asked = Endpoint(model=model, base_url=endpoint.url, api_key="key-for-the-test", thinking=wire)

        async def call() -> None:
            try:
                await asked.ask(Question(messages=(USER,)))
            finally:
                await close_clients()

        with pytest.raises(EndpointFailure) as failed:
            anyio.run(call)
        return failed.value, endpoint.requests[0].json if endpoint.requests else {}

    return run


@pytest.mark.parametrize(
    ("model", "level", "parameters", "wanted", "really"),
    [
        ("hosted_vllm/Qwen/Qwen3-8B", "tokens:2048", BUDGET, None, "effort:medium"),
        ("anthropic/claude-opus-4-7", "tokens:2048", BUDGET, BUDGET, "effort:medium"),
        ("deepseek/deepseek-reasoner", "tokens:2048", BUDGET, BUDGET, "on"),
        ("hosted_vllm/Qwen/Qwen3-8B", "dynamic", UNBOUNDED, BUDGET, "effort:minimal"),
        ("gemini/gemini-2.5-flash", "off", OFF, None, "default"),
        ("anthropic/claude-sonnet-4-20250514", "off", {"reasoning_effort": "none"}, None, "default"),
        ("mistral/magistral-medium-latest", "tokens:2048", BUDGET, BUDGET, "default"),
        ("mistral/magistral-medium-latest", "off", OFF, OFF, "default"),
    ],
)  # fmt: skip
def test_a_rewritten_budget_is_caught_before_a_second_call(
    by_litellms_parameters, model, level, parameters, wanted, really
):
    failure, body = by_litellms_parameters(model, by_litellm(model, level, parameters, wanted))
    assert "differs from the one asked for" in failure.message
    assert f"{really} instead of {level}" in failure.message
    assert sent_level(body) == really
    assert (failure.cause.retryable, failure.cause.maybe_billed) == (False, True)


@pytest.mark.parametrize(
    "model",
    [
        "groq/llama-x",
        "together_ai/some/model",
        "fireworks_ai/some-model",
        "moonshot/kimi-x",
        "nvidia_nim/some/model",
        "xai/grok-x",
        "dashscope/qwen-x",
    ],
)
def test_what_litellm_refuses_to_pass_on_is_not_asked_at_all(by_litellms_parameters, model):
    failure, body = by_litellms_parameters(model, by_litellm(model, "tokens:2048", BUDGET, BUDGET))
    assert body == {}
    assert "could not be asked" in failure.message


def test_bedrocks_minimum_in_place_of_no_bound_is_caught(endpoint, reply, whole_bodies, monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "key-for-the-test")
    monkeypatch.setenv("AWS_REGION_NAME", "us-east-1")
    endpoint(reply(json.dumps({**whole_bodies["bedrock"], "metrics": {"latencyMs": 1}}).encode()))
    wire = ThinkingWire(
        level="dynamic", body={"additionalModelRequestFields": UNBOUNDED}, parameters=dict(UNBOUNDED)
    )
    model = "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0"
    asked = Endpoint(model=model, base_url=endpoint.url, thinking=wire)

    async def call() -> None:
        try:
            await asked.ask(Question(messages=(USER,), parameters={"max_tokens": 4096}))
        finally:
            await close_clients()

    with pytest.raises(EndpointFailure, match="tokens:1024 instead of dynamic"):
        anyio.run(call)


def test_bedrocks_signed_requests_are_told_by_litellms_parameters(endpoint, reply, whole_bodies, monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "key-for-the-test")
    monkeypatch.setenv("AWS_REGION_NAME", "us-east-1")
    body = {**whole_bodies["bedrock"], "metrics": {"latencyMs": 1}}
    endpoint(reply(json.dumps(body).encode()))
    model = "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0"
    asked = Endpoint(model=model, base_url=endpoint.url, thinking=wire_of(parse_model(model), "tokens:2048"))

    async def call() -> str:
        try:
            return (
                await asked.ask(Question(messages=(USER,), parameters={"max_tokens": 4096}))
            ).thinking_sent
        finally:
            await close_clients()

    assert anyio.run(call) == "tokens:2048"
    sent = endpoint.requests[0]
    assert sent.json["additionalModelRequestFields"]["thinking"] == BUDGET["thinking"]
    assert "authorization" in sent.headers
