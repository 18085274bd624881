"""Does any input at all raise, hang or become a number that makes no sense?"""

from __future__ import annotations

import copy
import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.models.reading import Reading
from evalkit.models.reconcile import MOST_TOKENS
from evalkit.models.wire import read, read_object

NAMES = [
    *(
        "choices",
        "message",
        "delta",
        "content",
        "type",
        "text",
        "usage",
        "error",
        "candidates",
        "parts",
        "output",
    ),
    *(
        "reasoning_details",
        "tool_calls",
        "function",
        "arguments",
        "index",
        "thinking",
        "status",
        "item",
        "event",
    ),
    *(
        "output_index",
        "content_block",
        "response",
        "usageMetadata",
        "promptTokenCount",
        "prompt_tokens",
        "object",
    ),
]
WORDS = [
    *(
        "message",
        "message_start",
        "content_block_start",
        "content_block_delta",
        "message_delta",
        "message_stop",
    ),
    *(
        "response.completed",
        "response.output_item.added",
        "response.output_text.delta",
        "chat.completion",
        "error",
    ),
    *("reasoning", "thinking", "text", "function_call", "tool_use", "refusal", "response", "text_delta"),
]
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=2**63, max_value=2**70)
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(WORDS)
)
json_values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=3), inner, max_size=5)
    ),
    max_leaves=25,
)


def sound(reading: Reading | None) -> None:
    """A reading holds only counts that make sense, and raw usage that can be stored."""
    if reading is None:
        return
    if reading.usage is not None:
        counts = (
            reading.usage.input_tokens,
            reading.usage.output_tokens,
            reading.usage.reasoning_tokens,
            reading.usage.cache_read_tokens,
            reading.usage.cache_write_tokens,
        )
        for number in counts:
            assert number is None or (type(number) is int and 0 <= number <= 3 * MOST_TOKENS)
    json.dumps(reading.raw_usage, allow_nan=False)
    for block in reading.blocks:
        for name in ("text", "arguments", "id", "tool", "signature", "opaque", "type"):
            assert isinstance(getattr(block, name, None), (str, type(None)))
    for word in (reading.finish_raw, reading.model_served, reading.error):
        assert word is None or word


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every place in a JSON value, as its container and its key there."""
    found: list[tuple[Any, Any]] = []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        found.append((value, key))
        found.extend(places(inner))
    return found


@given(json_values)
def test_any_json_reads(value: Any) -> None:
    sound(read(json.dumps(value)))
    if isinstance(value, dict):
        sound(read_object(value))


@given(st.lists(json_values, max_size=5))
def test_any_stream_reads(events: list[Any]) -> None:
    sound(read("".join(f"data: {json.dumps(event)}\n\n" for event in events), "text/event-stream"))


@given(st.binary(max_size=200), st.sampled_from(["", "text/event-stream", "application/json", "\ud800"]))
def test_any_bytes_read(body: bytes, kind: str) -> None:
    sound(read(body, kind))


@pytest.mark.parametrize("dialect", ["chat", "responses", "anthropic", "gemini", "bedrock", "cohere"])
@given(data=st.data())
def test_any_part_of_a_response_may_be_anything(
    dialect: str, whole_bodies: dict[str, dict[str, Any]], data: st.DataObject
) -> None:
    body = copy.deepcopy(whole_bodies[dialect])
    for _ in range(data.draw(st.integers(1, 3))):
        container, key = data.draw(st.sampled_from(places(body)))
        container[key] = data.draw(json_values)
    sound(read(json.dumps(body)))
    sound(read_object(body))


@pytest.mark.parametrize("dialect", ["chat", "responses", "anthropic", "gemini"])
@given(data=st.data())
def test_any_part_of_a_stream_may_be_anything(
    dialect: str, streams: dict[str, tuple[str, str]], data: st.DataObject
) -> None:
    lines = streams[dialect][0].split("\n")
    events = [json.loads(line[6:]) for line in lines if line.startswith("data: {")]
    for _ in range(data.draw(st.integers(1, 3))):
        container, key = data.draw(st.sampled_from(places(events)))
        container[key] = data.draw(json_values)
    sound(read("".join(f"data: {json.dumps(event)}\n\n" for event in data.draw(st.permutations(events)))))
    sound(read(json.dumps(events)))


@pytest.mark.parametrize(
    "number", ["-1", "18446744073709551616", "1.5", '"12"', "NaN", "1e999", "true", "9" * 5000]
)
def test_a_count_that_makes_no_sense_is_unknown(number: str) -> None:
    reading = read('{"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": ' + number + "}}")
    assert reading is not None
    assert reading.usage is not None
    assert (reading.usage.input_tokens, reading.usage.output_tokens) == (3, None)


@pytest.mark.parametrize("depth", [500, 900, 5_000, 200_000])
@pytest.mark.parametrize(
    "template", ["%s", '{"choices": [{"message": %s}], "usage": {"a": %s}}', '{"error": %s}']
)
def test_deep_nesting_reads(template: str, depth: int) -> None:
    for inner in ("[" * depth + "]" * depth, '{"error":' * depth + "1" + "}" * depth):
        body = template.replace("%s", inner)
        sound(read(body))
        sound(read(f"data: {body}\n\n"))
        sound(read(body[: len(body) // 2]))


def test_arguments_that_nest_too_deep_are_kept_as_nothing_that_parses() -> None:
    nested: dict[str, Any] = {}
    for _ in range(5_000):
        nested = {"a": nested}
    part = {"type": "tool_use", "id": "a", "name": "f", "input": nested}
    reading = read_object({"type": "message", "content": [part], "usage": nested})
    assert reading is not None
    assert reading.raw_usage is None
    assert getattr(reading.blocks[0], "arguments", None) == ""


def test_invalid_bytes_and_lone_surrogates_are_kept_for_the_record_to_replace() -> None:
    body = b'{"choices": [{"message": {"content": "a\xff\\ud800"}}]}'
    reading = read(body)
    assert reading is not None
    assert getattr(reading.blocks[0], "text", None) == "a\ufffd\ud800"


def test_of_a_repeated_key_the_last_counts() -> None:
    reading = read('{"choices": [], "model": "first", "model": "last"}')
    assert reading is not None
    assert reading.model_served == "last"


@pytest.mark.parametrize("name", ["content", "reasoning_content"])
def test_long_streams_take_linear_time(name: str) -> None:
    chunk = json.dumps({"choices": [{"index": 0, "delta": {name: "word "}}]})
    began = time.process_time()
    reading = read(f"data: {chunk}\n\n" * 30_000)
    assert time.process_time() - began < 10
    assert reading is not None
    assert len(reading.blocks) == 1


def test_long_lists_take_linear_time() -> None:
    detail = {"type": "reasoning.text", "index": 0, "text": "x"}
    call = {"index": 0, "id": "a", "function": {"name": "f", "arguments": "x"}}
    delta = {"reasoning_details": [detail] * 20_000, "tool_calls": [call] * 20_000}
    began = time.process_time()
    reading = read(f"data: {json.dumps({'choices': [{'delta': delta}]})}\n\n")
    assert time.process_time() - began < 10
    assert reading is not None
    assert len(reading.blocks) == 2
