"""Approvals on the command line: the plan says them, mistakes are told, and somebody at a terminal is asked."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pty
import re
import select
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest

import evalkit
from evalkit.cli.asking import Terminal, prompt, terminal
from evalkit.engine.approvals.asking import Question
from evalkit.trajectory.step import Act

RULES = '[[rule]]\nname = "write"\ndecision = "ask"\ncommand = "> *answer"\n'
QUESTION = Question("react/x", "mini/one", "bash", "rm -rf build", "tidy")


@pytest.fixture
def suite(folder):
    """A suite of one task, whose solution writes one file, and approvals that ask about that."""
    task = folder / "mini" / "one"
    for path, text in {
        "task.toml": 'schema_version = "1.4"\nartifacts = ["/app/answer"]\n',
        "instruction.md": "Write `done` into /app/answer.\n",
        "environment/Dockerfile": "FROM debian:bookworm-slim\nWORKDIR /app\n",
        "tests/test.sh": '#!/bin/sh\n[ "$(cat /app/answer)" = done ]; echo $((1 - $?)) > /logs/verifier/reward.txt\n',
        "solution/solve.sh": "# step: Write.\necho done > answer\n",
    }.items():
        (task / path).parent.mkdir(parents=True, exist_ok=True)
        (task / path).write_text(text)
    (folder / "rules.toml").write_text(RULES)
    return folder / "mini"


def test_the_plan_says_which_approvals_hold(command, suite):
    said = command("run", "mini", "--approvals", "rules.toml", "--dry-run")
    assert said.code == 0
    lines = [line for line in said.out.splitlines() if line.startswith("approvals ")]
    assert lines[0].startswith("approvals rules#")
    assert lines[0].endswith(": 1 rule, default allow, ask means deny where nobody is there")
    assert "+approvals:rules#" in said.out
    assert "approvals none: every call may run" in command("run", "mini", "--dry-run").out


def test_the_plan_says_them_to_programs(command, suite):
    plan = json.loads(command("run", "mini", "--approvals", "rules.toml", "--dry-run", "--json").out)
    assert plan["approvals"].startswith("rules#")
    assert json.loads(command("run", "mini", "--dry-run", "--json").out)["approvals"] is None


def test_the_project_names_them_relative_to_itself(command, suite, folder, monkeypatch):
    (folder / "evalkit.toml").write_text('[run]\nsuites = ["mini"]\napprovals = "rules.toml"\n')
    (folder / "below").mkdir()
    monkeypatch.chdir(folder / "below")
    assert "approvals rules#" in command("run", "--dry-run").out


def test_a_new_project_shows_where_they_would_stand(command):
    assert command("init").code == 0
    assert '# approvals = "approvals.toml"' in Path("evalkit.toml").read_text()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (RULES + 'comand = "x"\n', "rules.toml:5: unknown key rule[0].comand"),
        (
            RULES + 'tool = "bsh"\n',
            "rules.toml:5: the rule 'write' is about 'bsh', and no agent",
        ),
        (None, "rules.toml: the file does not exist"),
    ],
)
def test_a_mistake_is_one_clear_error(command, suite, folder, text, said):
    (folder / "rules.toml").unlink()
    if text is not None:
        (folder / "rules.toml").write_text(text)
    told = command("run", "mini", "--approvals", "rules.toml")
    assert (told.code, told.out) == (2, "")
    assert said in told.err
    assert re.search(r"Did you mean (command|bash)\?|Approvals are a TOML file", told.err)


@pytest.mark.local
def test_a_program_that_reads_the_result_is_asked_nothing(command, suite, local_support):
    said = command("run", "mini", "--approvals", "rules.toml", "--json", "--out", "run")
    assert said.code == 0
    assert approvals_of("run") == ["ask_denied:write", "allow"]
    assert "evalkit: nobody can be asked here: what the approvals rules ask about is denied\n" in said.err


def approvals_of(run):
    loaded = evalkit.load(run)
    _, steps = loaded.trial(loaded.rows()[0].trial_id)
    return [step.approval for step in steps if isinstance(step, Act)]


# At a terminal


class Screen:
    """Counts how often it made room."""

    def __init__(self):
        self.asides = 0

    @contextmanager
    def aside(self):
        self.asides += 1
        yield


@pytest.fixture
def keyboard():
    """Both ends of a terminal: ours, and the one that answers are read from."""
    ours, theirs = pty.openpty()
    yield ours, theirs
    for end in (ours, theirs):
        with contextlib.suppress(OSError):
            os.close(end)


def asked(keyboard, *typed, questions=(QUESTION,), before=b""):
    """What comes of questions while these lines are typed one after the other."""
    ours, theirs = keyboard
    screen = Screen()
    somebody = Terminal(screen, theirs)
    answers = []

    async def ask(question):
        answers.append(await somebody.ask(question))

    async def type_all():
        for line in typed:
            await anyio.sleep(0.1)
            os.write(ours, line)

    async def both():
        os.write(ours, before)
        with anyio.fail_after(20):
            async with anyio.create_task_group() as group:
                for question in questions:
                    group.start_soon(ask, question)
                group.start_soon(type_all)

    anyio.run(both)
    assert screen.asides == len(questions)
    return answers


@pytest.mark.parametrize(
    ("line", "answer"), [(b"y\n", True), (b"YES\n", True), (b"n\n", False), (b"no\n", False)]
)
def test_yes_and_no_are_answers(keyboard, line, answer):
    assert asked(keyboard, line) == [answer]


def test_anything_else_is_asked_again(keyboard, capsys):
    assert asked(keyboard, b"what?\n", b"\n", b"y\n") == [True]
    assert capsys.readouterr().err.count("allow? [y/n]") == 3


def test_the_end_of_input_is_nobody(keyboard):
    assert asked(keyboard, b"\x04") == [None]


def test_what_was_typed_before_the_question_answers_nothing(keyboard):
    assert asked(keyboard, b"n\n", before=b"y\n") == [False]


def test_trials_ask_one_after_the_other(keyboard, capsys):
    other = Question("react/y", "mini/two", "bash", "ls", "look")
    assert asked(keyboard, b"y\n", b"n\n", questions=(QUESTION, other)) == [True, False]
    said = capsys.readouterr().err
    assert said.index("mini/one") < said.index("mini/two")


def test_the_question_is_one_line_and_steers_no_terminal():
    hostile = Question("react/\x1b[31mx", "mini/one", "bash", "rm x\n\x1b[2J\u202eevil\ty", "tidy")
    said = prompt(hostile)
    assert "\x1b" not in said
    assert "\n" not in said
    assert said == (
        "evalkit: react/\\x1b[31mx on mini/one wants bash: rm x\\n\\x1b[2J\\u202eevil\\ty   (tidy) allow? [y/n] "
    )


def test_of_a_long_call_both_ends_are_shown_and_how_much_is_not():
    said = prompt(Question("a", "t", "bash", f"begin{'x' * 10_000}end", "r"))
    assert "begin" in said
    assert "end   (r)" in said
    assert "[... 6008 characters not shown ...]" in said


def test_without_a_terminal_nobody_is_there(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    assert terminal(Screen(), json=False) is None
    assert terminal(Screen(), json=True) is None


TAKE_THE_TERMINAL = (
    "import fcntl, os, signal, sys, termios; signal.signal(signal.SIGINT, signal.SIG_DFL);"
    "fcntl.ioctl(0, termios.TIOCSCTTY, 0);"
    "os.execv(sys.executable, [sys.executable, '-m', 'evalkit', *sys.argv[1:]])"
)


def at_terminal(folder, *args, typed):
    """`evalkit ARGS` at a terminal of its own, typing at each question; what it showed, and its exit code."""
    ours, theirs = pty.openpty()
    path = os.pathsep.join(filter(None, sys.path))
    process = subprocess.Popen(
        [sys.executable, "-c", TAKE_THE_TERMINAL, *args],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=folder,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": path, "TERM": "xterm", "COLUMNS": "200"},
    )
    os.close(theirs)
    shown, left, deadline = b"", list(typed), time.monotonic() + 240
    try:
        while time.monotonic() < deadline:
            if not select.select([ours], [], [], 1)[0]:
                continue
            try:
                data = os.read(ours, 65_536)
            except OSError:  # the terminal's other end has been closed
                break
            shown += data
            if left and shown.count(b"allow? [y/n]") > len(typed) - len(left):
                time.sleep(0.2)
                os.write(ours, left.pop(0))
        return shown.decode(errors="replace"), process.wait(timeout=120)
    finally:
        process.kill()
        process.wait()
        os.close(ours)


@pytest.mark.local
@pytest.mark.parametrize(("key", "decided"), [(b"y\n", "ask_allowed:write"), (b"n\n", "ask_denied:write")])
def test_somebody_at_the_terminal_is_asked_while_the_run_goes_on(folder, suite, local_support, key, decided):
    shown, code = at_terminal(folder, "run", "mini", "--approvals", "rules.toml", "--out", "run", typed=[key])
    assert code == 0, shown
    assert "on mini/one wants bash: echo done > answer   (write) allow? [y/n]" in shown
    assert approvals_of(folder / "run")[0] == decided


@pytest.mark.local
def test_an_interrupt_at_the_question_ends_the_run_in_order(folder, suite, local_support):
    args = ("run", "mini", "--approvals", "rules.toml", "--out", "run")
    shown, code = at_terminal(folder, *args, typed=[b"\x03"])
    assert code == 130, shown
    (trial,) = evalkit.load(folder / "run").rows()
    assert (trial.status, trial.stop_reason) == ("unscored", "cancelled")
    shown, code = at_terminal(folder, "resume", "run", typed=[b"y\n"])
    assert code == 0, shown
    assert approvals_of(folder / "run")[0] == "ask_allowed:write"
