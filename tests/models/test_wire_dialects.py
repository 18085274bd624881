"""Does every other dialect keep its own peculiarities?"""

from __future__ import annotations

import json
from typing import Any

import pytest

from evalkit.models.reading import Call, Other, Reading, Reasoning, Text
from evalkit.models.usage import Usage
from evalkit.models.wire import read, read_object


def reading_of(value: dict[str, Any]) -> Reading:
    reading = read_object(value)
    assert reading is not None
    return reading


def message(*content: dict[str, Any], **more: Any) -> Reading:
    return reading_of({"type": "message", "content": list(content), **more})


def response(*output: dict[str, Any], **more: Any) -> Reading:
    return reading_of({"object": "response", "status": "completed", "output": list(output), **more})


def candidate(*parts: dict[str, Any], **more: Any) -> Reading:
    return reading_of({"candidates": [{"content": {"parts": list(parts)}, **more}]})


@pytest.mark.parametrize("dialect", ["chat", "responses", "anthropic", "gemini", "bedrock", "cohere"])
def test_every_dialect_says_the_same(dialect: str, whole_bodies: dict[str, dict[str, Any]]) -> None:
    reading = read(json.dumps(whole_bodies[dialect]).encode(), "application/json")
    assert reading is not None
    thought, said, called = reading.blocks
    assert isinstance(thought, Reasoning)
    assert isinstance(said, Text)
    assert isinstance(called, Call)
    assert (thought.text, said.text, called.tool) == ("Hm.", "Look.", "bash")
    assert json.loads(called.arguments) == {"command": "ls"}
    assert (reading.finish, reading.complete, reading.error) == ("tool_calls", True, None)
    usage = reading.usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens) == (6, 7)
    if dialect != "cohere":
        assert usage.cache_read_tokens == 4
    assert usage.reasoning_tokens == (None if dialect in {"bedrock", "cohere"} else 3)


def test_interleaved_thinking_keeps_its_order() -> None:
    reading = message(
        {"type": "thinking", "thinking": "", "signature": "s1"},
        {"type": "text", "text": "a"},
        {"type": "redacted_thinking", "data": "x"},
        {"type": "server_tool_use", "id": "b", "name": "web_search", "input": {}},
        {"type": "text", "text": ""},
    )
    assert reading.blocks == (
        Reasoning(signature="s1"),
        Text(text="a"),
        Reasoning(opaque="x"),
        Other(type="server_tool_use"),
    )


@pytest.mark.parametrize(
    ("word", "finish"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "context_length"),
        ("refusal", "content_filter"),
        ("pause_turn", "unknown"),
    ],
)
def test_anthropic_finishes(word: str, finish: str) -> None:
    reading = message(stop_reason=word)
    assert (reading.finish, reading.finish_raw) == (finish, word)


def test_a_cut_message_has_no_output_count() -> None:
    start = {
        "type": "message_start",
        "message": {"model": "m", "usage": {"input_tokens": 9, "output_tokens": 1}},
    }
    reading = read(f"event: message_start\ndata: {json.dumps(start)}\n\n")
    assert reading is not None
    assert (reading.usage, reading.complete) == (Usage(input_tokens=9), False)
    assert reading.raw_usage == {"input_tokens": 9, "output_tokens": 1}


def test_deltas_find_their_block_by_its_index() -> None:
    starts = [{"type": "text", "text": ""}, {"type": "tool_use", "id": "a", "name": "f", "input": {}}]
    deltas = [
        (0, {"type": "text_delta", "text": "4"}),
        (1, {"type": "input_json_delta", "partial_json": "{}"}),
    ]
    events: list[dict[str, Any]] = [
        *(
            {"type": "content_block_start", "index": place, "content_block": start}
            for place, start in enumerate(starts)
        ),
        *({"type": "content_block_delta", "index": place, "delta": delta} for place, delta in deltas),
        {"type": "message_stop"},
    ]
    reading = read("".join(f"data: {json.dumps(event)}\n\n" for event in events))
    assert reading is not None
    assert reading.blocks == (Text(text="4"), Call(id="a", tool="f", arguments="{}"))


def test_an_error_event_ends_a_message() -> None:
    start = {"type": "message_start", "message": {"model": "m"}}
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    reading = read("".join(f"data: {json.dumps(event)}\n\n" for event in (start, error)))
    assert reading is not None
    assert (reading.error, reading.complete, reading.model_served) == ("Overloaded", False, "m")


def test_a_reasoning_item_is_one_block_with_its_ciphertext() -> None:
    summary = [{"type": "summary_text", "text": "a"}, {"type": "summary_text", "text": "b"}]
    reading = response(
        {"type": "reasoning", "summary": summary, "encrypted_content": "x"},
        {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "c"}]},
        {"type": "reasoning", "summary": []},
        {"type": "web_search_call", "status": "completed"},
    )
    assert reading.blocks == (
        Reasoning(text="a\n\nb", is_summary=True, opaque="x"),
        Reasoning(text="c"),
        Other(type="web_search_call"),
    )


def test_a_refused_response_counts_as_filtered() -> None:
    reading = response({"type": "message", "content": [{"type": "refusal", "refusal": "No."}]})
    assert (reading.blocks, reading.finish) == ((Text(text="No."),), "content_filter")


@pytest.mark.parametrize(
    ("reason", "finish"), [("max_output_tokens", "length"), ("content_filter", "content_filter")]
)
def test_an_incomplete_response_says_why(reason: str, finish: str) -> None:
    reading = response(status="incomplete", incomplete_details={"reason": reason})
    assert (reading.finish, reading.finish_raw, reading.complete) == (finish, reason, True)


def test_an_incomplete_response_that_says_no_more_is_unknown() -> None:
    reading = response(status="incomplete")
    assert (reading.finish, reading.finish_raw) == ("unknown", "incomplete")


def test_a_custom_tool_of_a_response_takes_free_text() -> None:
    reading = response({"type": "custom_tool_call", "call_id": "a", "name": "sql", "input": "select 1"})
    assert (reading.blocks, reading.finish) == (
        (Call(id="a", tool="sql", arguments="select 1"),),
        "tool_calls",
    )


def test_parts_of_a_message_that_are_no_text_are_named() -> None:
    content = [{"type": "output_audio"}, {"type": "output_text", "text": ""}, {"type": "refusal"}]
    assert response({"type": "message", "content": content}).blocks == (Other(type="output_audio"),)


def test_a_response_is_known_by_its_name_or_by_its_parts() -> None:
    assert read_object({"object": "response"}) == Reading()
    assert read_object({"output": [], "status": "completed"}) == Reading(
        finish="stop", finish_raw="completed"
    )
    assert read_object({"output": []}) is None


def test_an_error_event_stops_a_streamed_response() -> None:
    events: list[dict[str, Any]] = [
        {"type": "response.output_text.delta", "output_index": 0, "delta": "4"},
        {"type": "error", "code": "server_error", "message": "broke"},
    ]
    reading = read("".join(f"data: {json.dumps(event)}\n\n" for event in events))
    assert reading is not None
    assert (reading.blocks, reading.error, reading.complete) == ((Text(text="4"),), "broke", False)


def test_a_failed_response_has_its_error() -> None:
    reading = response(status="failed", error={"code": "server_error", "message": "broke"})
    assert (reading.error, reading.finish) == ("broke", "unknown")


def test_a_response_that_is_still_made_is_not_complete() -> None:
    assert not response(status="in_progress").complete


@pytest.mark.parametrize("end", ["completed", "incomplete", "failed"])
def test_each_end_of_a_streamed_response_is_one(end: str) -> None:
    event = {"type": f"response.{end}", "response": {"object": "response", "status": end, "output": []}}
    reading = read(f"data: {json.dumps(event)}\n\n")
    assert reading is not None
    assert (reading.complete, reading.finish_raw) == (True, end)


def test_a_streamed_response_without_output_at_its_end_keeps_what_was_said() -> None:
    item = {"type": "message", "content": [{"type": "output_text", "text": "4"}]}
    events: list[dict[str, Any]] = [
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"status": "completed", "output": []}},
    ]
    reading = read("".join(f"data: {json.dumps(event)}\n\n" for event in events))
    assert reading is not None
    assert reading.blocks == (Text(text="4"),)


def test_a_cut_response_has_what_was_said_so_far() -> None:
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {"model": "m", "status": "in_progress", "output": []}},
        {
            "type": "response.reasoning_summary_text.delta",
            "output_index": 0,
            "summary_index": 0,
            "delta": "a",
        },
        {
            "type": "response.reasoning_summary_text.delta",
            "output_index": 0,
            "summary_index": 1,
            "delta": "b",
        },
        {"type": "response.output_text.delta", "output_index": 1, "content_index": 0, "delta": "4"},
        {"type": "response.refusal.delta", "output_index": 1, "content_index": 1, "delta": "No."},
    ]
    reading = read("".join(f"data: {json.dumps(event)}\n\n" for event in events))
    assert reading is not None
    assert reading.blocks == (Reasoning(text="a\n\nb", is_summary=True), Text(text="4"), Text(text="No."))
    assert (reading.complete, reading.model_served) == (False, "m")


def test_thoughts_that_are_streamed_in_the_open_are_no_summary() -> None:
    part = {"type": "response.reasoning_text.delta", "output_index": 0, "content_index": 0, "delta": "hm"}
    reading = read(f"data: {json.dumps(part)}\n\n")
    assert reading == Reading(blocks=(Reasoning(text="hm"),), finish_raw="in_progress", complete=False)


def test_signatures_stay_on_the_part_that_they_came_with() -> None:
    reading = candidate(
        {"text": "hm", "thought": True},
        {"text": "4", "thoughtSignature": "s1"},
        {"functionCall": {"name": "f"}, "thoughtSignature": "s2"},
        {"executableCode": {"code": "1"}},
        {"text": ""},
    )
    assert reading.blocks == (
        Reasoning(text="hm", is_summary=True),
        Text(text="4", signature="s1"),
        Call(id="", tool="f", arguments="{}", signature="s2"),
        Other(type="executableCode"),
    )


@pytest.mark.parametrize(
    ("word", "finish"),
    [
        ("STOP", "stop"),
        ("MAX_TOKENS", "length"),
        ("SAFETY", "content_filter"),
        ("PROHIBITED_CONTENT", "content_filter"),
        ("RECITATION", "content_filter"),
        ("BLOCKLIST", "content_filter"),
        ("SPII", "content_filter"),
        ("LANGUAGE", "content_filter"),
        ("MALFORMED_FUNCTION_CALL", "unknown"),
    ],
)
def test_google_finishes(word: str, finish: str) -> None:
    reading = reading_of({"candidates": [{"finishReason": word}]})
    assert (reading.blocks, reading.finish, reading.finish_raw) == ((), finish, word)


def test_a_refused_prompt_has_no_candidates() -> None:
    reading = reading_of({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}})
    assert (reading.finish, reading.finish_raw, reading.complete) == (
        "content_filter",
        "PROHIBITED_CONTENT",
        True,
    )


def test_counts_alone_are_a_response_of_googles_too() -> None:
    reading = reading_of({"usageMetadata": {"promptTokenCount": 5, "totalTokenCount": 5}})
    assert reading.usage == Usage(input_tokens=5)


def test_an_error_inside_a_stream_of_googles_is_kept() -> None:
    events: list[dict[str, Any]] = [
        {"candidates": [{"content": {"parts": [{"text": "4"}]}}]},
        {"error": {"code": 503, "message": "overloaded"}},
    ]
    for body in (json.dumps(events), "".join(f"data: {json.dumps(event)}\n\n" for event in events)):
        reading = read(body)
        assert reading is not None
        assert (reading.blocks, reading.error, reading.complete) == ((Text(text="4"),), "overloaded", False)


def test_a_part_is_named_by_its_own_field_not_by_what_stands_beside_it() -> None:
    assert candidate({"mediaResolution": {}, "inlineData": {}}).blocks == (Other(type="inlineData"),)


def test_google_thoughts_without_a_count_are_unknown() -> None:
    counts = {"promptTokenCount": 5, "candidatesTokenCount": 2, "totalTokenCount": 7}
    parts = [{"text": "hm", "thought": True}, {"text": "4"}]
    reading = reading_of({"candidates": [{"content": {"parts": parts}}], "usageMetadata": counts})
    assert reading.usage == Usage(input_tokens=5, output_tokens=2)


def test_an_answer_in_a_list_is_read_too(whole_bodies: dict[str, dict[str, Any]]) -> None:
    body = whole_bodies["gemini"]
    assert read(json.dumps([body])) == read_object(body)


@pytest.mark.parametrize(
    ("word", "finish"),
    [
        ("COMPLETE", "stop"),
        ("STOP_SEQUENCE", "stop"),
        ("MAX_TOKENS", "length"),
        ("ERROR_LIMIT", "context_length"),
        ("ERROR_TOXIC", "content_filter"),
        ("TIMEOUT", "unknown"),
    ],
)
def test_cohere_finishes(word: str, finish: str) -> None:
    reading = reading_of({"finish_reason": word, "message": {"tool_plan": "I look.", "content": None}})
    assert (reading.blocks, reading.finish, reading.finish_raw) == ((Text(text="I look."),), finish, word)


@pytest.mark.parametrize(
    ("word", "finish"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "context_length"),
        ("content_filtered", "content_filter"),
        ("malformed_tool_use", "unknown"),
    ],
)
def test_bedrock_finishes(word: str, finish: str) -> None:
    use = {"toolUse": {"toolUseId": "a", "name": "f", "input": {}}}
    reading = reading_of({"output": {"message": {"content": [use]}}, "stopReason": word})
    assert reading.blocks == (Call(id="a", tool="f", arguments="{}"),)
    assert (reading.finish, reading.finish_raw) == (finish, word)


def test_redacted_thinking_of_bedrock_is_opaque() -> None:
    content = [{"reasoningContent": {"redactedContent": "x"}}, {"image": {}}]
    reading = reading_of({"output": {"message": {"content": content}}, "stopReason": "guardrail_intervened"})
    assert reading.blocks == (Reasoning(opaque="x"), Other(type="image"))
    assert reading.finish == "content_filter"


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"error": {"message": "no such model", "code": 404}}, "no such model"),
        ({"error": "no such model"}, "no such model"),
        ({"type": "error", "error": {"type": "x", "message": "bad"}}, "bad"),
        ({"type": "error", "code": "x", "message": "bad"}, "bad"),
        ({"object": "error", "message": "bad"}, "bad"),
        ([{"error": {"code": 400, "message": "bad"}}], "bad"),
        ({"error": {"code": 7}}, '{"code": 7}'),
        ({"error": {"type": "overloaded"}}, "overloaded"),
        ({"error": {"code": "busy"}}, "busy"),
        ({"error": {"error": {"message": "bad"}}}, "bad"),
        ({"type": "error"}, '{"type": "error"}'),
    ],
)
def test_an_error_body_is_a_reading_of_its_error(body: object, error: str) -> None:
    assert read(json.dumps(body)) == Reading(error=error)


@pytest.mark.parametrize(
    "body", ["", " ", "null", "7", '"x"', "[]", "{}", "{", '{"a": 1}', "<html>", "[1, 2]"]
)
def test_a_shape_that_nobody_knows_is_none(body: str) -> None:
    assert read(body) is None
    assert read(body.encode()) is None


def test_a_byte_order_mark_and_blank_lines_do_no_harm(whole_bodies: dict[str, dict[str, Any]]) -> None:
    body = json.dumps(whole_bodies["chat"])
    assert read(b"\xef\xbb\xbf" + body.encode()) == read("\n\n " + body) == read_object(whole_bodies["chat"])
