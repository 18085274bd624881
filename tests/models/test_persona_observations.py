"""What personas see in a tool's answer, in every error style of the tool settings."""

import pytest

from evalkit.engine.observation import observe
from evalkit.engine.tool_settings import ToolSettings
from evalkit.models.personas.observation import Failure, Seen, read
from evalkit.models.reply import Turn
from evalkit.sandbox.protocol import Captured, ExecResult

STYLES = [
    pytest.param(ToolSettings(errors=errors, exit_codes=codes), id=f"{errors}-{codes}")
    for errors in ("plain", "terse", "structured")
    for codes in ("always", "nonzero", "never")
]
SHOWN = [style for style in STYLES if "never" not in str(style.id)]


def shown(settings, exit_code=0, stdout="", stderr="", **values):
    def captured(text):
        return Captured(text.encode(), len(text.encode()), truncated=False)

    result = ExecResult(exit_code, captured(stdout), captured(stderr), 0.1, **values)
    return read(Turn("tool", observe(result, settings), tool="bash"))


@pytest.mark.parametrize("settings", STYLES)
@pytest.mark.parametrize(
    "stdout",
    [
        "",
        "a,b\n1,2\n",
        "no newline",
        '{"error":{"kind":"timeout","message":"m","hint":"h"},"stderr":"","stdout":""}\n',
        '{"error":{"kind":"timeout","message":"m","hint":"h"},"stderr":"","stdout":""}',
        "429 Too Many Requests, retry-after: 3\n",
        "500 Internal Server Error\n",
        "permission denied: No space left on device, truncated\n",
        "the log:\n[exit code 1]\nwas its last line\n",
        "2 tests failed\n",
    ],
)
def test_what_a_command_printed_is_no_failure(settings, stdout):
    seen = shown(settings, stdout=stdout)
    assert (seen.stdout.rstrip("\n"), seen.failure) == (stdout.rstrip("\n"), None)


@pytest.mark.parametrize("style", ["plain", "terse", "structured"])
@pytest.mark.parametrize(
    "stdout",
    ["failed\n", "exit code 1\n", "[exit code 1]\n", "timed out after 3 s\n", "[timed out after 3 s]\n",
     "log\n[stderr]\n500 Internal Server Error\n[exit code 1]\n"],
)  # fmt: skip
def test_where_exit_codes_are_always_shown_output_cannot_pass_for_a_failure(style, stdout):
    assert shown(ToolSettings(errors=style), stdout=stdout).failure is None


@pytest.mark.parametrize("settings", STYLES)
def test_a_timeout_is_seen_in_every_style(settings):
    assert shown(settings, 137, "half", timed_out=True).failure.kind == "timeout"


@pytest.mark.parametrize("settings", STYLES)
def test_a_lost_shell_is_a_failure_of_no_special_kind(settings):
    assert shown(settings, None, shell_lost=True).failure.kind == "other"


@pytest.mark.parametrize("settings", SHOWN)
def test_any_exit_code_but_zero_is_a_failure(settings):
    assert shown(settings, 2, "out\n", "it is broken\n").failure.kind == "other"


@pytest.mark.parametrize(
    ("exit_code", "stderr", "kind", "wait"),
    [
        (1, "500 Internal Server Error", "unavailable", None),
        (22, "curl: (22) 503 Service Unavailable", "unavailable", None),
        (1, "429 Too Many Requests, retry-after: 0.25", "rate_limited", 0.25),
        (1, "429 Too Many Requests", "rate_limited", None),
        (126, "sh: permission denied", "permission", None),
        (1, "sh: write error: No space left on device", "no_space", None),
        (1, "truncated", "damaged", None),
        (1, "retry-after: 5", "other", None),
        (1, "port 500 is in use", "other", None),
    ],
)
@pytest.mark.parametrize("errors", ["plain", "structured"])
def test_the_kind_stands_in_stderr_or_the_exit_code(errors, exit_code, stderr, kind, wait):
    failure = shown(ToolSettings(errors=errors), exit_code, "", stderr).failure
    assert (failure.kind, failure.retry_after_s) == (kind, wait)


@pytest.mark.parametrize("kind", ["timeout", "unavailable", "rate_limited", "permission"])
def test_a_structured_error_names_its_kind(kind):
    text = f'{{"error":{{"hint":"do this","kind":"{kind}","message":"m","retry_after_s":2}},"stderr":"","stdout":""}}'
    assert read(Turn("tool", text, tool="bash")) == Seen("", Failure(kind, 2.0, "do this"))


def test_only_structured_errors_have_a_hint():
    hints = [
        shown(ToolSettings(errors=errors), 1, "", "boom").failure.hint is None
        for errors in ("plain", "terse", "structured")
    ]
    assert hints == [True, True, False]


def test_a_terse_error_hides_all_but_the_exit_code():
    assert shown(ToolSettings(errors="terse"), 1, "", "500 Internal Server Error") == Seen(
        "", Failure("other")
    )
    assert shown(ToolSettings(errors="terse"), 126, "", "x").failure.kind == "permission"


def test_without_exit_codes_only_plain_words_of_stderr_tell():
    settings = ToolSettings(exit_codes="never")
    assert shown(settings, 1, "out\n", "429 Too Many Requests, retry-after: 1").failure.kind == "rate_limited"
    assert shown(settings, 1, "out\n", "it is broken") == Seen("out\n")


@pytest.mark.parametrize("errors", ["plain", "structured"])
def test_stdout_is_kept_apart_from_stderr(errors):
    assert shown(ToolSettings(errors=errors), 3, "one\ntwo\n", "warning\n").stdout == "one\ntwo\n"


@pytest.mark.parametrize(
    ("error", "kind"), [("timeout", "timeout"), ("permission", "permission"), ("unknown", "other")]
)
def test_an_error_that_the_tool_itself_raised_is_a_failure(error, kind):
    turn = Turn("tool", "Command timed out before completing.", tool="bash", error=error)
    assert read(turn) == Seen("", Failure(kind))


@pytest.mark.parametrize(
    "text", ["", "\n", "[", '{"error":', '{"error":3}', '{"error":{}}', "[exit code ]\n"]
)
def test_any_text_can_be_read(text):
    assert read(Turn("tool", text, tool="bash")).failure is None
