"""Bytes of a shared stream belong to exactly one call, however they arrive."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from evalkit.sandbox.capture import Capture
from evalkit.sandbox.framing import Frame, FrameReader, new_token

TOKEN = "\x1etoken"


def read(stream: bytes, cuts: list[int]) -> tuple[FrameReader, bytes, bytes]:
    output, late = Capture(10_000), Capture(10_000)
    reader = FrameReader(TOKEN, output, late)
    edges = sorted({cut % (len(stream) + 1) for cut in cuts} | {0, len(stream)})
    for begin, end in itertools.pairwise(edges):
        reader.feed(stream[begin:end])
    return reader, output.result().data, late.result().data


@given(st.binary(max_size=30), st.binary(max_size=60), st.binary(max_size=30), st.lists(st.integers(0, 300)))
def test_chunk_borders_change_nothing(before: bytes, inside: bytes, after: bytes, cuts: list[int]) -> None:
    stream = before + b"\x1etoken<" + inside + b"\x1etoken>42;" + after
    reader, output, late = read(stream, cuts)
    assert (output, late) == (inside, before + after)
    assert reader.exit_code == 42


def test_output_that_imitates_the_framing_is_output() -> None:
    fake = b"\x1etokem>0;\x1etoke"
    _, output, _ = read(b"\x1etoken<" + fake + b"\x1etoken>1;", [5, 9, 14])
    assert output == fake


@given(
    st.lists(st.sampled_from([b"\x1etoken>", b"1", b"x", b";", b"\x1e"]), max_size=12),
    st.lists(st.integers(0, 300)),
)
def test_the_token_with_junk_behind_it_is_output(parts: list[bytes], cuts: list[int]) -> None:
    junk = b"\x1etoken>" + b"x".join(parts).replace(b";", b"") + b"y"
    reader, output, _ = read(b"\x1etoken<" + junk + b"\x1etoken>5;", cuts)
    assert (output, reader.exit_code) == (junk, 5)


def test_a_known_token_holds_nothing_back_for_long() -> None:
    reader = FrameReader(TOKEN, Capture(100), late := Capture(100))
    reader.feed(b"\x1etoken<\x1etoken>")
    for chunk in (b"12", b"34", b"x" * 65536):
        reader.feed(chunk)
    assert reader.held_back < len(b"\x1etoken>999;")
    assert late.total == 0


def test_bytes_held_back_when_the_shell_dies_are_not_lost() -> None:
    reader, before, _ = read(b"\x1etoken<partial\x1etok", [])
    assert before == b"partial"
    reader.flush()
    assert not reader.ended


def test_a_call_has_ended_when_both_streams_have() -> None:
    frame = Frame(TOKEN, 100, Capture(100))
    frame.readers["stdout"].feed(b"\x1etoken<out\x1etoken>7;")
    assert not frame.ended
    frame.readers["stderr"].feed(b"\x1etoken<err\x1etoken>;")
    assert frame.ended
    assert (frame.exit_code, frame.stdout.result().data, frame.stderr.result().data) == (7, b"out", b"err")


def test_tokens_differ_from_call_to_call() -> None:
    assert new_token() != new_token()
