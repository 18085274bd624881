"""Responses of model providers: recorded ones where the data are at hand, and small ones of our own everywhere."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio
import pytest

if TYPE_CHECKING:
    from evalkit.models.endpoint import Completion

EVENTS = "text/event-stream"
SYSTEM = {"role": "system", "content": "You work."}
USER = {"role": "user", "content": "Go."}
TOOL = {
    "type": "function",
    "function": {
        "name": "bash",
        "description": "Run.",
        "parameters": {"type": "object", "properties": {"command": {"type": "string"}}},
    },
}


class Exchange(NamedTuple):
    """One recorded response and what is known of it."""

    name: str
    body: str
    content_type: str
    expected: dict[str, Any]


@pytest.fixture(scope="session")
def exchanges(shared_data: Path) -> list[Exchange]:
    """Every recorded response, in the order of the recordings."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    values = json.loads((shared_data / "expected.json").read_text("utf-8"))["values"]
    found = list[Exchange]()
    for path in sorted((shared_data / "pydantic_ai").glob("*.yaml")):
        recording = yaml.load(path.read_text("utf-8"), loader)
        rows = values[f"pydantic_ai/{path.name}"]["value"]
        for number, (interaction, row) in enumerate(zip(recording["interactions"], rows, strict=True)):
            response = interaction["response"]
            whole = "parsed_body" in response
            body = json.dumps(response["parsed_body"]) if whole else response["body"]["string"]
            kind = (response["headers"].get("content-type") or [""])[0]
            found.append(Exchange(f"{path.stem}#{number}", body, kind, row))
    return found


def _events(*objects: dict[str, Any], done: bool = False, named: bool = False) -> str:
    lines = [
        (f"event: {value['type']}\n" if named else "") + f"data: {json.dumps(value)}\n\n" for value in objects
    ]
    return "".join(lines) + ("data: [DONE]\n\n" if done else "")


@pytest.fixture(scope="session")
def whole_bodies() -> dict[str, dict[str, Any]]:
    """One whole response of each dialect: a thought, a word and a call each."""
    call = {"name": "bash", "arguments": '{"command": "ls"}'}
    return {
        "chat": {
            "object": "chat.completion",
            "model": "m-1",
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "tool_calls",
                    "message": {
                        "content": "Look.",
                        "reasoning_content": "Hm.",
                        "tool_calls": [{"id": "a", "type": "function", "function": call}],
                    },
                }
            ],
            "usage": {
                "prompt_tokens": 10,
                "completion_tokens": 7,
                "total_tokens": 17,
                "prompt_tokens_details": {"cached_tokens": 4},
                "completion_tokens_details": {"reasoning_tokens": 3},
            },
        },
        "responses": {
            "object": "response",
            "status": "completed",
            "model": "m-2",
            "error": None,
            "output": [
                {
                    "type": "reasoning",
                    "summary": [{"type": "summary_text", "text": "Hm."}],
                    "encrypted_content": "x",
                },
                {"type": "message", "content": [{"type": "output_text", "text": "Look."}]},
                {"type": "function_call", "call_id": "a", **call},
            ],
            "usage": {
                "input_tokens": 10,
                "output_tokens": 7,
                "total_tokens": 17,
                "input_tokens_details": {"cached_tokens": 4},
                "output_tokens_details": {"reasoning_tokens": 3},
            },
        },
        "anthropic": {
            "type": "message",
            "model": "m-3",
            "stop_reason": "tool_use",
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "s"},
                {"type": "text", "text": "Look."},
                {"type": "tool_use", "id": "a", "name": "bash", "input": {"command": "ls"}},
            ],
            "usage": {
                "input_tokens": 6,
                "cache_read_input_tokens": 4,
                "cache_creation_input_tokens": 0,
                "output_tokens": 7,
                "output_tokens_details": {"thinking_tokens": 3},
            },
        },
        "gemini": {
            "modelVersion": "m-4",
            "candidates": [
                {
                    "finishReason": "STOP",
                    "content": {
                        "parts": [
                            {"text": "Hm.", "thought": True},
                            {"text": "Look."},
                            {
                                "functionCall": {"name": "bash", "args": {"command": "ls"}},
                                "thoughtSignature": "s",
                            },
                        ]
                    },
                }
            ],
            "usageMetadata": {
                "promptTokenCount": 10,
                "cachedContentTokenCount": 4,
                "candidatesTokenCount": 4,
                "thoughtsTokenCount": 3,
                "totalTokenCount": 17,
            },
        },
        "bedrock": {
            "output": {
                "message": {
                    "content": [
                        {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "s"}}},
                        {"text": "Look."},
                        {"toolUse": {"toolUseId": "a", "name": "bash", "input": {"command": "ls"}}},
                    ]
                }
            },
            "stopReason": "tool_use",
            "usage": {"inputTokens": 6, "cacheReadInputTokens": 4, "outputTokens": 7, "totalTokens": 17},
        },
        "cohere": {
            "finish_reason": "TOOL_CALL",
            "message": {
                "content": [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Look."}],
                "tool_calls": [{"id": "a", "type": "function", "function": call}],
            },
            "usage": {
                "billed_units": {"input_tokens": 1, "output_tokens": 2},
                "tokens": {"input_tokens": 6, "output_tokens": 7},
            },
        },
    }


@pytest.fixture(scope="session")
def streams(whole_bodies: dict[str, dict[str, Any]]) -> dict[str, tuple[str, str]]:
    """The same responses as streams, each with the text that says its end."""
    return {
        "chat": (_chat_stream(whole_bodies["chat"]["usage"]), '"finish_reason": "tool_calls"'),
        "responses": (_responses_stream(whole_bodies["responses"]), "response.completed"),
        "anthropic": (_anthropic_stream(whole_bodies["anthropic"]["usage"]), '{"type": "message_stop"}'),
        "gemini": (_gemini_stream(whole_bodies["gemini"]), '"finishReason": "STOP"'),
        "gemini_list": (
            json.dumps(_gemini_chunks(whole_bodies["gemini"]), indent=1),
            '"finishReason": "STOP"',
        ),
    }


def _chat_stream(usage: dict[str, Any]) -> str:
    deltas: list[dict[str, Any]] = [
        {"role": "assistant", "content": ""},
        {"reasoning_content": "H"},
        {"reasoning_content": "m."},
        {"content": "Lo"},
        {"content": "ok."},
        {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "bash", "arguments": ""}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": '{"command"'}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": ': "ls"}'}}]},
    ]
    chunks: list[dict[str, Any]] = [
        {"object": "chat.completion.chunk", "model": "m-1", "choices": [{"index": 0, "delta": delta}]}
        for delta in deltas
    ]
    chunks[-1]["choices"].append({"index": 1, "delta": {"content": "another choice"}})
    end = {"model": "m-1", "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}
    return ": waiting\n\n" + _events(*chunks, end, {"choices": [], "usage": usage}, done=True)


def _responses_stream(whole: dict[str, Any]) -> str:
    thought, message, call = whole["output"]
    return _events(
        {"type": "response.created", "response": {"model": "m-2", "status": "in_progress", "output": []}},
        {
            "type": "response.output_item.added",
            "output_index": 0,
            "item": {"type": "reasoning", "summary": []},
        },
        {
            "type": "response.reasoning_summary_text.delta",
            "output_index": 0,
            "summary_index": 0,
            "delta": "Hm.",
        },
        {"type": "response.output_item.done", "output_index": 0, "item": thought},
        {"type": "response.output_item.added", "output_index": 1, "item": {"type": "message", "content": []}},
        {"type": "response.output_text.delta", "output_index": 1, "content_index": 0, "delta": "Lo"},
        {"type": "response.output_text.delta", "output_index": 1, "content_index": 0, "delta": "ok."},
        {"type": "response.output_item.done", "output_index": 1, "item": message},
        {"type": "response.output_item.added", "output_index": 2, "item": {**call, "arguments": ""}},
        {"type": "response.function_call_arguments.delta", "output_index": 2, "delta": '{"command": "ls"}'},
        {"type": "response.completed", "response": whole},
        named=True,
    )


def _anthropic_stream(usage: dict[str, Any]) -> str:
    def block(index: int, start: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
        return [
            {"type": "content_block_start", "index": index, "content_block": start},
            *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
            {"type": "content_block_stop", "index": index},
        ]

    start = {"type": "message", "model": "m-3", "content": [], "usage": {**usage, "output_tokens": 1}}
    return _events(
        {"type": "message_start", "message": start},
        *block(
            0,
            {"type": "thinking", "thinking": "", "signature": ""},
            {"type": "thinking_delta", "thinking": "Hm."},
            {"type": "signature_delta", "signature": "s"},
        ),
        *block(
            1,
            {"type": "text", "text": ""},
            {"type": "text_delta", "text": "Lo"},
            {"type": "text_delta", "text": "ok."},
        ),
        *block(
            2,
            {"type": "tool_use", "id": "a", "name": "bash", "input": {}},
            {"type": "input_json_delta", "partial_json": '{"command":'},
            {"type": "input_json_delta", "partial_json": ' "ls"}'},
        ),
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 7}},
        {"type": "message_stop"},
        named=True,
    )


def _gemini_chunks(whole: dict[str, Any]) -> list[dict[str, Any]]:
    parts = [
        {"text": "H", "thought": True},
        {"text": "m.", "thought": True},
        {"text": "Lo"},
        {"text": "ok."},
        {"functionCall": {"name": "bash", "args": {"command": "ls"}}, "thoughtSignature": "s"},
    ]
    chunks: list[dict[str, Any]] = [
        {"candidates": [{"content": {"parts": [part]}}], "modelVersion": "m-4"} for part in parts
    ]
    end = {"content": {"parts": [{"text": ""}]}, "finishReason": "STOP"}
    return [*chunks, {"candidates": [end], "usageMetadata": whole["usageMetadata"], "modelVersion": "m-4"}]


def _gemini_stream(whole: dict[str, Any]) -> str:
    return _events(*_gemini_chunks(whole)).replace("\n", "\r\n")


@pytest.fixture
def asked(endpoint, reply, whole_bodies, streams):
    """Ask a model for a level of thinking, through litellm; returns the answer and the request's headers and body."""

    def run(model: str, level: str, **parameters: Any) -> tuple[Completion, dict[str, str], dict[str, Any]]:
        dialect = {"gemini": "gemini", "anthropic": "anthropic"}.get(model.partition("/")[0], "chat")
        if "/responses/" in model:
            dialect = "responses"
        if dialect == "anthropic":
            endpoint(reply(streams[dialect][0].encode(), content_type=EVENTS))
        elif model.startswith("ollama"):
            endpoint(reply(json.dumps(OLLAMA).encode()))
        else:
            endpoint(reply(json.dumps({"id": "r", "created_at": 1, **whole_bodies[dialect]}).encode()))
        from evalkit.models.access import endpoint_for
        from evalkit.models.name import parse_model

        model_endpoint = endpoint_for(parse_model(model), endpoint.url, level)
        completion = ask(replace(model_endpoint, api_key="key-for-the-test"), **parameters)
        # litellm may ask Ollama what it knows of the model, before or after
        asked = [one for one in endpoint.requests if not one.path.endswith("/api/show")][-1]
        return completion, asked.headers, asked.json

    return run


OLLAMA = {
    "model": "m",
    "created_at": "2026-01-01T00:00:00Z",
    "message": {"role": "assistant", "content": "Look."},
    "done": True,
    "done_reason": "stop",
    "prompt_eval_count": 4,
    "eval_count": 2,
}


def ask(endpoint: Any, **parameters: Any) -> Completion:
    from evalkit.models.endpoint import Question
    from evalkit.models.litellm_setup import close_clients

    async def call() -> Completion:
        try:
            return await endpoint.ask(Question(messages=(SYSTEM, USER), tools=(TOOL,), parameters=parameters))
        finally:
            await close_clients()

    return anyio.run(call)
