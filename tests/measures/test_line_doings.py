"""What the commands of a shell line do, each of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.measures.line_doings import changes_files, line_doings
from evalkit.measures.shell_programs import PROGRAMS
from evalkit.measures.shell_script import ran

WORDS = st.lists(
    st.sampled_from(
        [
            "ls",
            "rm",
            "pytest",
            "-q",
            "a.txt",
            "timeout",
            "5",
            "X=1",
            "sudo",
            ">",
            "2>&1",
            "/dev/null",
            "'a b'",
            "#",
        ]
    ),
    max_size=6,
)


@given(WORDS.map(" ".join))
def test_a_single_command_is_read_as_it_is_among_others(line):
    """The short way for lines of one command says what the long one says."""
    read = [(own.words, own.target, own.decides) for own, _ in line_doings(line).commands]
    assert read == [(own.words, own.target, own.decides) for own in ran(line)]


@given(
    st.lists(
        st.sampled_from(
            [*sorted(PROGRAMS), "python3 -m pip install", "apt-get install", "git add", "sed -i", "pip3 install",
             ">", ";", "|", "a.txt", "X=1", "$X", "bash -c", "'rm a'"]
        ),
        max_size=6,
    ).map(" ".join)
)  # fmt: skip
def test_what_can_change_nothing_is_seen_without_taking_it_apart(line):
    assert changes_files(line) == line_doings(line).changes


@pytest.mark.parametrize(
    ("line", "operations"),
    [
        ("", []),
        ("cd x && echo tests: && python -m pytest; git diff", ["other", "other", "test", "read"]),
        ("sudo rm -r a", ["mutate"]),
        ("bash -c 'rm a; make test'", ["run", "mutate", "test"]),
        ("echo 1 > a.txt", ["mutate"]),
        ("if pytest; then echo ok; fi", ["test", "other", "other"]),
    ],
)
def test_each_command_has_its_operation(line, operations):
    assert [doing.operation for _, doing in line_doings(line).commands] == operations


def test_what_is_changed_is_named_by_every_command_that_changes_it():
    assert line_doings("cd x && ls; rm a.txt && echo 1 > b.txt").changed == ("a.txt", "b.txt")


@pytest.mark.parametrize(
    ("line", "ends"), [("pytest; echo done", False), ("echo a; pytest", True), ("make && pytest", True)]
)
def test_the_exit_code_is_that_of_the_last_chain(line, ends):
    assert line_doings(line).ends_in_test == ends
