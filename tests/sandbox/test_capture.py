"""Output of any length is kept in bounded memory, and every byte is counted."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evalkit.sandbox.capture import Capture


def captured(chunks: list[bytes], limit: int) -> Capture:
    capture = Capture(limit)
    for chunk in chunks:
        capture.add(chunk)
    return capture


@given(st.lists(st.binary(max_size=40)), st.integers(min_value=0, max_value=100))
def test_what_fits_is_kept_whole_and_what_does_not_keeps_both_ends(chunks: list[bytes], limit: int) -> None:
    written = b"".join(chunks)
    result = captured(chunks, limit).result()
    assert result.total == len(written)
    assert result.truncated == (len(written) > limit)
    if not result.truncated:
        assert result.data == written
    else:
        mark = f"\n[... {len(written) - limit} bytes cut ...]\n".encode()
        first = limit // 2
        assert result.data == written[:first] + mark + written[len(written) - (limit - first) :]


def test_a_long_stream_leaves_its_beginning_its_end_and_a_line_about_the_rest() -> None:
    result = captured([b"begin", b"x" * 1000, b"end"], 10).result()
    assert result.data == b"begin\n[... 998 bytes cut ...]\nxxend"
    assert result.text.count("\n") == 2
