"""Does a stream say what the whole response says, and is a cut one known to be cut?"""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from evalkit.models.reading import Call, Reading
from evalkit.models.wire import read, read_object
from evalkit.models.wire.sse import split_events

DIALECTS = ["chat", "responses", "anthropic", "gemini", "gemini_list"]
SSE = "text/event-stream; charset=utf-8"


def plain(reading: Reading) -> Reading:
    """Arguments without the spaces that a model may write or not."""
    blocks = tuple(
        dataclasses.replace(block, arguments=json.dumps(json.loads(block.arguments)))
        if isinstance(block, Call)
        else block
        for block in reading.blocks
    )
    return dataclasses.replace(reading, blocks=blocks)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_stream_reads_like_the_whole_response(
    dialect: str, streams: dict[str, tuple[str, str]], whole_bodies: dict[str, dict[str, Any]]
) -> None:
    streamed = read(streams[dialect][0], SSE)
    whole = read_object(whole_bodies[dialect.removesuffix("_list")])
    assert streamed is not None
    assert whole is not None
    assert plain(streamed) == plain(whole)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_stream_cut_anywhere_is_incomplete_until_its_end_is_said(
    dialect: str, streams: dict[str, tuple[str, str]]
) -> None:
    body, end = streams[dialect]
    said = len(body[: body.index(end) + len(end)].encode())
    raw = body.encode()
    for cut in range(len(raw)):
        for kind in (SSE, ""):
            reading = read(raw[:cut], kind)
            assert reading is None or not reading.complete or cut >= said, cut


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_cut_stream_never_says_more_than_the_whole(
    dialect: str, streams: dict[str, tuple[str, str]]
) -> None:
    body = streams[dialect][0]
    whole = read(body, SSE)
    assert whole is not None
    before = 0
    for cut in range(0, len(body), 7):
        reading = read(body[:cut], SSE)
        said = len(reading.blocks) if reading is not None else 0
        assert before <= said <= len(whole.blocks)
        before = said


def test_a_stream_that_says_nothing_at_all_was_cut() -> None:
    assert read("", SSE) == read(": waiting\n\n", "") == read("data: {", SSE) == Reading(complete=False)


def test_a_stream_of_something_else_is_none() -> None:
    assert read('data: {"hello": 1}\n\ndata: {"hello": 2}\n\n', SSE) is None


def test_a_whole_response_sent_as_a_stream_by_name_only_is_read(
    whole_bodies: dict[str, dict[str, Any]],
) -> None:
    body = whole_bodies["chat"]
    assert read(json.dumps(body), SSE) == read_object(body)


def test_a_whole_response_as_the_only_event_is_read(whole_bodies: dict[str, dict[str, Any]]) -> None:
    body = whole_bodies["anthropic"]
    assert read(f"data: {json.dumps(body)}\n\n", SSE) == read_object(body)


def test_an_error_alone_in_a_stream_is_an_error() -> None:
    expected = Reading(error="too many requests", complete=False)
    assert read('data: {"error": {"message": "too many requests"}}\n\n', SSE) == expected
    assert read("event: error\ndata: too many requests\n\n", SSE) == expected


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_every_line_end_ends_a_line(line_end: str) -> None:
    lines = [
        "event: x",
        'data: {"a":',
        "data: 1}",
        "",
        ": comment",
        "id: 7",
        'data:{"b": 2}',
        "",
        "data: [DONE]",
    ]
    found = split_events(line_end.join(lines))
    assert (found.events, found.done) == (({"a": 1}, {"b": 2}), True)


def test_a_line_separator_inside_a_string_ends_nothing() -> None:
    assert split_events('data: {"a": "\u2028\x85"}\n\n').events == ({"a": "\u2028\x85"},)


def test_a_broken_event_does_not_stop_the_next() -> None:
    assert split_events('data: {"a"\n\ndata: 7\n\ndata: {"b": 2}\n\n').events == ({"b": 2},)
