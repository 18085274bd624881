"""Recorded exchanges of real providers, served from loopback and asked for through litellm.

What comes out must be what `expected.json` says of the raw files, whatever litellm makes of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import anyio
import pytest
import yaml

from evalkit.models.endpoint import Completion, Endpoint, Question
from evalkit.models.failure import EndpointFailure
from evalkit.models.litellm_setup import close_clients
from evalkit.models.reading import Reasoning

FOLDER = Path(__file__).parents[3] / "shared" / "data"
ROUTES = {
    "anthropic": "anthropic/claude-sonnet-4-5",
    "google": "gemini/gemini-2.5-pro",
    "deepseek": "deepseek/deepseek-reasoner",
    "groq": "groq/openai/gpt-oss-120b",
    "openrouter": "openrouter/some/model",
    "cerebras": "cerebras/gpt-oss-120b",
    "zai": "zai/glm-4.6",
    "mistral": "mistral/magistral-small-latest",
    "openai": "openai/o3-mini",
    "huggingface": "openai/deepseek-ai/DeepSeek-R1",
    "snowflake": "openai/claude-sonnet-4-6",
}
"""By which litellm route each recorded provider is asked."""
EVENTS = "text/event-stream"


@dataclass(frozen=True)
class Recorded:
    """One exchange: what came back, and what is known about it."""

    route: str
    status: int
    body: bytes
    streamed: bool
    known: dict[str, Any]


def recorded() -> Iterator[Any]:
    """Every exchange of a provider that litellm can be led to, as parameters of a test."""
    if not (FOLDER / "expected.json").is_file():
        yield pytest.param(None, id="absent", marks=pytest.mark.skip("the shared data is not here"))
        return
    for key, entry in expected().items():
        folder, _, name = key.partition("/")
        if folder != "pydantic_ai" or not name.endswith(".yaml"):
            continue
        interactions = yaml.safe_load((FOLDER / folder / name).read_text())["interactions"]
        for number, (interaction, known) in enumerate(zip(interactions, entry["value"], strict=True)):
            route = ROUTES.get(known["provider"])
            if route is None:
                continue
            body, streamed = raw(interaction["response"])
            if b'"object": "response"' in body or "/responses" in interaction["request"]["uri"]:
                route = f"openai/responses/{route.partition('/')[2]}"
            yield pytest.param(
                Recorded(route, interaction["response"]["status"]["code"], body, streamed, known),
                id=f"{name.removesuffix('.yaml')}-{number}",
            )


@cache
def expected() -> dict[str, Any]:
    return json.loads((FOLDER / "expected.json").read_text())["values"]


def raw(response: dict[str, Any]) -> tuple[bytes, bool]:
    if "parsed_body" in response:
        return json.dumps(response["parsed_body"]).encode(), False
    text = response["body"]["string"]
    data = text if isinstance(text, bytes) else text.encode()
    return data, not data.lstrip().startswith((b"{", b"["))


def ask(model: Endpoint) -> Completion:
    async def call() -> Completion:
        try:
            return await model.ask(Question(messages=[{"role": "user", "content": "Go."}]))
        finally:
            await close_clients()

    return anyio.run(call)


@pytest.fixture
def replayed(endpoint, reply):
    def run(exchange: Recorded) -> Completion:
        kind = EVENTS if exchange.streamed else "application/json"
        endpoint(reply(exchange.body, status=exchange.status, content_type=kind))
        model = Endpoint(
            model=exchange.route, base_url=endpoint.url, api_key="a-key-for-tests", stream=exchange.streamed
        )
        return ask(model)

    return run


@pytest.mark.parametrize("exchange", list(recorded()))
def test_a_recorded_exchange_is_read_as_its_provider_meant_it(replayed, exchange):
    known = exchange.known
    if known.get("error") is not None and known["usage"] is None:
        if "Tool call validation failed" in known["error"]:
            assert replayed(exchange).invalid_calls
            return
        with pytest.raises(EndpointFailure) as failed:
            replayed(exchange)
        assert known["error"][:40] in str(failed.value)
        assert not failed.value.cause.retryable
        return
    if known.get("error") is not None:
        with pytest.raises(EndpointFailure, match="broke its answer off with an error"):
            replayed(exchange)
        return
    completion = replayed(exchange)
    check_counts(completion, known)
    kinds = set(known["thinking"])
    if b'"reasoning_text"' in exchange.body:
        kinds.add("thinking")  # which the expected values do not list; the raw file decides
    check_thinking(completion, kinds)


def check_counts(completion: Completion, known: dict[str, Any]) -> None:
    usage, told = completion.reading.usage, known["usage"]
    outside = known["provider"] == "google"
    read = (usage.input_tokens or 0) + (usage.cache_read_tokens or 0)
    read += 0 if known["provider"] == "anthropic" else (usage.cache_write_tokens or 0)
    assert (usage.input_tokens if known["provider"] == "anthropic" else read) == told["prompt"]
    thought = told["reasoning"]
    if known["thinking"] and thought == 0:
        thought = None  # thinking came back, so the 0 is wrong
    assert usage.reasoning_tokens == thought
    written = told["output"] if not outside else (told["output"] or 0) + (told["reasoning"] or 0)
    assert usage.output_tokens == written


def check_thinking(completion: Completion, kinds: set[str]) -> None:
    blocks = [block for block in completion.reading.blocks if isinstance(block, Reasoning)]
    signed = [block for block in completion.reading.blocks if getattr(block, "signature", None)]
    if kinds & {"signature", "thoughtSignature"}:
        assert signed
    if kinds & {"redacted", "encrypted_content"}:
        assert any(block.opaque for block in blocks)
    if kinds & {"thinking", "reasoning_content", "reasoning", "thought_parts", "summary_text"}:
        assert any(block.text for block in blocks)
    if not kinds:
        assert not blocks
