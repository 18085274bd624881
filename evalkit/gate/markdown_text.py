"""How does a text that others wrote stay text in GitHub's Markdown?

Names go into code spans, in which GitHub looks for no markup, link, mention or number of an issue. Sentences are
escaped, and a zero-width space parts what GitHub would make a link of after that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from evalkit.gate.hostile_text import clipped, one_line, shown

_LONGEST_NAME = 120
_LONGEST_SENTENCE = 600
_LONGEST_COMMAND = 1000
_BAR = str.maketrans({"|": "\u00a6"})
_SPAN_SIGNS = str.maketrans({"|": "\u00a6", "`": "\u00b4"})
"""A bar would end a table's cell, and a backtick a span; how they are escaped in there differs between renderers."""
_ESCAPED = str.maketrans(
    {sign: f"\\{sign}" for sign in "\\`*_[]~$"} | {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
)
_BEGINNING = re.compile(r"^([#+=-]|\d{1,9}(?=[.)]))")
_LINKED = re.compile(r"(@|#(?=\d)|[Gg][Hh]-(?=\d)|:(?=//|[a-z])|[Ww]{3}(?=\.))")
_ZERO_WIDTH = "\u200b"


def code(name: str, most: int = _LONGEST_NAME) -> str:
    """A name as a code span on one line, also in a table."""
    return f"`{shown(name, most).translate(_SPAN_SIGNS)}`"


def prose(sentence: str, most: int = _LONGEST_SENTENCE) -> str:
    """A sentence as plain text on one line, also in a table."""
    plain = shown(sentence, most).translate(_BAR)
    parted = _LINKED.sub(rf"\1{_ZERO_WIDTH}", plain)
    return _BEGINNING.sub(_escaped_beginning, parted.translate(_ESCAPED))


def command(words: str) -> str:
    """A command as a block of code, on one line."""
    return f"    {clipped(one_line(words), _LONGEST_COMMAND)}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are Markdown already."""
    lines = [_row(head), _row(["---"] * len(head)), *map(_row, rows)]
    return "\n".join(lines)


def folded(title: str, text: str) -> str:
    """Text that is shown when its title is clicked."""
    return f"<details><summary>{title}</summary>\n\n{text}\n\n</details>"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escaped_beginning(found: re.Match[str]) -> str:
    sign = found.group()
    return f"{_ZERO_WIDTH}{sign}" if sign[0].isdigit() else f"\\{sign}"
