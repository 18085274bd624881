"""A verdict as a comment on a pull request."""

from __future__ import annotations

import re
import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from evalkit.gate.markdown_output import LEAST_BYTES, as_markdown, comment_key
from evalkit.gate.markdown_text import code, prose, table
from evalkit.gate.policy import GatePolicy
from evalkit.gate.rerun import rerun
from evalkit.gate.verdict import Problem

OURS = re.compile(
    r"(<details><summary>[A-Z][a-z ]+</summary>|</details>|<!-- evalkit-gate: [A-Za-z0-9._/-]+ -->)\n?"
)
LINKED_BY_GITHUB = re.compile(r"@[A-Za-z0-9]|#\d|\b[Gg][Hh]-\d|://|\bwww\.", re.ASCII)


def tokens(text: str) -> list:
    """What a renderer of CommonMark with tables makes of it, flat."""
    found = []
    for token in MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(text):
        found += [token, *(token.children or ())]
    return found


def assert_only_ours(text: str) -> None:
    """No HTML, link, picture or mention but what the gate itself writes."""
    for token in tokens(text):
        assert token.type not in (
            "link_open",
            "image",
            "html_inline",
            "s_open",
            "strong_open_never",
            "fence",
            "hr",
        )
        if token.type == "html_block":
            assert OURS.sub("", token.content).strip() == ""
        if token.type == "text":
            assert not LINKED_BY_GITHUB.search(token.content), token.content


def shape(text: str) -> list[str]:
    """All markup in it."""
    return [token.type for token in tokens(text) if token.type not in ("text", "text_special", "inline")]


def test_it_begins_with_a_hidden_key_and_the_verdict(build):
    lines = as_markdown(build.of("regressed"), strict=False, key="my gate").splitlines()
    assert lines[0] == "<!-- evalkit-gate: my-gate -->"
    assert lines[1] == "## \u274c REGRESSED: success fell by 1 points."
    assert lines[3].startswith("Look at the tasks below")


@pytest.mark.parametrize(
    ("outcome", "icon"),
    [("pass", "\u2705"), ("inconclusive", "\u26a0"), ("regressed", "\u274c"), ("not comparable", "\u26d4")],
)
def test_each_outcome_has_its_icon(build, outcome, icon):
    assert as_markdown(build.of(outcome), strict=False).splitlines()[1].startswith(f"## {icon}")


def test_the_key_stays_while_the_verdict_changes(build):
    assert comment_key(build.of("pass")) == comment_key(build.of("regressed"))
    assert comment_key(build.of("pass")) == comment_key(
        build.verdict(build.agent(), candidate=build.side("x"))
    )


@pytest.mark.parametrize("other", ["policy", "baseline"])
def test_another_gate_has_another_key(build, other):
    changed = {
        "policy": build.verdict(build.agent(), policy=GatePolicy(source="gate.toml")),
        "baseline": build.verdict(build.agent(), baseline=build.side("runs/older")),
    }[other]
    assert comment_key(changed) != comment_key(build.of("pass"))


@given(st.text(st.characters(), min_size=1))
def test_a_key_cannot_end_its_comment(build, key):
    first = as_markdown(build.of("pass"), strict=False, key=key).split("\n")[0]
    assert re.fullmatch(r"<!-- evalkit-gate: [A-Za-z0-9._/]*(-[A-Za-z0-9._/]+)*-? -->", first)


def test_a_metric_is_a_line_of_the_table(build):
    text = as_markdown(build.of("regressed"), strict=False)
    assert (
        "| \u274c `success` | 75.0 % | 74.0 % | -1.0 points | may fall by 5 points | success fell by 1 points |"
    ) in text


def test_the_worst_lines_come_first(build):
    verdict = build.verdict(build.agent("a"), build.agent("b", metrics=(build.metric("regressed"),)))
    text = as_markdown(verdict, strict=False)
    assert text.index("| `b` |") < text.index("| `a` |")


def test_tasks_that_got_worst_and_newly_pass_are_named(build):
    tasks = (
        build.task("1/4", "3/4", task_id="a"),
        build.task("0/4", "4/4", task_id="b"),
        build.task("4/4", "0/4", task_id="c"),
    )
    text = as_markdown(build.verdict(build.agent(tasks=tasks)), strict=False)
    worse, passing = text.index("**Got worse**"), text.index("**Newly passing**")
    assert worse < text.index("| `core/b` | 4/4 | 0/4 |\n") < text.index("| `core/a` | 3/4 | 1/4 |") < passing
    assert passing < text.index("| `core/c` | 0/4 | 4/4 |")


def test_events_name_their_steps(build):
    text = as_markdown(build.verdict(build.agent(zero=(build.zero(build.event()),))), strict=False)
    assert (
        "| `tamper_confirmed` | `core/fix-off-by-one` | `fix-off-by-one.oracle` | 3, 7 | the tests were edited |"
    ) in text
    assert "\n    evalkit show runs/new fix-off-by-one.oracle\n" in text


def test_problems_say_what_to_do(build):
    text = as_markdown(build.of("not comparable"), strict=False)
    assert "- the grader of core/a has changed  \n  Accept a new baseline." in text


def test_many_problems_are_counted(build):
    problems = tuple(Problem(what=f"problem {number}", hint="Do it.") for number in range(23))
    text = as_markdown(build.verdict(problems=problems, warnings=("mind it",) * 22), strict=False)
    assert "- problem 19  \n  Do it.\n- and 3 more\n" in text
    assert "- mind it\n- and 2 more\n" in text


def test_the_command_leads_to_the_same_verdict(build):
    verdict = build.verdict(
        build.agent("new", baseline="old"),
        build.agent("b"),
        candidate=build.side("my runs/new"),
        baseline=build.side("git:origin/main:base.json"),
        policy=GatePolicy(source="gate.toml"),
    )
    command = (
        "evalkit gate 'my runs/new' --baseline git:origin/main:base.json --policy gate.toml "
        "--map new=old --strict"
    )
    assert rerun(verdict, strict=True) == command
    text = as_markdown(verdict, strict=True)
    assert [token.content.strip() for token in tokens(text) if token.type == "code_block"] == [command]
    assert shlex.split(command)[2] == "my runs/new"


def test_five_thousand_tasks_fit_and_what_is_left_out_is_said(build):
    tasks = tuple(build.task("1/4", "3/4", task_id=f"task-{number:04}") for number in range(5000))
    text = as_markdown(
        build.verdict(build.agent("a", tasks=tasks), build.agent("b", tasks=tasks)), strict=False
    )
    assert len(text.encode()) < 65_536
    assert text.count("**Got worse**") == 2
    assert "_Left out, as this would be too long: all tasks (2)._" in text
    assert "and 4,990 more" in text
    whole = as_markdown(build.verdict(build.agent("a", tasks=tasks)), strict=False, most_bytes=2**20)
    assert "Left out" not in whole
    assert "`core/task-4999`" in whole


def test_many_agents_fit(build):
    long = "\U0001f600" * 200
    agents = [build.agent(f"{number}{long}", metrics=(build.metric("regressed"),)) for number in range(300)]
    text = as_markdown(build.verdict(*agents), strict=False)
    assert len(text.encode()) < 65_536
    assert "Left out, as this would be too long: verdicts" in text


@given(data=st.data(), most=st.integers(LEAST_BYTES, 40_000))
def test_no_text_makes_it_too_long(build, hostile, data, most):
    name = data.draw(hostile) * data.draw(st.sampled_from([1, 40, 4000]))
    text = as_markdown(build.everywhere(name), strict=False, most_bytes=most)
    assert len(text.encode()) <= most


@given(data=st.data())
@settings(max_examples=300)
def test_no_text_breaks_out(build, hostile, data):
    text = as_markdown(build.everywhere(data.draw(hostile)), strict=False)
    assert_only_ours(text)
    assert shape(text) == shape(as_markdown(build.everywhere("a"), strict=False))


@given(data=st.data())
@settings(max_examples=300)
def test_a_name_stays_one_cell_and_a_sentence_one_line(build, hostile, data):
    name = data.draw(hostile)
    cells = shape(table(("a", "b", "c"), [(prose(name), code(name), "`end`")]))
    assert cells == shape(table(("a", "b", "c"), [("a", "`b`", "`end`")]))
    assert shape(prose(name)) == ["paragraph_open", "paragraph_close"]
    assert shape(f"- {prose(name)}") == shape("- a")


@pytest.mark.parametrize("name", ["fix-off-by-one", "react/openai/gpt-5@effort:high", "a b", "\U0001f600"])
def test_an_ordinary_name_is_shown_as_it_is(name):
    (span,) = [token.content for token in tokens(code(name)) if token.type == "code_inline"]
    assert span == name


def test_an_ordinary_sentence_reads_as_it_was_written():
    told = "success fell by 12.5 points; 16 tasks cannot rule out more, and 5 points are allowed (90 %)."
    assert prose(told) == told


def test_nothing_but_problems_is_told_too(build):
    text = as_markdown(build.verdict(problems=(Problem(what="no trials", hint="Run it."),)), strict=False)
    assert "NOT COMPARABLE: no trials." in text


def test_the_same_verdict_gives_the_same_bytes(build):
    assert as_markdown(build.everywhere("a"), strict=False) == as_markdown(
        build.everywhere("a"), strict=False
    )
