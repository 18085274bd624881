"""What do the lines of a JSONL file hold?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

from evalkit.convert.json_text import JsonReader, kind_of
from evalkit.convert.notes import Notes, Refused
from evalkit.convert.source import Source

_LONGEST = 1 << 26
"""Characters of a line: what it holds takes ten times as much memory."""


def json_lines(source: Source, notes: Notes) -> Iterator[tuple[int, Mapping[str, object]]]:
    """Each object with the number of its line, from 1. Blank lines are none.

    A line that is no JSON object is left out, and a loss is noted with its number.
    """
    reader = JsonReader(notes)
    for number, line in _lines(source, notes):
        if not line or line.isspace():
            continue
        try:
            value = reader.value(line)
        except Refused as problem:
            notes.lose(f"line {number}: {problem}")
            continue
        finally:
            del line  # not in memory while what it held is made use of
        if isinstance(value, dict):
            yield number, cast("Mapping[str, object]", value)
        else:
            notes.lose(f"line {number}: holds {kind_of(value)}, not an object")


def _lines(source: Source, notes: Notes) -> Iterator[tuple[int, str]]:
    """Lines end as in text files, and nowhere else: JSON texts may hold the other line separators of Unicode."""
    number = 1
    rest: list[str] = []
    size = 0
    for piece in _with_newlines(source.texts(notes)):
        first, *others = piece.split("\n")
        rest.append(first)
        size += len(first)
        if size > _LONGEST:
            raise Refused(f"line {number} is longer than {_LONGEST:,} characters")
        for other in others:
            line = "".join(rest)
            rest.clear()
            yield number, line
            del line
            number += 1
            rest.append(other)
            size = len(other)
    if size:
        yield number, "".join(rest)


def _with_newlines(pieces: Iterator[str]) -> Iterator[str]:
    """The same text with \\n for \\r\\n, and for \\r alone, as very old programs write it: no JSON text holds one."""
    held = False
    for piece in pieces:
        text = f"\r{piece}" if held else piece
        if held := text.endswith("\r"):
            text = text[:-1]
        yield text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
    if held:
        yield "\n"
