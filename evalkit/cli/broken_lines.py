"""How is a text that anybody may have written set within the page, with nothing of it lost?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.text import Text

from evalkit.cli.console import stdout
from evalkit.cli.prose import one_line

CONTINUED = "  "
"""Stands before what belongs to the line above it."""
_BREAKS_AFTER = " ,"
_TAB = 4
_LEAST = 20
_MARKS_FOR_EACH = 4
"""So many characters may stand in one place of the page, such as accents on a letter."""


def broken(line: str, width: int) -> Iterator[tuple[str, int]]:
    """The line in pieces of this width, and how many of its characters are told with each.

    It is broken behind a blank or comma where one is near. What does not print is shown as escapes, tabs as blanks. No
    more of the line is looked at than is asked for.
    """
    width = max(width, _LEAST)
    lead, cells, blank = "", 0, 0
    shown: list[str] = []
    for place, character in enumerate(line):
        own, size = _shown(character, cells)
        if shown and (cells + size > width or len(shown) >= width * _MARKS_FOR_EACH):
            cut = blank if blank > len(shown) // 2 else len(shown)
            yield (lead + "".join(shown[:cut])).rstrip(" "), place - (len(shown) - cut)
            lead, shown, blank = CONTINUED, shown[cut:], 0
            cells = len(lead) + cell_len("".join(shown))
        shown.append(own)
        cells += size
        if character in _BREAKS_AFTER:
            blank = len(shown)
    yield (lead + "".join(shown)).rstrip(" "), len(line)


def say_body(text: str, fold: int | None, *, style: str = "", prefix: str = "    ") -> None:
    """Print a text below its heading: all of it, or so many lines of the page and how much more there is."""
    console = stdout()
    lines = [line.removesuffix("\r") for line in text.rstrip("\n").split("\n")]
    lead, left = prefix, fold
    for number, line in enumerate(lines):
        told = 0
        for piece, end in broken(line, console.width - len(prefix)):
            if left == 0:
                more = _more(len(line) - told if told else 0, len(lines) - number - bool(told))
                console.print(Text(f"    ... {more} (--full shows them)", style="dim"), soft_wrap=True)
                return
            console.print(Text((lead + piece).rstrip(" "), style=style), soft_wrap=True)
            lead, told = " " * len(prefix), end
            left = None if left is None else left - 1


def say_items(items: Sequence[str], *, style: str = "", gap: str = "  ") -> None:
    """Print short texts side by side, as many on a line as there is room for; one that is too long alone is broken."""
    console = stdout()
    line = ""
    for item in map(one_line, items):
        if line and cell_len(line) + cell_len(gap) + cell_len(item) > console.width:
            _say_broken(line, style)
            line = CONTINUED + item
        else:
            line = f"{line}{gap}{item}" if line else item
    _say_broken(line, style)


def _say_broken(line: str, style: str) -> None:
    console = stdout()
    for piece, _ in broken(line, console.width):
        console.print(Text(piece, style=style), soft_wrap=True)


def _more(characters: int, lines: int) -> str:
    counts = {"character": characters, "line": lines}
    return " and ".join(
        f"{number:,} more {name}{'' if number == 1 else 's'}" for name, number in counts.items() if number
    )


def _shown(character: str, cells: int) -> tuple[str, int]:
    if " " <= character <= "~":
        return character, 1
    own = " " * (_TAB - cells % _TAB) if character == "\t" else one_line(character)
    return own, cell_len(own)
