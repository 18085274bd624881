"""What does a whole shell line do, command by command?

The first command is what an attempt is about (`first_doing`). Whether a line tests or changes something, each of them
may tell: `cd x && echo tests: && python -m pytest; git diff` tests.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from evalkit.measures.shell_line import Doing, doing_of
from evalkit.measures.shell_programs import CHANGERS, PASSED_OVER, Operation
from evalkit.measures.shell_script import Ran, ran
from evalkit.measures.shell_words import simple_commands

_SEVERAL = re.compile(r"[;|\n(`$]|&(?!\d)|<<|\b\w*sh\b|\beval\b|\bsu\b")
"""What a line has that may run more than one command; without any of this it need not be taken apart."""
_CHANGERS = re.compile(r">(?!&)|\b(?:git|sed|" + "|".join(sorted(map(re.escape, CHANGERS))) + r")\b")
"""What a line has that changes files; without any of this it need not be taken apart to know that it does not."""
_CHANGING: frozenset[Operation] = frozenset({"mutate", "install"})
_SHELLS = frozenset({"bash", "sh", "dash", "zsh", "ksh", "eval"})
_TELLING = PASSED_OVER | {"echo", "printf", "date", "tee"}
"""Programs beside a test that only say something, or keep what it says."""


@dataclass(frozen=True, slots=True)
class LineDoings:
    """What the commands of one shell line do, in the order in which they are written."""

    commands: tuple[tuple[Ran, Doing], ...]

    @property
    def tests(self) -> bool:
        """Whether any of them runs tests."""
        return any(doing.operation == "test" for _, doing in self.commands)

    @property
    def only_tests(self) -> bool:
        """Whether it tests, and beside that only reads and says something: what it leaves behind are caches."""
        return self.tests and all(_is_idle(own, doing) for own, doing in self.commands)

    @property
    def changes(self) -> bool:
        """Whether any of them installs or changes files."""
        return not self.only_tests and any(doing.operation in _CHANGING for _, doing in self.commands)

    @property
    def changed(self) -> tuple[str, ...]:
        """The files that they change, as far as the line names them."""
        return tuple(doing.resource for _, doing in self.commands if doing.operation == "mutate")

    @property
    def ends_in_test(self) -> bool:
        """Whether the exit code of the line is that of tests, or of a chain that they stand in."""
        return any(own.decides and doing.operation == "test" for own, doing in self.commands)

    def told_failing(self, output: str) -> bool:
        """Whether a test has failed, by what the line prints of it, as `pytest; echo $?` does."""
        return any(doing.operation == "test" and own.has_failed(output) for own, doing in self.commands)


def changes_files(line: str) -> bool:
    """Whether any command of a shell line installs or changes files."""
    return _CHANGERS.search(line) is not None and line_doings(line).changes


@lru_cache(maxsize=1024)
def line_doings(line: str) -> LineDoings:
    """Of a shell line, with what it hands to other shells. Any text gives some, also what no shell would run."""
    return LineDoings(tuple(_read(ran(line) if _SEVERAL.search(line) else _alone(line))))


def _read(commands: Iterable[Ran]) -> Iterator[tuple[Ran, Doing]]:
    for own in commands:
        yield own, doing_of(list(own.words), own.target)


def _alone(line: str) -> Iterator[Ran]:
    for own in simple_commands(line):
        words, target = tuple(own.words), own.target
        yield Ran(words=words, target=target, stdin=None, cwd=None, background=False, decides=True)


def _is_idle(own: Ran, doing: Doing) -> bool:
    if doing.operation in {"test", "read"} or (own.program in _SHELLS and own.value("-c") is not None):
        return True
    return own.program in _TELLING and own.target is None
