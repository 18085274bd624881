"""Of which simple commands does a shell line consist?

Only as far as one asks: the first command of a long script costs no more than that of a short line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

LONGEST = 20_000
"""Characters of a line that are looked at."""
_TOKEN = re.compile(
    r"""
      (?P<comment> \#[^\n]*+ )
    | (?P<redirection> \d*+ (?: &>>? | <<<? -? | <> | [<>]& | >[>|]? | < ) )
    | (?P<separator> && | \|\|?&? | [;&()\n] )
    | (?P<word> (?: [^\s;&|()<>'"\\]++ | \\. | '[^']*+' | "(?:[^"\\]|\\.)*+" | ['"\\] )++ )
    """,
    re.VERBOSE | re.DOTALL,
)
_QUOTED = re.compile(r"""'([^']*+)'|"((?:[^"\\]|\\.)*+)"|\\(.)""", re.DOTALL)
_ESCAPED = re.compile(r'\\(["\\$`])')
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_RESERVED = frozenset({"if", "then", "elif", "else", "while", "until", "do", "{", "!"})
_WRAPPERS = frozenset(
    {"sudo", "env", "timeout", "nohup", "time", "nice", "stdbuf", "command", "exec", "xargs"}
)
_TAKE_A_VALUE = {
    "sudo": "ugCDhpRrTt",
    "env": "uCS",
    "timeout": "ks",
    "nice": "n",
    "stdbuf": "ioe",
    "xargs": "InPLdEs",
}
"""Short options of wrappers that are followed by a value."""


@dataclass(slots=True)
class Command:
    """One simple command, without what stands around it: assignments, `sudo`, `timeout`, redirections."""

    after: str = ""
    """The separator before it, such as `&&` or `|`; empty for the first one."""
    ended_by: str = ""
    """The separator after it; empty for the last one."""
    words: list[str] = field(default_factory=list[str])
    """Its program and arguments, without quotes."""
    target: str | None = None
    """The first file that it writes to by redirection."""
    written: tuple[str, ...] = ()
    """All its words, `sudo` and assignments too."""
    files: list[str] = field(default_factory=list[str])
    """Every file that it reads or writes by redirection."""
    strings: list[str] = field(default_factory=list[str])
    """Texts that it reads: `<<< text`."""

    @property
    def program(self) -> str:
        """Without its folder; empty where there is no word."""
        return (self.words[0].rpartition("/")[2] or self.words[0]) if self.words else ""


def simple_commands(line: str) -> Iterator[Command]:
    """The simple commands in the order in which they are written; those without any word and target are left out.

    Any text gives some, also what no shell would run: a quote that is never closed is a character as others are.
    """
    command, redirected = Command(), ""
    for found in _TOKEN.finditer(line[:LONGEST]):
        kind, text = found.lastgroup, found[0]
        if kind == "separator":
            if command.words or command.target:
                command.ended_by = text
                yield _unwrapped(command)
            command, redirected = Command(after=text), ""
        elif kind == "redirection":
            redirected = text
        elif kind == "word":
            word = _plain(text)
            if not redirected:
                command.words.append(word)
            elif "<<<" in redirected:
                command.strings.append(word)
            elif "<<" not in redirected and not word.startswith("&") and not word.isdigit():
                command.files.append(word)
                if command.target is None and ">" in redirected and _is_file(word):
                    command.target = word
            redirected = ""
    if command.words or command.target:
        yield _unwrapped(command)


def _plain(word: str) -> str:
    if "'" not in word and '"' not in word and "\\" not in word:
        return word
    return _QUOTED.sub(_unquoted, word)


def _unquoted(found: re.Match[str]) -> str:
    if found[1] is not None:
        return found[1]
    if found[2] is not None:
        return _ESCAPED.sub(r"\1", found[2])
    return "" if found[3] == "\n" else found[3]


def _is_file(word: str) -> bool:
    return not word.startswith(("/dev/", "&", "-")) and not word.isdigit()


def _unwrapped(command: Command) -> Command:
    words: Sequence[str] = command.words
    command.written = tuple(words)
    while words:
        first = words[0]
        if first in _RESERVED or ("=" in first and _ASSIGNMENT.match(first)):
            words = words[1:]
        elif (wrapper := first.rpartition("/")[2]) in _WRAPPERS:
            words = _after_options(wrapper, words[1:])
        else:
            break
    command.words = list(words)
    return command


def _after_options(wrapper: str, words: Sequence[str]) -> Sequence[str]:
    values = _TAKE_A_VALUE.get(wrapper, "")
    while words and words[0].startswith("-") and words[0] != "-":
        option = words[0]
        words = words[1:]
        if len(option) == 2 and option[1] in values and words:
            words = words[1:]
        if option == "--":
            break
    return words[1:] if wrapper == "timeout" and words else words
