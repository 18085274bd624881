"""Which commands does a whole shell text run, where, and with what on standard input?

Unlike the first thing that a line does, everything counts here: texts handed to another shell (`bash -c`, `eval`, a
here-document for `sh`) too, but what only stands in a here-document, a comment or an argument is no command.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from evalkit.measures.shell_words import LONGEST, Command, simple_commands

_DEEPEST = 3
"""Shells in shells that are looked into."""
_HEREDOC = re.compile(r"(?<!<)<<(-?)[ \t]*(?:'([^'\n]+)'|\"([^\"\n]+)\"|\\?([\w.-]+))")
_HERE_STRING = re.compile(r"<<<[ \t]*")
_ASSIGNED = re.compile(
    r"(?:^|[\s;&|])([A-Za-z_]\w*)=(?:'([^'\n]*)'|\"([^\"$`\\\n]*)\"|([^\s;&|()<>$`'\"\\]+))"
)
_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")
_MARK = "\x00"
_SHELLS = frozenset({"sh", "bash", "dash", "ash", "zsh", "ksh"})
_APART = frozenset({";", "\n", "&"})
_CLOSING = frozenset({"done", "fi", "esac", "}"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """One simple command of a text."""

    words: tuple[str, ...]
    """Its program and arguments, without quotes; variables that the text itself sets are filled in."""
    target: str | None
    """The first file that it writes to by redirection."""
    stdin: str | None
    """What it reads, as far as the text itself says so."""
    cwd: str | None
    """None where it is not known."""
    background: bool
    decides: bool
    """Whether the text's exit code is that of this command, or of the chain that it stands in."""
    told_failure: str | None = None
    """What the text prints once this has failed (`|| echo offline`), with `$?` for its exit code where that is told."""

    def has_failed(self, output: str) -> bool:
        """Whether what was printed says so, in the words that the text itself has for that."""
        told = self.told_failure
        if told is None:
            return False
        pattern = re.escape(told).replace(re.escape("$?"), r"0*[1-9]\d*")
        return re.search(rf"^\s*{pattern}\s*$", output, re.MULTILINE) is not None

    @property
    def program(self) -> str:
        """Without its folder; empty where there is no word."""
        return (self.words[0].rpartition("/")[2] or self.words[0]) if self.words else ""

    @property
    def operands(self) -> tuple[str, ...]:
        """The words after the program that are no options."""
        options = True
        found: list[str] = []
        for word in self.words[1:]:
            if options and word == "--":
                options = False
            elif not (options and word.startswith("-") and word != "-"):
                found.append(word)
        return tuple(found)

    @property
    def options(self) -> tuple[str, ...]:
        """The words after the program that begin with a dash."""
        return tuple(word for word in self.words[1:] if word.startswith("-") and word != "-")

    def has(self, *options: str) -> bool:
        """Whether one of these options is given; `-x` in a group of short ones (`-fdx`), too."""
        for option in self.options:
            name = option.partition("=")[0]
            if name in options:
                return True
            if not option.startswith("--") and any(len(o) == 2 and o[1] in option[1:] for o in options):
                return True
        return False

    def value(self, *options: str) -> str | None:
        """What follows one of these options, as `-o X`, `-oX`, `-xo X` or `--option=X`."""
        for place, word in enumerate(self.words[1:], 1):
            for option in options:
                ends = len(option) == 2 and re.fullmatch(rf"-[a-zA-Z]*{re.escape(option[1])}", word)
                if word == option or ends:
                    return self.words[place + 1] if place + 1 < len(self.words) else None
                if word.startswith(f"{option}=") and option.startswith("--"):
                    return word[len(option) + 1 :]
                if len(option) == 2 and word.startswith(option) and not word.startswith("--"):
                    return word[2:]
        return None

    def path(self, word: str) -> str | None:
        """A word as a path, absolute where the folder is known; None where a part of it is not in the text."""
        return located(word, self.cwd)


def located(word: str, cwd: str | None) -> str | None:
    """A word as a path, absolute where the folder is known; None where a variable or a command gives a part of it."""
    if not word or "$" in word or "`" in word:
        return None
    path = word if word.startswith(("/", "~")) or cwd is None else posixpath.join(cwd, word)
    path = posixpath.normpath(path)
    return path[1:] if path.startswith("//") else path


def ran(text: str, cwd: str | None = None, *, depth: int = 0) -> Iterator[Ran]:
    """Every command of a shell text that begins in the folder `cwd`, in the order in which they are written."""
    plain, bodies = _without_heredocs(text[:LONGEST])
    commands = list(simple_commands(_HERE_STRING.sub(f" {_MARK}< ", plain)))
    deciding = _deciding(commands)
    echoed = Counter(tuple(command.words[1:]) for command in commands if command.program == "echo")
    variables = _variables(plain)
    outer: list[str | None] = []
    piped: str | None = None
    for number, (command, decides) in enumerate(zip(commands, deciding, strict=True)):
        if command.after == "(":
            outer.append(cwd)
        words, stdin = _with_input([_filled(word, variables) for word in command.words], bodies)
        stdin = piped if stdin is None and command.after.startswith("|") and command.after != "||" else stdin
        own = Ran(
            words=words,
            target=None if command.target is None else _filled(command.target, variables),
            stdin=stdin,
            cwd=cwd,
            background=command.ended_by == "&",
            decides=decides,
            told_failure=_told_failure(commands, number, echoed),
        )
        yield own
        if depth < _DEEPEST and (inner := _inner(own)) is not None:
            for nested in ran(inner, cwd, depth=depth + 1):
                yield nested if not decides else _deciding_too(nested)
        piped = _printed(own)
        if own.program in {"cd", "pushd"}:
            cwd = _moved(own)
        if command.ended_by == ")" and outer:
            cwd = outer.pop()


def _deciding_too(own: Ran) -> Ran:
    return replace(own, decides=True)


def _told_failure(
    commands: Sequence[Command], number: int, echoed: Mapping[tuple[str, ...], int]
) -> str | None:
    """What the command after this one prints of its failure: only where no other one prints the same."""
    after = commands[number + 1] if number + 1 < len(commands) else None
    if after is None or after.program != "echo":
        return None
    text = " ".join(after.words[1:])
    tells = "$?" in text if after.after in {";", "\n"} else after.after == "||"
    rest = text.replace("$?", "")
    if not tells or not text or "$" in rest or "`" in rest:
        return None
    return text if echoed[tuple(after.words[1:])] == 1 else None


def _deciding(commands: list[Command]) -> list[bool]:
    """Of each command whether it is in the last chain; all are where the text stops at the first failure."""
    stops = any(
        c.words[:1] == ["set"] and any(re.match(r"-\w*e|errexit", w) for w in c.words[1:]) for c in commands
    )
    found: list[bool] = []
    last = True
    for command in reversed(commands):
        found.append(last or stops)
        if command.after in _APART and command.words[:1] and command.words[0] not in _CLOSING:
            last = False
    return found[::-1]


def _without_heredocs(text: str) -> tuple[str, list[str]]:
    """The text with a mark in place of each here-document, and the documents."""
    lines, kept, bodies = text.split("\n"), list[str](), list[str]()
    last = {line: number for number, line in enumerate(lines)}
    last |= {line.lstrip("\t"): number for number, line in enumerate(lines)}
    place = 0
    while place < len(lines):
        line = lines[place]
        place += 1
        for found in list(_HEREDOC.finditer(line)):
            end = found[2] or found[3] or found[4]
            if last.get(end, -1) < place:
                continue
            stop = _end(lines, place, end, tabs=found[1] == "-")
            if stop is not None:
                line = line.replace(found[0], f" {_MARK}{len(bodies)} ", 1)
                bodies.append("\n".join(lines[place:stop]))
                place = stop + 1
        kept.append(line)
    return "\n".join(kept), bodies


def _end(lines: list[str], place: int, end: str, *, tabs: bool) -> int | None:
    """The line that ends a here-document; tabs may stand before it."""
    for number in range(place, len(lines)):
        if (lines[number].lstrip("\t") if tabs else lines[number]) == end:
            return number
    return None


def _with_input(words: list[str], bodies: list[str]) -> tuple[tuple[str, ...], str | None]:
    """The words without the marks of what it reads, and what it reads."""
    stdin: str | None = None
    kept: list[str] = []
    taken = False
    for place, word in enumerate(words):
        if taken:
            taken = False
        elif word == f"{_MARK}<":
            stdin, taken = (words[place + 1] if place + 1 < len(words) else ""), True
        elif word.startswith(_MARK) and word[1:].isdecimal() and int(word[1:]) < len(bodies):
            stdin = bodies[int(word[1:])]
        else:
            kept.append(word)
    return tuple(kept), stdin


def _variables(text: str) -> Mapping[str, str]:
    return {
        found[1]: next(part for part in (found[2], found[3], found[4], "") if part is not None)
        for found in _ASSIGNED.finditer(text)
    }


def _filled(word: str, variables: Mapping[str, str]) -> str:
    if "$" not in word:
        return word
    return _VARIABLE.sub(
        lambda found: (
            variables.get(found[1] or found[2], found[0]) if (found[1] or found[2]) != "HOME" else "~"
        ),
        word,
    )


def _inner(own: Ran) -> str | None:
    """The text that a command hands to another shell."""
    if own.program == "eval":
        return " ".join(own.words[1:])
    if own.program in _SHELLS or own.program == "su":
        for place, word in enumerate(own.words[1:-1], 1):
            if word == "--command" or (re.fullmatch(r"-[a-z]*c", word) is not None):
                return own.words[place + 1]
        if own.program in _SHELLS and not own.operands:
            return own.stdin
    return None


def _printed(own: Ran) -> str | None:
    """What a command passes on to the next one of a pipe, where the text itself says so."""
    if own.program in {"echo", "printf"}:
        return " ".join(own.operands).replace("\\n", "\n")
    return own.stdin if own.program in {"cat", "tee"} and not own.operands else None


def _moved(own: Ran) -> str | None:
    if not own.operands:
        return "~" if own.program == "cd" else None
    return own.path(own.operands[0])
