"""What the model sees of a call is what its tool settings say."""

import json

import pytest

from evalkit.engine.observation import cut, observe
from evalkit.engine.tool_settings import ToolSettings
from evalkit.sandbox.protocol import Captured, ExecResult


def result(exit_code=0, stdout="out\n", stderr="", **values):
    def captured(text):
        return Captured(text.encode(), len(text.encode()), truncated=False)

    return ExecResult(exit_code, captured(stdout), captured(stderr), 0.1, **values)


def test_plain_shows_both_streams_and_the_exit_code():
    assert observe(result(2, stderr="err"), ToolSettings()) == "out\n[stderr]\nerr\n[exit code 2]\n"


@pytest.mark.parametrize(
    ("shown", "zero", "two"), [("always", True, True), ("nonzero", False, True), ("never", False, False)]
)
@pytest.mark.parametrize("errors", ["plain", "terse", "structured"])
def test_exit_codes_are_shown_when_asked_for(shown, zero, two, errors):
    settings = ToolSettings(exit_codes=shown, errors=errors)
    assert ("exit code 0" in observe(result(0), settings)) is zero
    told = observe(result(2), settings)
    assert ("exit code 2" in told or '"exit_code":2' in told) is two
    if errors != "plain":
        assert "fail" in told or two


def test_structured_errors_are_json_with_a_hint():
    told = json.loads(observe(result(2, stderr="no such file"), ToolSettings(errors="structured")))
    assert told["error"]["exit_code"] == 2
    assert told["stderr"] == "no such file"
    assert told["error"]["hint"]


def test_a_timeout_says_how_long_and_keeps_what_was_printed():
    told = observe(result(137, timed_out=True), ToolSettings(timeout_s=5))
    assert told == "out\n[timed out after 5 s; it was stopped with everything it had started]\n"


@pytest.mark.parametrize(
    ("keep", "expected"),
    [
        ("head", "abcd\n[... 4 bytes cut ...]\n"),
        ("tail", "\n[... 4 bytes cut ...]\nefgh"),
        ("both", "ab\n[... 4 bytes cut ...]\ngh"),
    ],
)
def test_output_is_cut_at_the_end_that_is_not_kept(keep, expected):
    assert cut("abcdefgh", 4, keep) == expected


def test_cutting_never_breaks_a_character():
    assert cut("üüüü", 3, "head").startswith("ü\n[")
