"""Which instructions does a Dockerfile consist of, and what do its variables stand for?"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from evalkit.errors import ConfigError
from evalkit.tomlfile import nearest

_NAMES = """
    ADD ARG CMD COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK LABEL MAINTAINER ONBUILD RUN SHELL STOPSIGNAL USER
    VOLUME WORKDIR
"""
INSTRUCTIONS = frozenset(_NAMES.split())
_DIRECTIVE = re.compile(r"#\s*([a-zA-Z]+)\s*=\s*(\S+)\s*")
_HEREDOC = re.compile(r"<<-?\s*(['\"]?)([A-Za-z_][A-Za-z0-9_.-]*)\1")
_FLAG = re.compile(r"--([a-z][a-z-]*)(?:=(\S*))?(?:\s+|$)")
_VARIABLE = re.compile(
    r"\\(?P<escaped>\$)|\$(?:(?P<plain>[A-Za-z_][A-Za-z0-9_]*)"
    r"|\{(?P<braced>[A-Za-z_][A-Za-z0-9_]*)(?::?(?P<sign>[-+])(?P<other>[^}]*))?\})"
)


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction: its name in capitals, its flags, the rest on one line, and its first line."""

    name: str
    flags: Mapping[str, str]
    text: str
    line: int
    heredoc: bool = False

    @property
    def json_words(self) -> list[str] | None:
        """The words of the JSON form; None for the other form."""
        if not self.text.startswith("["):
            return None
        try:
            words = json.loads(self.text)
        except (ValueError, RecursionError):
            return None
        if isinstance(words, list) and all(isinstance(word, str) for word in cast("list[object]", words)):
            return cast("list[str]", words)
        return None


def parse(text: str, file: str) -> tuple[Instruction, ...]:
    """The instructions of a Dockerfile. Raises ConfigError with file and line for what is none."""
    lines = text.split("\n")
    escape = _escape_character(lines)
    found: list[Instruction] = []
    at = 0
    while at < len(lines):
        start = at
        logical, at = _logical_line(lines, at, escape)
        if not logical:
            continue
        name, _, rest = logical.partition(" ")
        known = name.upper()
        if known not in INSTRUCTIONS:
            raise ConfigError(
                f"unknown instruction {name[:40]!r}",
                where=f"{file}:{start + 1}",
                hint=nearest(known, INSTRUCTIONS),
            )
        flags, rest = _flags(rest.strip())
        end = _after_heredocs(lines, at, rest) if known in ("RUN", "COPY", "ADD") else at
        found.append(Instruction(known, flags, rest, start + 1, heredoc=end > at))
        at = end
    return tuple(found)


def expand(text: str, variables: Mapping[str, str]) -> str:
    """`text` with `$NAME`, `${NAME}`, `${NAME:-other}` and `${NAME:+other}` filled in; others are empty."""

    def value(match: re.Match[str]) -> str:
        if match["escaped"]:
            return "$"
        known = variables.get(match["plain"] or match["braced"], "")
        if match["sign"] == "-":
            return known or match["other"]
        if match["sign"] == "+":
            return match["other"] if known else ""
        return known

    return _VARIABLE.sub(value, text)


def unknown_names(text: str, variables: Mapping[str, str]) -> list[str]:
    """The variables in `text` that only a shell would know."""
    names = [match["plain"] or match["braced"] for match in _VARIABLE.finditer(text)]
    return [name for name in names if name and name not in variables]


def words(text: str, variables: Mapping[str, str]) -> list[str]:
    """`text` cut at spaces, with quotes taken off, variables expanded (not within single quotes).

    Raises ValueError for a quote that is not closed.
    """
    found: list[str] = []
    current: list[str] = []
    begun, at = False, 0
    while at < len(text):
        char = text[at]
        if char.isspace():
            if begun:
                found.append("".join(current))
            current, begun = [], False
            at += 1
            continue
        begun = True
        piece, at = _piece(text, at, variables)
        current.append(piece)
    if begun:
        found.append("".join(current))
    return found


def _piece(text: str, at: int, variables: Mapping[str, str]) -> tuple[str, int]:
    """The next part of a word that is quoted in one way, and where it ends."""
    char = text[at]
    if char in "'\"":
        end = at + 1
        while end < len(text) and text[end] != char:
            end += 2 if text[end] == "\\" and char == '"' else 1
        if end >= len(text):
            raise ValueError(f"the quote {char} is not closed")
        inner = text[at + 1 : end]
        if char == "'":
            return inner, end + 1
        return re.sub(r'\\(["\\])', r"\1", expand(inner, variables)), end + 1
    if match := _VARIABLE.match(text, at):
        return expand(match.group(), variables), match.end()
    if char == "\\" and at + 1 < len(text):
        return text[at + 1], at + 2
    return char, at + 1


def _escape_character(lines: list[str]) -> str:
    for line in lines:
        match = _DIRECTIVE.fullmatch(line.strip())
        if match is None:
            break
        if match[1].lower() == "escape" and match[2] in ("\\", "`"):
            return match[2]
    return "\\"


def _logical_line(lines: list[str], at: int, escape: str) -> tuple[str, int]:
    """The next instruction with its continuation lines joined; empty for comments and blank lines."""
    parts: list[str] = []
    while at < len(lines):
        line = lines[at].strip()
        at += 1
        if not line or line.startswith("#"):
            if parts:
                continue
            return "", at
        if not line.endswith(escape):
            parts.append(line)
            break
        parts.append(line[: -len(escape)])
    return re.sub(r"^(\S+)\s+", r"\1 ", " ".join(parts).strip()), at


def _flags(text: str) -> tuple[dict[str, str], str]:
    flags: dict[str, str] = {}
    while match := _FLAG.match(text):
        value = match[2] if match[2] is not None else "true"
        flags[match[1]] = f"{flags[match[1]]} {value}" if match[1] in flags else value
        text = text[match.end() :]
    return flags, text


def _after_heredocs(lines: list[str], at: int, text: str) -> int:
    """The line after the here-documents that `text` begins; `at` where it begins none that ends."""
    for match in _HEREDOC.finditer(text):
        end = next((n for n in range(at, len(lines)) if lines[n].lstrip("\t") == match[2]), None)
        if end is None:
            return at
        at = end + 1
    return at
