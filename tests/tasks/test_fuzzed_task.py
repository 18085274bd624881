"""Whatever a task.toml says, reading it ends in a task or in a ConfigError."""

from collections.abc import Callable
from pathlib import Path

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from evalkit.errors import ConfigError
from evalkit.tasks.task import Task, load_task

FULL = """\
version = "1.0"
artifacts = ["/app/a", { source = "b", destination = "c" }]
[task]
name = "org/sum"
authors = [{ name = "x" }]
[agent]
timeout_sec = 60.5
user = 1000
[environment]
memory = "2G"
allow_internet = false
env = { A = "${B:-c}" }
[[environment.mcp_servers]]
name = "m"
url = "http://localhost"
[verifier]
environment_mode = "separate"
[[steps]]
name = "one"
min_reward = { reward = 0.5 }
[metadata.evalkit]
minutes = 5
answer = "text"
resource_args = { read_row = "id" }
[metadata.evalkit.effects]
ports = [80]
tables = { "/app/users.db" = "sqlite" }
[[metadata.evalkit.faults]]
id = "flaky"
when = { tool = "bash", matches = "curl .*", nth = 1 }
kind = "rate_limit"
times = 2
"""

fragments = st.sampled_from(
    [
        "[",
        "]",
        "{",
        "}",
        '"',
        "'",
        "=",
        ".",
        "\n",
        "\x00",
        "nan",
        "-1",
        "1e999",
        "[[a]]",
        "#",
        '"""',
        "\\",
        "true",
        "\ufeff",
    ]
)
values = st.sampled_from(
    [
        "0",
        "-3",
        "nan",
        "inf",
        '""',
        '"\\u0000"',
        "[]",
        "{}",
        "true",
        "1979-05-27",
        "[[[]]]",
        "9223372036854775807",
        '"("',
        "1.5",
    ]
)


def _outcome(path: Path) -> Task | ConfigError:
    try:
        return load_task(path)
    except ConfigError as error:
        return error


def _attempt(write_task: Callable[..., Path], text: str) -> None:
    path = write_task(text, files={"steps/one/instruction.md": "Go.\n"})

    outcome = _outcome(path)

    if isinstance(outcome, ConfigError):
        assert outcome.where is not None
        assert outcome.where.startswith(str(path))
        return
    assert outcome.grading_mode in ("sealed", "snapshot", "shared")
    assert all(inside.startswith("/") for inside in (*outcome.artifact_paths, outcome.workdir))
    assert len(outcome.digest) == 64
    assert {outcome.agent_network, outcome.verifier_network} <= {True, False}
    assert all(isinstance(value, str) for value in outcome.env.values())


quick = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@quick
@given(st.integers(0, len(FULL)), st.integers(0, 8), fragments)
def test_text_replaced_anywhere_ends_in_a_task_or_a_config_error(
    write_task: Callable[..., Path], at: int, length: int, fragment: str
) -> None:
    _attempt(write_task, FULL[:at] + fragment + FULL[at + length :])


@quick
@given(st.integers(0, FULL.count("\n") - 1), values)
def test_any_value_for_any_key_ends_in_a_task_or_a_config_error(
    write_task: Callable[..., Path], number: int, value: str
) -> None:
    lines = FULL.split("\n")
    key, given_value, _ = lines[number].partition(" = ")
    lines[number] = f"{key} = {value}" if given_value else f"x = {value}\n{lines[number]}"
    _attempt(write_task, "\n".join(lines))


@quick
@given(st.text(max_size=200))
@example("a=" + "[" * 3000)
@example("a=" + "9" * 5000)
@example("metadata=1")
def test_any_text_ends_in_a_task_or_a_config_error(write_task: Callable[..., Path], text: str) -> None:
    _attempt(write_task, text)
