"""On which line of a TOML text does each key stand?

`tomllib` reads values and forgets where they were; an error message needs the line. The text has
already been accepted by `tomllib`, so this reader only has to find its way, not to judge.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator

KeyPath = tuple[str | int, ...]
"""Keys and list positions from the top of a document down to one value."""

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_STRING = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}(?!")'
    r"|'''.*?'{3,5}(?!')"
    r'|"(?:\\.|[^"\\])*"'
    r"|'[^']*'",
    re.DOTALL,
)
_PLAIN_VALUE = re.compile(r"[^,\]}#\n]*")


def key_lines(text: str) -> dict[KeyPath, int]:
    """The line (from 1) of every key, table and list item of a valid TOML text."""
    return _Reader(text).read()


class _Reader:
    """One pass over a text. `at` is the next character, `line` its line."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.line = 1
        self.lines: dict[KeyPath, int] = {}
        self.counts: dict[KeyPath, int] = {}
        """How many tables each list of tables has so far."""

    def read(self) -> dict[KeyPath, int]:
        table: KeyPath = ()
        self.skip(_BLANK)
        while self.at < len(self.text):
            if self.peek("["):
                table = self.header()
            else:
                self.pair(table)
            self.skip(_BLANK)
        return self.lines

    def peek(self, start: str) -> bool:
        return self.text.startswith(start, self.at)

    def skip(self, pattern: re.Pattern[str]) -> str:
        """Move past what matches here; past one character where nothing does, so that reading ends."""
        match = pattern.match(self.text, self.at)
        taken = match.group() if match else self.text[self.at : self.at + 1]
        self.at += len(taken)
        self.line += taken.count("\n")
        return taken

    def header(self) -> KeyPath:
        is_list = self.peek("[[")
        line = self.line
        self.at += 2 if is_list else 1
        path: KeyPath = ()
        for key in self.keys():
            path = self.latest((*path, key))
            self.lines.setdefault(path, line)
        self.at += 2 if is_list else 1
        if not is_list:
            return path
        base = path[:-1] if path and isinstance(path[-1], int) else path
        self.counts[base] = self.counts.get(base, 0) + 1
        item = (*base, self.counts[base] - 1)
        self.lines[item] = line
        return item

    def latest(self, path: KeyPath) -> KeyPath:
        """A list of tables stands for its last table."""
        count = self.counts.get(path)
        return path if count is None else (*path, count - 1)

    def keys(self) -> Iterator[str]:
        while True:
            self.skip(_SPACE)
            if self.peek('"') or self.peek("'"):
                yield tomllib.loads(f"key = {self.skip(_STRING)}")["key"]
            else:
                yield self.skip(_BARE_KEY)
            self.skip(_SPACE)
            if not self.peek("."):
                return
            self.at += 1

    def pair(self, table: KeyPath) -> None:
        line = self.line
        path = table
        for key in self.keys():
            path = (*path, key)
            self.lines.setdefault(path, line)
        self.at += 1
        self.skip(_SPACE)
        self.value(path)

    def value(self, path: KeyPath) -> None:
        if self.peek("["):
            self.array(path)
        elif self.peek("{"):
            self.inline_table(path)
        elif self.peek('"') or self.peek("'"):
            self.skip(_STRING)
        else:
            self.skip(_PLAIN_VALUE)

    def array(self, path: KeyPath) -> None:
        self.at += 1
        index = 0
        self.skip(_BLANK)
        while self.at < len(self.text) and not self.peek("]"):
            self.lines[*path, index] = self.line
            self.value((*path, index))
            self.skip(_BLANK)
            if self.peek(","):
                self.at += 1
                self.skip(_BLANK)
            index += 1
        self.at += 1

    def inline_table(self, path: KeyPath) -> None:
        self.at += 1
        self.skip(_BLANK)
        while self.at < len(self.text) and not self.peek("}"):
            self.pair(path)
            self.skip(_BLANK)
            if self.peek(","):
                self.at += 1
                self.skip(_BLANK)
        self.at += 1
