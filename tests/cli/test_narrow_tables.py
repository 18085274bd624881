"""Tables of scores on narrow pages: every name and every number stays whole."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from evalkit.cli.agent_label import agent_labels, is_whole
from evalkit.cli.prose import one_line
from evalkit.cli.text_table import Column, print_columns
from evalkit.scoring.figure_text import change_text, interval_text, number_text
from evalkit.trajectory.trial import Trial

AGENT = "react/openrouter/some-vendor/some-model-2026-01-15@effort:high"
LONG = "expected_calibration_error_of_all_the_answers_that_were_given_with_any_confidence_at_all"
NUMBERS = {
    "seconds_to_recover_mean": 12345.678,
    "tokens_to_recover_mean": 1234567.0,
    "tiny_cost": 0.00001234,
    "huge_count": 9.87e12,
    "share": 0.5,
    LONG: 0.25,
}


@pytest.fixture
def arms(scored_run) -> Callable[..., str]:
    """Runs of agents at eight tasks, clean and faulted, as in `arms("a", "b", name="run")`."""

    def make(*agents: str, name: str = "run", times: float = 1.0, **more: Any) -> str:
        return str(
            scored_run(
                *(
                    (
                        Trial(
                            run_id="run-1",
                            suite="s",
                            task_id=f"task-{task}",
                            task_digest=f"d{task}",
                            trial_id=f"task-{task}.{variant}.{number}",
                            variant=variant,
                            agent=agent,
                            epoch=1,
                            status="passed" if task % 3 else "failed",
                            **more,
                        ),
                        {
                            "success": float(task % 3 > 0),
                            **{key: value * times * (1 + task / 10) for key, value in NUMBERS.items()},
                        },
                    )
                    for number, agent in enumerate(agents)
                    for task in range(8)
                    for variant in ("clean", "slow-answers")
                ),
                name=name,
            )
        )

    return make


def shown(said: str) -> str:
    """The tables alone: what stands before the trials."""
    return said.partition("\nstatus ")[0]


def figures(path: str, command) -> dict[tuple[str, str], dict[str, str]]:
    """For each agent and arm, by metric, the number as it must stand in the table."""
    found = {}
    for agent in json.loads(command("show", path, "--json").out)["agents"]:
        for arm, metrics in (("clean", agent["metrics"]), ("faulted", agent.get("faulted", {}))):
            found[agent["agent"], arm] = {
                name: interval_text(own["value"], own["low"], own["high"]) for name, own in metrics.items()
            }
    return found


def table_rows(text: str, name: str) -> list[str]:
    """The lines that begin with the name, each with the next one where the name stands alone."""
    lines = text.splitlines()
    return [
        line if line.rstrip(" *↑↓") != name else f"{line} {lines[place + 1]}"
        for place, line in enumerate(lines)
        if re.match(rf"{re.escape(name)}(?![a-z_0-9@^])", line)
    ]


@pytest.mark.parametrize("columns", [80, 100, 120, 200])
@pytest.mark.parametrize(
    "agents", [("react/m",), ("react/m", AGENT), tuple(f"{AGENT}-{i}" for i in range(5))]
)
def test_a_run_with_arms_shows_every_name_and_number_whole(command, arms, agents, columns):
    path = arms(*agents)
    text = shown(command("show", path, "--all-metrics", columns=columns).out)
    for own in figures(path, command).values():
        for name in ("pass^1", *NUMBERS):
            assert own[name] in " ".join(table_rows(text, name)), name
    assert (
        max(cell_len(line) for line in text.splitlines() if path not in line and LONG not in line) <= columns
    )


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("agents", [("react/m", AGENT), tuple(f"{AGENT}-{i}" for i in range(6))])
def test_at_first_glance_too_every_name_and_number_is_whole(command, arms, agents, columns):
    path = arms(*agents)
    text = shown(command("show", path, columns=columns).out)
    for own in figures(path, command).values():
        rows = " ".join(table_rows(text, "success"))
        assert own["success"] in rows or own["success"].partition(" ")[2] in text
        for name in NUMBERS:
            assert own[name].partition(" ")[0] in " ".join(table_rows(text, name)), name
    assert (
        max(cell_len(line) for line in text.splitlines() if path not in line and LONG not in line) <= columns
    )


@pytest.mark.parametrize("columns", [80, 100, 120, 200])
def test_groups_show_every_name_and_number_whole(command, arms, columns):
    group = "reading-and-writing-of-configuration-files"
    path = arms("react/m", AGENT, skills=(group,))
    lines = command("show", path, "--by", "skill", "--all-metrics", columns=columns).out.splitlines()
    for name in ("success", *NUMBERS):
        assert any(line.startswith(name) for line in lines), name
    assert sum(group in line for line in lines) >= 6
    for own in figures(path, command).values():
        assert all(any(own[name] in line for line in lines) for name in NUMBERS)


@pytest.mark.parametrize("columns", [80, 100, 120, 200])
def test_a_comparison_shows_every_name_and_number_whole(command, arms, columns):
    a, b = arms("react/m", name="a"), arms("react/m", name="b", times=1.5)
    text = command("compare", a, b, columns=columns).out.partition("\n↑ more")[0]
    (pair,) = json.loads(command("compare", a, b, "--json").out)["comparisons"]
    for arm in pair["arms"]:
        for name, own in arm["metrics"].items():
            rows = " ".join(table_rows(text, name))
            assert number_text(own["a"], own["a"], own["b"]) in rows
            assert number_text(own["b"], own["a"], own["b"]) in rows
            assert change_text(own["difference"], own["low"], own["high"]) in rows
            assert f"{own['p']:.3f}" in rows or own["p"] is None
    table = text[text.index("clean arm") :]
    assert max(cell_len(line) for line in table.splitlines() if LONG not in line) <= columns


def test_color_or_none_the_words_are_the_same(command, arms, monkeypatch):
    path = arms("react/m")
    plain = command("show", path).out
    monkeypatch.setenv("NO_COLOR", "1")
    assert command("show", path).out == plain
    assert "\x1b" not in plain


def test_a_missing_value_is_a_dash_with_its_reason_and_never_0(command, scored_run):
    def tried(task: str, agent: str, status: str, value: float | None) -> tuple[Trial, dict[str, object]]:
        trial = Trial(
            run_id="run-1",
            suite="s",
            task_id=task,
            agent=agent,
            trial_id=f"{task}.{agent}",
            status=status,
            epoch=1,
        )
        return trial, {"success": value, "reward": value}

    path = str(
        scored_run(
            tried("t1", "a", "passed", 1.0),
            tried("t2", "a", "unscored", None),
            tried("t1", "b", "unscored", None),
        )
    )
    said = command("show", path).out
    assert "1.00  1  -  0" in " ".join(table_rows(said, "success")).replace("   ", "  ")
    assert "-: no value, never counted as 0. success (all its trials are unscored)." in said
    every = command("show", path, "--all-metrics").out
    assert "all its trials are unscored: success, reward" in every
    assert "Unscored trials, which no number counts that needs a verdict: 2." in said
    told = json.loads(command("show", path, "--json").out)["agents"]
    assert [agent["metrics"]["success"]["why_null"] for agent in told] == [
        None,
        "all its trials are unscored",
    ]
    assert told[1]["metrics"]["success"]["value"] is None


def test_a_metric_that_was_asked_for_is_shown_without_any_value_too(command, scored_run, arms):
    path = arms("react/m")
    run = json.loads(command("show", path, "--metric", "share", "--json").out)
    assert list(run["agents"][0]["metrics"]) == ["share"]
    trial = Trial(run_id="run-1", suite="s", task_id="t", agent="a", trial_id="t.a", status="passed", epoch=1)
    null = str(scored_run((trial, {"success": 1.0, "reward": None}), name="null"))
    assert [row.split() for row in table_rows(command("show", null, "--metric", "reward").out, "reward")] == [
        ["reward", "-", "0"]
    ]
    every = command("show", null, "--all-metrics").out
    assert "Without any value, and so not shown:\n  the grader gave no reward" in every
    assert "the grader gave no reward" in command("show", null, "--metric", "reward").out


def test_names_of_several_lines_and_of_wide_letters_keep_the_table_in_shape(command, scored_run):
    names = {
        "two\nlines": 1.0,
        "[red]markup[/]": 2.0,
        "宽字符指标名称": 3.0,
        "\u202eright": 4.0,
        "tab\there": 5.0,
    }
    trials = [
        Trial(
            run_id="run-1",
            suite="s",
            task_id="t",
            agent=agent,
            trial_id=f"t.{place}",
            status="passed",
            epoch=1,
            skills=("[bold]one\ntwo",),
        )
        for place, agent in enumerate(("agent\n1.00  99  0  0", "b" * 120))
    ]
    path = str(scored_run(*((trial, names) for trial in trials), scorer="gone"))
    for args in ((), ("--by", "skill")):
        said = shown(command("show", path, *args).out)
        assert not re.search(r"^1\.00  99", said, re.MULTILINE)
        assert "\u202e" not in said
        assert "\t" not in said
        for name in names:
            assert any(line.startswith(f"{one_line(name)} *") for line in said.splitlines()), name
    assert "b" * 120 in said
    assert "\n  [bold]one\\x0atwo " in said
    rows = [line for line in shown(command("show", path).out).splitlines() if line.startswith(("tab", "宽"))]
    assert len({cell_len(row.rstrip()) for row in rows}) == 1


def test_long_ids_are_shortened_in_the_middle_only_with_the_whole_told():
    agents = ["x" * 60 + "1", "x" * 60 + "2" + "x" * 9, "x" * 60 + "3" + "x" * 9, AGENT]
    labels = agent_labels(agents)
    assert len(set(labels.values())) == 4
    assert [is_whole(agent, label) for agent, label in labels.items()] == [False, False, False, True]


def test_shortened_ids_have_a_legend(command, scored_run):
    agents = [f"{letter * 90}" for letter in "ab"]
    path = str(
        scored_run(
            *(
                (
                    Trial(
                        run_id="run-1",
                        suite="s",
                        task_id="t",
                        agent=agent,
                        trial_id=agent,
                        status="passed",
                        epoch=1,
                    ),
                    {"success": 1.0},
                )
                for agent in agents
            )
        )
    )
    said = command("show", path, columns=120).out
    assert f"aaaaaaaaaa…aaaaaaaaaa is {agents[0]}\n" in said
    assert f"bbbbbbbbbb…bbbbbbbbbb is {agents[1]}\n" in said


@pytest.mark.parametrize(
    ("args", "hint"),
    [
        (("--metric", "sucess"), "Did you mean success?"),
        (("--metric", "zzz"), "There are: "),
        (("--by", "agent"), "There are: difficulty, skill, suite, task, variant."),
        (("--by", "skil"), "Did you mean skill? There are also: difficulty, suite, task, variant."),
    ],
)
@pytest.mark.parametrize("json", [(), ("--json",)])
def test_a_wrong_word_is_answered_with_all_there_are_each_once(command, arms, args, hint, json):
    said = command("show", arms("react/m"), *args, *json)
    assert said.code == 2
    assert hint in said.err
    words = re.findall(r"[a-z_^@0-9]+", said.err.partition("\n")[2].replace("There are also", ""))
    names = [
        word for word in words if word in {"success", *NUMBERS, "skill", "difficulty", "suite", "variant"}
    ]
    assert len(names) == len(set(names)) > 3


def test_without_scores_a_metric_is_answered_with_how_to_score(command, scored_run):
    trial = Trial(run_id="run-1", suite="s", task_id="t", agent="a", trial_id="t.a", status="passed", epoch=1)
    path = str(scored_run((trial, {})))
    said = command("show", path, "--metric", "recovery_rate")
    assert said.code == 2
    assert f"A run without scores knows only pass^1. Compute them: evalkit score {path}" in said.err
    other = str(scored_run((trial, {"success": 1.0}), name="other"))
    said = command("compare", path, other, "--metric", "success")
    assert said.code == 2
    assert f"evalkit score {path}" in said.err


@given(
    st.lists(
        st.text(st.characters(codec="utf-8"), min_size=1, max_size=40), min_size=1, max_size=4, unique=True
    ),
    st.lists(st.lists(st.integers(1, 30), min_size=1, max_size=3), min_size=1, max_size=4),
    st.integers(40, 120),
)
def test_no_layout_loses_a_name_or_a_number(names, widths, page):
    console = Console(width=page, force_terminal=False, emoji=False, highlight=False)
    units = [
        [
            Column(f"h{i}.{j}", [Text(f"{i}.{j}.{row}".rjust(width, "7")) for row in range(len(names))])
            for j, width in enumerate(unit)
        ]
        for i, unit in enumerate(widths)
    ]
    with console.capture() as capture:
        print_columns(console, "name", [Text(one_line(name)) for name in names], units)
    text = capture.get()
    for name in names:
        assert one_line(name).rstrip() in text
    for column in (column for unit in units for column in unit):
        assert column.heading in text
        assert all(cell.plain in text.split() for cell in column.cells)
    alone = {one_line(name).rstrip() for name in names}  # a name that is too long for its column
    assert all(cell_len(line) <= page for line in text.splitlines() if line not in alone)
