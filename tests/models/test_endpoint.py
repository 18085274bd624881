"""Every provider's dialect through litellm: what comes back is kept in order, and goes back as it came."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import anyio
import pytest

from evalkit.models.endpoint import Completion, Endpoint, Question
from evalkit.models.failure import EndpointFailure
from evalkit.models.litellm_setup import close_clients
from evalkit.models.reading import Call, Reasoning, Text
from evalkit.models.sent_settings import left_out

EVENTS = "text/event-stream"
TOOL = {
    "type": "function",
    "function": {
        "name": "bash",
        "description": "Run.",
        "parameters": {"type": "object", "properties": {"command": {"type": "string"}}},
    },
}
USER = {"role": "user", "content": "Go."}
KEEPING = {"include": ["reasoning.encrypted_content"], "store": False}
CLAUDE = {
    "id": "m",
    "type": "message",
    "role": "assistant",
    "model": "claude-x",
    "stop_reason": "tool_use",
    "content": [
        {"type": "thinking", "thinking": "First.", "signature": "c2lnMQ=="},
        {"type": "text", "text": "I look."},
        {"type": "redacted_thinking", "data": "b3BhcXVl"},
        {"type": "thinking", "thinking": "Second.", "signature": "c2lnMg=="},
        {"type": "tool_use", "id": "t1", "name": "bash", "input": {"command": "ls"}},
        {"type": "tool_use", "id": "t2", "name": "bash", "input": {"command": "pwd"}},
    ],
    "usage": {
        "input_tokens": 10,
        "cache_read_input_tokens": 30,
        "cache_creation_input_tokens": 5,
        "output_tokens": 40,
    },
}
GEMINI = {
    "candidates": [
        {
            "content": {
                "role": "model",
                "parts": [
                    {"text": "First.", "thought": True},
                    {
                        "functionCall": {"name": "bash", "args": {"command": "ls"}},
                        "thoughtSignature": "c2lnMQ==",
                    },
                    {"functionCall": {"name": "bash", "args": {"command": "pwd"}}},
                ],
            },
            "finishReason": "STOP",
        }
    ],
    "modelVersion": "gemini-x",
    "usageMetadata": {
        "promptTokenCount": 12,
        "candidatesTokenCount": 8,
        "thoughtsTokenCount": 20,
        "totalTokenCount": 40,
    },
}
RESPONSES = {
    "id": "r",
    "object": "response",
    "created_at": 1,
    "status": "completed",
    "model": "gpt-x",
    "output": [
        {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": "First."}],
            "encrypted_content": "b3BhcXVl",
        },
        {
            "type": "function_call",
            "id": "fc_1",
            "call_id": "t1",
            "name": "bash",
            "arguments": '{"command":"ls"}',
            "status": "completed",
        },
        {
            "type": "function_call",
            "id": "fc_2",
            "call_id": "t2",
            "name": "bash",
            "arguments": '{"command":"pwd"}',
            "status": "completed",
        },
    ],
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
    "usage": {
        "input_tokens": 12,
        "input_tokens_details": {"cached_tokens": 4},
        "output_tokens": 28,
        "output_tokens_details": {"reasoning_tokens": 20},
        "total_tokens": 40,
    },
}


def ask(endpoint: Endpoint, *messages: Mapping[str, Any], **parameters: Any) -> Completion:
    """One real call through litellm, on an event loop of its own."""

    async def call() -> Completion:
        try:
            question = Question(messages=messages or (USER,), tools=(TOOL,), parameters=parameters)
            return await endpoint.ask(question)
        finally:
            await close_clients()

    return anyio.run(call)


@pytest.fixture
def at(endpoint):
    """An endpoint object for a model at the local server."""

    def make(model: str, **more: Any) -> Endpoint:
        return Endpoint(model=model, base_url=endpoint.url, api_key="key-for-the-test", **more)

    return make


@pytest.fixture
def answered(endpoint, reply, at):
    """Ask once, give the results of its calls, ask again: the first answer, and the second request's body."""

    def run(model: str, body: Mapping[str, Any], **more: Any) -> tuple[Completion, dict[str, Any]]:
        endpoint(reply(json.dumps(body).encode()))
        first = ask(at(model, **more))
        results = [
            {"role": "tool", "tool_call_id": block.id, "name": block.tool, "content": f"result {index}"}
            for index, block in enumerate(block for block in first.reading.blocks if isinstance(block, Call))
        ]
        given = first.message.get("tool_calls")
        for result, call in zip(results, given if isinstance(given, list) else [], strict=True):
            result["tool_call_id"] = call["id"]
        ask(at(model, **more), USER, first.message, *results)
        return first, endpoint.requests[1].json

    return run


def test_anthropics_interleaved_blocks_stay_in_order_and_go_back_with_their_signatures(answered):
    first, sent = answered("anthropic/claude-sonnet-4-5", CLAUDE)
    assert first.reading.blocks == (
        Reasoning(text="First.", signature="c2lnMQ=="),
        Text(text="I look."),
        Reasoning(opaque="b3BhcXVl"),
        Reasoning(text="Second.", signature="c2lnMg=="),
        Call(id="t1", tool="bash", arguments='{"command": "ls"}'),
        Call(id="t2", tool="bash", arguments='{"command": "pwd"}'),
    )
    assert sent["messages"][1]["content"] == CLAUDE["content"]
    results = sent["messages"][2]["content"]
    assert [(part["type"], part["tool_use_id"]) for part in results] == [
        ("tool_result", "t1"),
        ("tool_result", "t2"),
    ]


def test_anthropic_says_no_split_and_none_is_made_up(answered):
    first, _ = answered("anthropic/claude-sonnet-4-5", CLAUDE)
    usage = first.reading.usage
    assert (usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens) == (10, 30, 5)
    assert (usage.output_tokens, usage.reasoning_tokens) == (40, None)
    assert first.reading.raw_usage == CLAUDE["usage"]


def test_geminis_signatures_go_back_with_the_calls_they_came_with(answered):
    first, sent = answered("gemini/gemini-3-pro-preview", GEMINI)
    assert first.reading.blocks[0] == Reasoning(text="First.", is_summary=True)
    parts = next(content for content in sent["contents"] if content["role"] == "model")["parts"]
    calls = [part for part in parts if "function_call" in part or "functionCall" in part]
    assert len(calls) == 2
    assert calls[0]["thoughtSignature"] == "c2lnMQ=="
    usage = first.reading.usage
    assert (usage.input_tokens, usage.output_tokens, usage.reasoning_tokens) == (12, 28, 20)


def test_openais_encrypted_reasoning_stays_opaque_and_goes_back_before_its_calls(answered):
    first, sent = answered("openai/responses/gpt-5", RESPONSES, always=KEEPING)
    assert first.reading.blocks[0] == Reasoning(text="First.", is_summary=True, opaque="b3BhcXVl")
    items = sent["input"]
    kinds = [item.get("type") for item in items]
    assert kinds == [
        "message",
        "reasoning",
        "function_call",
        "function_call",
        "function_call_output",
        "function_call_output",
    ]
    assert items[1]["encrypted_content"] == "b3BhcXVl"
    assert (sent["store"], sent["include"]) == (False, ["reasoning.encrypted_content"])


def test_mistrals_thoughts_go_back_as_thoughts(answered):
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "First."}]}
    body = chat({"role": "assistant", "content": [thinking, {"type": "text", "text": "I look."}]})
    first, sent = answered("mistral/magistral-medium-latest", body)
    assert first.reading.blocks == (Reasoning(text="First."), Text(text="I look."))
    content = sent["messages"][1]["content"]
    assert content[0]["type"] == "thinking"
    assert content[0]["thinking"][0]["text"] == "First."
    assert content[1] == {"type": "text", "text": "I look."}


@pytest.mark.parametrize(
    "model",
    [
        "deepseek/deepseek-reasoner",
        "groq/openai/gpt-oss-120b",
        "openrouter/anthropic/claude-sonnet-4.5",
        "openai/some-model",
        "hosted_vllm/some-model",
        "cerebras/gpt-oss-120b",
        "together_ai/some/model",
        "fireworks_ai/some-model",
        "xai/grok-4",
        "zai/glm-4.6",
        "moonshot/kimi-k2-thinking",
        "nvidia_nim/some/model",
        "dashscope/qwen3-max",
    ],
)
def test_every_providers_exchange_is_heard_on_the_wire(answered, model):
    call = {"id": "t1", "type": "function", "function": {"name": "bash", "arguments": '{"command":"ls"}'}}
    body = chat(
        {"role": "assistant", "content": "I look.", "reasoning_content": "First.", "tool_calls": [call]}
    )
    first, sent = answered(model, body)
    assert json.loads(first.sent)["messages"][0]["content"] == "Go."
    assert first.reading.blocks == (
        Reasoning(text="First."),
        Text(text="I look."),
        Call(id="t1", tool="bash", arguments='{"command":"ls"}'),
    )
    assert first.reading.model_served == "served-model"
    assert sent["messages"][1]["tool_calls"][0]["id"] == "t1"


def chat(message: Mapping[str, Any], **usage: Any) -> dict[str, Any]:
    finish = "tool_calls" if message.get("tool_calls") else "stop"
    counts = {"prompt_tokens": 12, "completion_tokens": 8, "total_tokens": 20, **usage}
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "served-model",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": counts,
    }


def stream(*events: Mapping[str, Any], named: bool = False) -> bytes:
    lines = [
        (f"event: {event['type']}\n" if named else "") + f"data: {json.dumps(event)}\n\n" for event in events
    ]
    return "".join(lines).encode()


CLAUDE_STREAM = stream(
    {"type": "message_start", "message": {**CLAUDE, "content": [], "stop_reason": None}},
    {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "thinking", "thinking": "", "signature": ""},
    },
    {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "First."}},
    {
        "type": "content_block_delta",
        "index": 0,
        "delta": {"type": "signature_delta", "signature": "c2lnMQ=="},
    },
    {"type": "content_block_stop", "index": 0},
    {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "I look."}},
    {"type": "content_block_stop", "index": 1},
    {
        "type": "content_block_start",
        "index": 2,
        "content_block": {"type": "tool_use", "id": "t1", "name": "bash", "input": {}},
    },
    {
        "type": "content_block_delta",
        "index": 2,
        "delta": {"type": "input_json_delta", "partial_json": '{"command"'},
    },
    {
        "type": "content_block_delta",
        "index": 2,
        "delta": {"type": "input_json_delta", "partial_json": ': "ls"}'},
    },
    {"type": "content_block_stop", "index": 2},
    {
        "type": "message_delta",
        "delta": {"stop_reason": "tool_use", "stop_sequence": None},
        "usage": {"output_tokens": 40},
    },
    {"type": "message_stop"},
    named=True,
)


def test_a_streamed_answer_reads_like_a_whole_one_and_goes_back_alike(endpoint, reply, at):
    endpoint(reply(CLAUDE_STREAM, content_type=EVENTS))
    model = at("anthropic/claude-sonnet-4-5", stream=True)
    first = ask(model)
    assert first.reading.blocks == (
        Reasoning(text="First.", signature="c2lnMQ=="),
        Text(text="I look."),
        Call(id="t1", tool="bash", arguments='{"command": "ls"}'),
    )
    assert first.reading.usage.output_tokens == 40
    ask(model, USER, first.message, {"role": "tool", "tool_call_id": "t1", "content": "a"})
    assert endpoint.requests[0].json["stream"] is True
    assert endpoint.requests[1].json["messages"][1]["content"] == [CLAUDE["content"][i] for i in (0, 1, 4)]


@pytest.mark.parametrize("tenths", range(10))
def test_a_stream_cut_off_anywhere_is_a_failure_that_may_be_tried_again(endpoint, reply, at, tenths):
    endpoint(reply(CLAUDE_STREAM, content_type=EVENTS, cut_after=len(CLAUDE_STREAM) * tenths // 10))
    with pytest.raises(EndpointFailure) as failed:
        ask(at("anthropic/claude-sonnet-4-5", stream=True))
    assert failed.value.cause.retryable


def test_a_stream_that_ends_politely_too_early_is_a_failure_too(endpoint, reply, at):
    half = CLAUDE_STREAM[: CLAUDE_STREAM.index(b"event: message_delta")]
    endpoint(reply(half, content_type=EVENTS))
    with pytest.raises(EndpointFailure, match="broke its answer off before the end"):
        ask(at("anthropic/claude-sonnet-4-5", stream=True))


def test_a_server_that_nobody_is_at_is_said_to_be_unreachable(endpoint):
    endpoint.close()
    with pytest.raises(
        EndpointFailure, match="could not be reached: All connection attempts failed"
    ) as failed:
        ask(Endpoint(model="openai/x", base_url=endpoint.url, api_key="key-for-the-test"))
    cause = failed.value.cause
    assert (cause.status, cause.retryable, cause.maybe_billed) == (None, True, False)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after-ms": "250", "retry-after": "3"}, 0.25),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({}, None),
    ],
)
def test_how_long_an_endpoint_asks_to_wait(endpoint, reply, at, headers, seconds):
    endpoint(reply(b'{"error": {"message": "busy"}}', status=429, headers=headers))
    with pytest.raises(EndpointFailure) as failed:
        ask(at("openai/x"))
    assert failed.value.cause.retry_after_s == seconds


def test_an_empty_account_is_not_waited_for(endpoint, reply, at):
    body = {"error": {"message": "You exceeded your current quota.", "code": "insufficient_quota"}}
    endpoint(reply(json.dumps(body).encode(), status=429))
    with pytest.raises(EndpointFailure) as failed:
        ask(at("openai/x"))
    assert not failed.value.cause.retryable


@pytest.mark.parametrize(
    "body", [b"", b"<html>gateway</html>", b"[]", b"null", b'{"choices": []}', b"\xff\xfe"]
)
def test_an_answer_that_makes_no_sense_is_a_failure(endpoint, reply, at, body):
    endpoint(reply(body))
    with pytest.raises(EndpointFailure):
        ask(at("openai/x"))


def test_a_call_that_the_endpoint_itself_finds_invalid_is_the_models_mistake(endpoint, reply, at):
    error = {
        "message": "Tool call validation failed",
        "type": "invalid_request_error",
        "code": "tool_use_failed",
        "failed_generation": '{"name": "bash", "arguments": {"cmd": 1}}',
    }
    endpoint(reply(json.dumps({"error": error}).encode(), status=400))
    completion = ask(at("groq/openai/gpt-oss-120b"))
    (call,) = completion.reading.blocks
    assert (call.tool, call.arguments) == ("bash", '{"cmd": 1}')
    assert completion.invalid_calls == {0: "Tool call validation failed"}
    assert completion.reading.usage is None


def test_reasoning_of_responses_goes_back_before_what_it_led_to(answered):
    second = {"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": "bW9yZQ=="}
    said = {
        "type": "message",
        "id": "m1",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "I look.", "annotations": []}],
    }
    body = {
        **RESPONSES,
        "output": [RESPONSES["output"][0], said, RESPONSES["output"][1], second, RESPONSES["output"][2]],
    }
    _, sent = answered("openai/responses/gpt-5", body, always=KEEPING)
    kinds = [item.get("id", item["type"]) for item in sent["input"][1:]]
    assert kinds == ["rs_1", "m1", "fc_1", "rs_2", "fc_2", "function_call_output", "function_call_output"]


@pytest.mark.parametrize("status", [301, 302, 307, 308])
@pytest.mark.parametrize("model", ["anthropic/claude-sonnet-4-5", "gemini/gemini-2.5-pro", "openai/x"])
def test_a_redirection_to_another_host_never_gets_the_key(endpoint, reply, at, status, model):
    from tests.conftest import ReplayServer

    elsewhere = ReplayServer()
    endpoint(reply(b"", status=status, headers={"location": elsewhere.url + "/v1"}))
    with pytest.raises(EndpointFailure, match="sends its callers on to another address") as failed:
        ask(at(model))
    elsewhere.close()
    assert elsewhere.requests == []
    assert not failed.value.cause.retryable


@pytest.mark.parametrize("body", [b"<html>login</html>", b"", b"{}", b"null", b'{"status": "ok"}', b"fine"])
@pytest.mark.parametrize(
    "model",
    [
        "anthropic/claude-sonnet-4-5",
        "gemini/gemini-2.5-pro",
        "openai/responses/gpt-5",
        "deepseek/deepseek-chat",
    ],
)
def test_an_answer_that_is_none_is_a_failure_at_every_provider(endpoint, reply, at, model, body):
    endpoint(reply(body))
    with pytest.raises(EndpointFailure) as failed:
        ask(at(model))
    assert failed.value.cause.retryable
    assert "litellm" not in str(failed.value)


@pytest.mark.parametrize(
    "change",
    [
        {"usageMetadata": None},
        {"usageMetadata": {"promptTokenCount": "12", "candidatesTokenCount": [], "totalTokenCount": -1}},
    ],
)
def test_geminis_answer_counts_without_its_counts(answered, change):
    body = {name: value for name, value in {**GEMINI, **change}.items() if value is not None}
    first, sent = answered("gemini/gemini-2.5-pro", body)
    assert len([block for block in first.reading.blocks if isinstance(block, Call)]) == 2
    usage = first.reading.usage
    assert usage is None or (usage.input_tokens, usage.output_tokens) == (None, None)
    assert "functionCall" in json.dumps(sent) or "function_call" in json.dumps(sent)


def test_geminis_call_without_arguments_is_a_call(answered):
    part = {"functionCall": {"name": "bash"}}
    body = {**GEMINI, "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}]}
    first, _ = answered("gemini/gemini-2.5-pro", body)
    (call,) = first.reading.blocks
    assert (call.tool, json.loads(call.arguments)) == ("bash", {})


@pytest.mark.parametrize(
    "message",
    [
        {"content": None, "function_call": {"name": "bash", "arguments": '{"command":"ls"}'}},
        {
            "content": "",
            "tool_calls": [{"id": "t1", "function": {"name": "bash", "arguments": {"command": "ls"}}}],
        },
        {
            "content": [{"type": "text", "text": "Hm."}],
            "tool_calls": [{"id": "t1", "function": {"name": "bash"}}],
        },
    ],
)
def test_odd_calls_go_back_in_the_form_that_every_endpoint_takes(answered, message):
    _, sent = answered("openai/x", chat({"role": "assistant", **message}))
    (call,) = sent["messages"][1]["tool_calls"]
    assert (call["type"], call["function"]["name"]) == ("function", "bash")
    assert isinstance(call["function"]["arguments"], str)
    assert call["id"] == sent["messages"][2]["tool_call_id"]


@pytest.mark.parametrize("calls", [[], [None], {}, "none"])
def test_a_list_of_calls_that_holds_none_does_not_go_back(answered, calls):
    _, sent = answered("openai/x", chat({"role": "assistant", "content": "Hm.", "tool_calls": calls}))
    assert "tool_calls" not in sent["messages"][1]


def test_a_turn_of_claudes_never_ends_in_a_thought(answered):
    body = {**CLAUDE, "content": CLAUDE["content"][:1], "stop_reason": "max_tokens"}
    _, sent = answered("anthropic/claude-sonnet-4-5", body)
    assert sent["messages"][1]["content"][-1] == {"type": "text", "text": "(no content)"}


@pytest.mark.parametrize(
    "model",
    [
        "gemini/gemini-2.5-pro",
        "mistral/mistral-small-latest",
        "groq/openai/gpt-oss-120b",
        "openai/x",
        "xai/grok-4",
    ],
)
def test_settings_go_out_under_whatever_name(endpoint, reply, at, model):
    body = GEMINI if model.startswith("gemini/") else chat({"role": "assistant", "content": "Hm."})
    endpoint(reply(json.dumps(body).encode()))
    ask(at(model), temperature=0.25, seed=77, max_tokens=1234)
    sent = endpoint.requests[0].body
    assert all(number in sent for number in (b"0.25", b"77", b"1234"))


@pytest.mark.parametrize(
    ("model", "setting"),
    [
        ("openai/responses/gpt-5", {"seed": 7}),
        ("openai/responses/gpt-5", {"stop": ["x"]}),
        ("anthropic/claude-sonnet-4-5", {"seed": 7}),
        ("openai/responses/gpt-5", {"temperature": 0.3}),
    ],
)
def test_a_setting_that_cannot_be_sent_is_an_error_and_never_left_out(endpoint, reply, at, model, setting):
    endpoint(reply(json.dumps(RESPONSES if "responses" in model else CLAUDE).encode()))
    with pytest.raises(EndpointFailure, match=next(iter(setting))) as failed:
        ask(at(model), **setting)
    assert endpoint.requests == []
    assert not failed.value.cause.retryable
    assert "litellm" not in str(failed.value)


def test_a_setting_that_was_left_out_all_the_same_is_noticed():
    asked = {"temperature": 0.5, "seed": 7, "stop": ["x"], "max_tokens": 100}
    whole = {"messages": ["7"], "generationConfig": {"temperature": 0.5, "seed": 7, "max_output_tokens": 100}}
    assert left_out(json.dumps(whole).encode(), asked) == []
    assert left_out(json.dumps({"messages": [7, 100], "temperature": 0.5}).encode(), asked) == [
        "seed 7",
        "max_tokens 100",
    ]
    assert left_out(b"no json", asked) == []
