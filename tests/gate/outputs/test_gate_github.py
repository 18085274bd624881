"""What GitHub Actions shows of a verdict."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.errors import UsageError
from evalkit.gate.github_output import append_summary, without_commands, workflow_commands
from evalkit.gate.text_output import as_text

COMMAND = re.compile(r"::(error|warning|notice) title=([^:,\r\n]*)::([^\r\n]*)")


def commands(verdict, *, strict: bool = False) -> list[tuple[str, str, str]]:
    """Kind, title and message of each line, as they are written."""
    found = [
        COMMAND.fullmatch(line) for line in re.split(r"\r|\n", workflow_commands(verdict, strict=strict))[:-1]
    ]
    assert all(found)
    return [own.groups() for own in found if own]


@pytest.mark.parametrize(
    ("outcome", "strict", "kind"),
    [
        ("pass", False, "notice"),
        ("regressed", False, "error"),
        ("not comparable", False, "error"),
        ("inconclusive", False, "warning"),
        ("inconclusive", True, "error"),
    ],
)
def test_the_first_line_is_the_verdict_itself(build, outcome, strict, kind):
    verdict = build.of(outcome)
    first = commands(verdict, strict=strict)[0]
    assert first == (kind, "evalkit gate", f"{verdict.headline}%0A{verdict.advice}")


def test_signs_of_commands_are_escaped(build):
    agent = build.agent("a:b,c%d", metrics=(build.metric("regressed", reason="100 %, a::b"),))
    assert ("error", "regressed%3A a%3Ab%2Cc%25d", "100 %25, a::b") in commands(build.verdict(agent))


def test_events_that_are_not_tolerated_say_trial_steps_and_kind(build):
    event = build.event(trial_id="t.1", steps=(3, 7), codes=("T1",), reason="the tests were edited")
    told = commands(build.verdict(build.agent("a", zero=(build.zero(event),))))
    message = "tamper_confirmed in 1 trials%0AT1 t.1, steps 3, 7: the tests were edited"
    assert ("error", "regressed%3A a", message) in told


def test_at_most_ten_of_a_kind_are_written_and_the_last_counts_the_rest(build):
    agents = [build.agent(f"agent-{number}", metrics=(build.metric("regressed"),)) for number in range(30)]
    found = commands(build.verdict(*agents, warnings=tuple(map(str, range(30)))))
    assert [kind for kind, _, _ in found] == ["error"] * 10 + ["warning"] * 10
    assert found[9][2] == "and 22 more, in the output above"


def test_tolerable_losses_and_new_passes_are_notices(build):
    agent = build.agent(metrics=(build.metric(tolerable=True),), tasks=(build.task("4/4", "0/4"),))
    assert [
        title.split("%3A")[0] for kind, title, _ in commands(build.verdict(agent)) if kind == "notice"
    ] == [
        "evalkit gate",
        "tolerable",
        "newly passing",
    ]


@given(data=st.data())
def test_no_name_writes_a_command_of_its_own(build, hostile, data):
    verdict = build.everywhere(data.draw(hostile))
    assert len(commands(verdict)) == len(commands(build.everywhere("a")))


@pytest.mark.parametrize("line", ["::error::b", "  ::set-output name=a::b", "name ##[error]b"])
def test_text_with_a_command_is_shown_and_not_obeyed(line):
    lines = without_commands(f"a\n{line}\n").splitlines()
    assert lines[1:3] == ["a", line]
    token = lines[0].removeprefix("::stop-commands::")
    assert lines[3] == f"::{token}::"
    assert token not in line


def test_other_text_stays_as_it_is(build):
    text = as_text(build.of("regressed"))
    assert without_commands(text) == text


def test_the_summary_is_appended(build, tmp_path):
    path = tmp_path / "summary"
    path.write_text("before")
    append_summary(build.of("regressed"), {"GITHUB_STEP_SUMMARY": str(path)}, strict=False)
    text = path.read_text(encoding="utf-8")
    assert text.startswith("before\n<!-- evalkit-gate: ")
    assert "REGRESSED" in text


def test_without_a_file_there_is_no_summary(build, tmp_path):
    append_summary(build.of("pass"), {}, strict=False)
    append_summary(build.of("pass"), {"GITHUB_STEP_SUMMARY": ""}, strict=False)


def test_a_summary_of_five_thousand_tasks_is_under_a_mebibyte(build, tmp_path):
    path = tmp_path / "summary"
    path.write_text("x" * 1000)
    tasks = tuple(build.task("1/4", task_id=f"{number:04}{'-' * 90}") for number in range(5000))
    append_summary(
        build.verdict(build.agent("a", tasks=tasks), build.agent("b", tasks=tasks)),
        {"GITHUB_STEP_SUMMARY": str(path)},
        strict=False,
    )
    assert 500_000 < path.stat().st_size < 2**20


def test_a_summary_that_is_full_is_left_alone(build, tmp_path):
    path = tmp_path / "summary"
    path.write_text("x" * (2**20 - 2000))
    append_summary(build.of("pass"), {"GITHUB_STEP_SUMMARY": str(path)}, strict=False)
    assert path.stat().st_size == 2**20 - 2000


def test_a_summary_that_cannot_be_written_is_a_usage_error(build, tmp_path):
    with pytest.raises(UsageError, match="cannot write the step's summary"):
        append_summary(build.of("pass"), {"GITHUB_STEP_SUMMARY": str(tmp_path)}, strict=False)
