"""Are chat completions read alike, whoever serves them?"""

from __future__ import annotations

import json
from typing import Any

import pytest

from evalkit.models.reading import Block, Call, Other, Reading, Reasoning, Text
from evalkit.models.wire import read, read_object


def completion(message: dict[str, Any], **more: Any) -> Reading:
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    reading = read_object({"object": "chat.completion", "choices": [choice], **more})
    assert reading is not None
    return reading


def blocks(message: dict[str, Any]) -> tuple[Block, ...]:
    return completion(message).blocks


def test_a_plain_answer_is_one_text() -> None:
    assert completion({"content": "4"}) == Reading(blocks=(Text(text="4"),), finish="stop", finish_raw="stop")


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_thinking_in_a_field_of_its_own_comes_first(name: str) -> None:
    assert blocks({"content": "4", name: "hm"}) == (Reasoning(text="hm"), Text(text="4"))


def test_the_same_thinking_under_two_names_counts_once() -> None:
    message = {"content": "4", "reasoning": "hm", "reasoning_content": "hm"}
    assert blocks(message) == (Reasoning(text="hm"), Text(text="4"))


def test_details_are_preferred_for_their_signature() -> None:
    details = [{"type": "reasoning.text", "text": "hm", "signature": "s"}]
    message = {"content": "4", "reasoning": "hm", "reasoning_details": details}
    assert blocks(message) == (Reasoning(text="hm", signature="s"), Text(text="4"))


def test_encrypted_details_stand_beside_thinking_that_can_be_read() -> None:
    details = [{"type": "reasoning.encrypted", "data": "x"}, {"type": "reasoning.encrypted", "data": None}]
    message = {"content": "4", "reasoning": "hm", "reasoning_details": details}
    assert blocks(message) == (Reasoning(text="hm"), Reasoning(opaque="x"), Text(text="4"))


def test_a_summary_is_marked_as_one() -> None:
    details = [{"type": "reasoning.summary", "summary": "short"}]
    assert blocks({"reasoning_details": details}) == (Reasoning(text="short", is_summary=True),)


def test_thinking_blocks_keep_signatures_and_redactions() -> None:
    thinking = [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "redacted_thinking", "data": "x"},
    ]
    expected = (Reasoning(text="hm", signature="s"), Reasoning(opaque="x"), Text(text="4"))
    assert blocks({"content": "4", "reasoning_content": "hm", "thinking_blocks": thinking}) == expected


def test_a_content_list_may_hold_thinking_text_and_others() -> None:
    content = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "h"}, {"type": "text", "text": "m"}]},
        {"type": "text", "text": "4"},
        {"type": "reference", "reference_ids": [1]},
        None,
        7,
    ]
    assert blocks({"content": content}) == (Reasoning(text="hm"), Text(text="4"), Other(type="reference"))


def test_think_tags_count_where_no_thinking_came_on_its_own() -> None:
    assert blocks({"content": "<think>hm</think>4"}) == (Reasoning(text="hm"), Text(text="4"))


def test_think_tags_stay_where_thinking_came_on_its_own() -> None:
    message = {"content": "<think>hm</think>4", "reasoning": "really"}
    assert blocks(message) == (Reasoning(text="really"), Text(text="<think>hm</think>4"))


def test_an_empty_reasoning_field_leaves_the_tags_to_count() -> None:
    message = {"content": "<think>hm</think>4", "reasoning": "", "reasoning_content": None}
    assert blocks(message) == (Reasoning(text="hm"), Text(text="4"))


def test_inline_thinking_makes_a_reported_zero_unknown() -> None:
    usage = {"prompt_tokens": 1, "completion_tokens": 5, "completion_tokens_details": {"reasoning_tokens": 0}}
    reading = completion({"content": "<think>hm</think>4"}, usage=usage)
    assert reading.usage is not None
    assert reading.usage.reasoning_tokens is None
    assert reading.raw_usage == usage


def test_a_refusal_is_text_and_counts_as_filtered() -> None:
    reading = completion({"content": None, "refusal": "No."})
    assert reading.blocks == (Text(text="No."),)
    assert (reading.finish, reading.finish_raw) == ("content_filter", "stop")


def test_arguments_stay_as_the_model_wrote_them_even_cut() -> None:
    call = {"id": "a", "function": {"name": "bash", "arguments": '{"command": "l'}}
    assert blocks({"tool_calls": [call]}) == (Call(id="a", tool="bash", arguments='{"command": "l'),)


def test_arguments_that_came_as_an_object_are_canonical() -> None:
    call = {"function": {"name": "bash", "arguments": {"b": 1, "a": "ä"}}}
    assert blocks({"tool_calls": [call]}) == (Call(id="", tool="bash", arguments='{"a": "ä", "b": 1}'),)


def test_a_call_keeps_the_signature_that_google_wants_back() -> None:
    call = {
        "id": "a",
        "function": {"name": "f", "arguments": "{}"},
        "extra_content": {"google": {"thought_signature": "s"}},
    }
    assert blocks({"tool_calls": [call]}) == (Call(id="a", tool="f", arguments="{}", signature="s"),)


def test_a_custom_tool_takes_free_text() -> None:
    call = {"id": "a", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}
    assert blocks({"tool_calls": [call]}) == (Call(id="a", tool="sql", arguments="select 1"),)


def test_the_old_function_call_counts_where_it_names_a_function() -> None:
    assert blocks({"function_call": {"name": "f", "arguments": "{}"}}) == (
        Call(id="", tool="f", arguments="{}"),
    )
    assert blocks({"content": "4", "function_call": {"name": "", "arguments": ""}}) == (Text(text="4"),)


def test_only_the_first_choice_counts() -> None:
    choices = [{"message": {"content": text}} for text in ("first", "second")]
    reading = read_object({"choices": choices})
    assert reading is not None
    assert reading.blocks == (Text(text="first"),)


def test_content_parts_by_other_names_are_read_too() -> None:
    content = [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "short"}]},
        {"type": "text", "text": ""},
        {"type": "output_text", "text": "4"},
        {"type": "refusal", "refusal": "No."},
        {"type": "refusal"},
        "5",
    ]
    assert blocks({"content": content}) == (
        Reasoning(text="short", is_summary=True),
        Text(text="4"),
        Text(text="No."),
        Text(text="5"),
    )


@pytest.mark.parametrize(
    ("word", "finish"),
    [
        ("stop", "stop"),
        ("eos", "stop"),
        ("eos_token", "stop"),
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("STOP", "stop"),
        ("max_tokens", "length"),
        ("tool_use", "tool_calls"),
        ("model_context_window_exceeded", "context_length"),
        ("safety", "content_filter"),
        ("length", "length"),
        ("model_length", "context_length"),
        ("tool_calls", "tool_calls"),
        ("function_call", "tool_calls"),
        ("content_filter", "content_filter"),
        ("insufficient_system_resource", "unknown"),
    ],
)
def test_the_finish_is_one_of_ours_beside_the_providers_word(word: str, finish: str) -> None:
    reading = read_object({"choices": [{"finish_reason": word, "message": {"content": "4"}}]})
    assert reading is not None
    assert (reading.finish, reading.finish_raw) == (finish, word)


def test_a_stop_after_a_call_waits_for_its_result() -> None:
    reading = completion({"tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{}"}}]})
    assert (reading.finish, reading.finish_raw) == ("tool_calls", "stop")


def test_a_text_completion_has_text_and_no_message() -> None:
    reading = read_object({"object": "text_completion", "choices": [{"text": "4", "finish_reason": "stop"}]})
    assert reading is not None
    assert reading.blocks == (Text(text="4"),)


def test_an_error_inside_a_choice_is_an_error() -> None:
    choice = {"message": {"content": ""}, "error": {"code": 502, "message": "upstream went away"}}
    reading = read_object({"choices": [choice]})
    assert reading is not None
    assert reading.error == "upstream went away"


def stream(*choices: dict[str, Any], done: bool = True, **last: Any) -> Reading:
    chunks: list[dict[str, Any]] = [{"choices": [choice]} for choice in choices]
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in [*chunks, *([last] if last else [])]]
    reading = read("".join(lines) + ("data: [DONE]\n\n" if done else ""), "text/event-stream")
    assert reading is not None
    return reading


def delta(**fields: Any) -> dict[str, Any]:
    return {"index": 0, "delta": fields}


def test_parallel_calls_are_told_apart_by_index() -> None:
    reading = stream(
        delta(tool_calls=[{"index": 0, "id": "a", "function": {"name": "f", "arguments": '{"x"'}}]),
        delta(tool_calls=[{"index": 1, "id": "b", "function": {"name": "g", "arguments": "{"}}]),
        delta(tool_calls=[{"index": 0, "function": {"arguments": ": 1}"}}]),
        delta(tool_calls=[{"index": 1, "function": {"arguments": "}"}}]),
    )
    assert reading.blocks == (
        Call(id="a", tool="f", arguments='{"x": 1}'),
        Call(id="b", tool="g", arguments="{}"),
    )


@pytest.mark.parametrize("place", [{"index": 0}, {}], ids=["one index for all", "no index"])
def test_whole_calls_in_one_place_are_told_apart_by_id(place: dict[str, Any]) -> None:
    reading = stream(
        delta(tool_calls=[{**place, "id": "a", "function": {"name": "f", "arguments": "{}"}}]),
        delta(tool_calls=[{**place, "id": "b", "function": {"name": "f", "arguments": "{}"}}]),
    )
    assert [block.id for block in reading.blocks if isinstance(block, Call)] == ["a", "b"]


def test_an_id_that_is_repeated_in_every_delta_is_one_call() -> None:
    reading = stream(
        delta(tool_calls=[{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{"}}]),
        delta(tool_calls=[{"index": 0, "id": "a", "function": {"name": "f", "arguments": "}"}}]),
    )
    assert reading.blocks == (Call(id="a", tool="f", arguments="{}"),)


def test_details_that_are_streamed_grow_and_take_their_signature() -> None:
    def part(**fields: Any) -> dict[str, Any]:
        return delta(reasoning_details=[{"type": "reasoning.text", "index": 0, **fields}])

    secret = {"type": "reasoning.encrypted", "index": 0, "data": "x"}
    reading = stream(
        part(text="h"), part(text="m"), part(signature="s"), delta(reasoning_details=[secret, secret])
    )
    assert reading.blocks == (
        Reasoning(text="hm", signature="s"),
        Reasoning(opaque="x"),
        Reasoning(opaque="x"),
    )


def test_streamed_content_lists_are_joined() -> None:
    def thinking(text: str) -> dict[str, Any]:
        return {"type": "thinking", "thinking": [{"type": "text", "text": text}]}

    reading = stream(delta(content=[thinking("h")]), delta(content=[thinking("m")]), delta(content="4"))
    assert reading.blocks == (Reasoning(text="hm"), Text(text="4"))


def test_think_tags_split_over_deltas_are_found() -> None:
    reading = stream(delta(content="<th"), delta(content="ink>hm</thi"), delta(content="nk>4"))
    assert reading.blocks == (Reasoning(text="hm"), Text(text="4"))


def test_a_message_beside_its_delta_is_not_said_twice() -> None:
    reading = stream(
        {**delta(content="4"), "message": {"content": "4"}}, {"delta": {}, "message": {"content": "4"}}
    )
    assert reading.blocks == (Text(text="4"),)


def test_usage_may_stand_where_groq_puts_it() -> None:
    usage = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
    reading = stream(delta(content="4"), x_groq={"usage": usage})
    assert reading.raw_usage == usage


def test_a_streamed_refusal_is_put_together() -> None:
    reading = stream(delta(refusal="N"), {**delta(refusal="o."), "finish_reason": "stop"})
    assert (reading.blocks, reading.finish) == ((Text(text="No."),), "content_filter")


def test_a_streamed_function_call_of_old_is_put_together() -> None:
    reading = stream(
        delta(function_call={"name": "f", "arguments": "{"}), delta(function_call={"arguments": "}"})
    )
    assert reading.blocks == (Call(id="", tool="f", arguments="{}"),)


def test_a_streamed_call_keeps_its_signature() -> None:
    google = {"google": {"thought_signature": "s"}}
    call = {"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}, "extra_content": google}
    assert stream(delta(tool_calls=[call])).blocks == (Call(id="a", tool="f", arguments="{}", signature="s"),)


def test_a_streamed_custom_tool_takes_free_text() -> None:
    reading = stream(
        delta(tool_calls=[{"index": 0, "id": "a", "custom": {"name": "sql", "input": "select"}}]),
        delta(tool_calls=[{"index": 0, "custom": {"input": " 1"}}]),
    )
    assert reading.blocks == (Call(id="a", tool="sql", arguments="select 1"),)


def test_a_streamed_summary_is_marked_as_one() -> None:
    parts = [{"type": "reasoning.summary", "index": 0, "summary": text} for text in ("sh", "ort")]
    reading = stream(*(delta(reasoning_details=[part]) for part in parts))
    assert reading.blocks == (Reasoning(text="short", is_summary=True),)


def test_an_error_inside_a_streamed_choice_is_an_error() -> None:
    assert stream({**delta(content=""), "error": {"message": "went away"}}).error == "went away"


def test_done_is_no_end_without_a_finish_reason() -> None:
    assert not stream(delta(content="4")).complete


def test_done_is_the_end_where_finish_reasons_are_empty() -> None:
    ended = {**delta(content="4"), "finish_reason": ""}
    assert stream(ended).complete
    assert not stream(ended, done=False).complete


def test_an_error_inside_a_stream_is_kept_beside_what_was_said() -> None:
    reading = stream(delta(content="4"), error={"code": 502, "message": "went away"})
    assert (reading.blocks, reading.error, reading.complete) == ((Text(text="4"),), "went away", False)
