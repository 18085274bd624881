"""Every event loop has connections of its own, whichever way litellm takes to the wire."""

from __future__ import annotations

import asyncio
import json

import httpx
import pytest

from evalkit.models.endpoint import Completion, Endpoint, Question
from evalkit.models.litellm_setup import close_clients, load

CLAUDE = (
    {"type": "message_start", "message": {"id": "m", "model": "claude", "usage": {"input_tokens": 3}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hello."}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
    {"type": "message_stop"},
)
GPT = (
    {
        "id": "c",
        "model": "gpt",
        "choices": [{"index": 0, "delta": {"role": "assistant", "content": "Hello."}}],
    },
    {"id": "c", "model": "gpt", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
)


def stream(events: tuple[dict, ...]) -> bytes:
    return "".join(
        f"event: {event.get('type', 'message')}\ndata: {json.dumps(event)}\n\n" for event in events
    ).encode()


@pytest.mark.parametrize(
    ("model", "events"),
    [("anthropic/claude-sonnet-4-5", CLAUDE), ("openai/gpt-4o", GPT), ("deepseek/deepseek-chat", GPT)],
)
def test_a_second_event_loop_asks_the_same_endpoint(endpoint, reply, model, events) -> None:
    endpoint(reply(stream(events), content_type="text/event-stream"))
    asked = Endpoint(model=model, base_url=endpoint.url, api_key="a-key-for-tests", stream=True)

    async def ask() -> Completion:
        try:
            return await asked.ask(Question(messages=[{"role": "user", "content": "Go."}]))
        finally:
            await close_clients()

    assert [asyncio.run(ask()).reading.complete for _ in range(3)] == [True] * 3


def test_litellms_client_of_the_whole_process_is_closed_with_each_event_loop() -> None:
    async def use() -> httpx.AsyncClient:
        client = load().module_level_aclient.client
        assert not client.is_closed
        await close_clients()
        return client

    used = [asyncio.run(use()) for _ in range(3)]
    assert len(set(map(id, used))) == 3
    assert all(client.is_closed for client in used)
