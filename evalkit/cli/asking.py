"""How is somebody at the terminal asked whether a call may run?"""

from __future__ import annotations

import os
import sys
import termios
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

import anyio

from evalkit.engine.approvals.asking import Asker, Question
from evalkit.trajectory.printable import printable

SHOWN = 4_000
"""Characters of a call that are shown; of a longer one both ends, and how much is between them."""
_LINE_BYTES = 4_096


class Screen(Protocol):
    """What shares the terminal with questions."""

    def aside(self) -> AbstractContextManager[None]:
        """While inside, it leaves the terminal alone."""
        ...


@dataclass(slots=True)
class Terminal:
    """Somebody at a terminal: one question at a time, whichever trials ask."""

    screen: Screen
    keyboard: int
    """File descriptor that answers are read from."""
    _turn: anyio.Lock = field(default_factory=anyio.Lock)

    async def ask(self, question: Question) -> bool | None:
        """Ask until there is a yes or a no; None where the terminal has gone."""
        async with self._turn:
            with self.screen.aside():
                _drain(self.keyboard)
                while True:
                    print(prompt(question), end="", file=sys.stderr, flush=True)
                    answer = await _line(self.keyboard)
                    if answer is None:
                        print(file=sys.stderr)
                        return None
                    if answer in {"y", "yes"}:
                        return True
                    if answer in {"n", "no"}:
                        return False


def terminal(screen: Screen, *, json: bool) -> Asker | None:
    """Who can be asked here; None where nobody sits at a terminal in the foreground, or a program reads the result."""
    if json or not (sys.stdin and sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    keyboard = sys.stdin.fileno()
    try:
        is_in_front = os.tcgetpgrp(keyboard) == os.getpgrp()
    except OSError:
        return None
    return Terminal(screen, keyboard) if is_in_front else None


def prompt(question: Question) -> str:
    """The question on one line; what a model wrote steers no terminal."""
    call = question.call
    if len(call) > SHOWN:
        half = SHOWN // 2
        call = f"{call[:half]} [... {len(call) - SHOWN} characters not shown ...] {call[-half:]}"
    shown = printable(call).replace("\n", "\\n").replace("\t", "\\t")
    return (
        f"evalkit: {printable(question.agent)} on {printable(question.task)} wants {printable(question.tool)}: {shown}"
        f"   ({question.rule}) allow? [y/n] "
    )


async def _line(keyboard: int) -> str | None:
    """One line of the terminal, without blocking the trials that go on; None at its end."""
    await anyio.wait_readable(keyboard)
    try:
        data = os.read(keyboard, _LINE_BYTES)
    except OSError:
        return None
    return data.decode("utf-8", "replace").strip().lower() if data else None


def _drain(keyboard: int) -> None:
    """What was typed before the question was there answers nothing."""
    try:
        termios.tcflush(keyboard, termios.TCIFLUSH)
    except termios.error:
        return
