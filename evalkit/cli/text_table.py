"""How are columns of text set so that nothing of them is lost, however narrow the page?

Rich's tables squeeze or cut what does not fit. Here columns that do not fit go below, beside the same names again, and
a name that is too long for its column gets a line of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from evalkit.cli.prose import INDENT

GAP = "  "
LEAST_FOR_NAMES = 16
"""Columns that leave less than that for the names are torn apart rather than kept side by side."""


@dataclass(frozen=True, slots=True)
class Column:
    """Numbers, one below the other, and what they are."""

    heading: str
    """May have several lines."""
    cells: Sequence[Text]
    """One for each name."""

    @property
    def width(self) -> int:
        lines = [*self.heading.splitlines(), *(cell.plain for cell in self.cells)]
        return max(map(cell_len, lines), default=0)


Unit = Sequence[Column]
"""Columns that belong side by side."""


def width_of(unit: Unit) -> int:
    """What the columns take, with the gap before each."""
    return sum(len(GAP) + column.width for column in unit)


def names_width(heading: str, names: Sequence[Text], units: Sequence[Unit], page: int) -> int:
    """How wide the column of names is; those that are longer do not stand in it."""
    beside = max(map(width_of, units), default=0)
    if page - beside < LEAST_FOR_NAMES:
        beside = max((width_of([column]) for unit in units for column in unit), default=0)
    most = max(page - beside, cell_len(heading))
    return max([cell_len(heading), *(width for name in names if (width := name.cell_len) <= most)])


def pack(units: Sequence[Unit], room: int) -> list[list[Column]]:
    """As many units side by side as there is room for, in order; one that is too wide itself is torn apart."""
    blocks: list[list[Column]] = []
    left = 0
    for unit in units:
        for part in [unit] if width_of(unit) <= room else [[column] for column in unit]:
            if blocks and width_of(part) <= left:
                blocks[-1] += part
            else:
                blocks.append(list(part))
                left = room
            left -= width_of(part)
    return blocks


def print_columns(console: Console, heading: str, names: Sequence[Text], units: Sequence[Unit]) -> None:
    """Print names with their columns, in as many blocks as the console's width asks for."""
    first = names_width(heading, names, units, console.width)
    for number, columns in enumerate(pack(units, console.width - first)):
        if number:
            console.print()
        for line in _lines(heading, names, columns, first):
            line.rstrip()
            console.print(line, soft_wrap=True)


def _lines(heading: str, names: Sequence[Text], columns: Sequence[Column], first: int) -> Iterator[Text]:
    headings = [column.heading.splitlines() for column in columns]
    height = max([1, *map(len, headings)])
    raised = [[""] * (height - len(lines)) + lines for lines in headings]
    for number in range(height):
        name = Text(heading if number == height - 1 else "")
        cells = [Text(lines[number]) for lines in raised]
        line = _line(name, cells, columns, first)
        line.stylize("bold")
        yield line
    for row, name in enumerate(names):
        cells = [column.cells[row] for column in columns]
        if not any(cells):
            yield name.copy()
        elif name.cell_len > first:
            yield name.copy()
            yield _line(Text(INDENT), cells, columns, first)
        else:
            yield _line(name, cells, columns, first)


def _line(name: Text, cells: Sequence[Text], columns: Sequence[Column], first: int) -> Text:
    line = name.copy()
    line.append(" " * (first - name.cell_len))
    for cell, column in zip(cells, columns, strict=True):
        line.append(GAP + " " * (column.width - cell.cell_len))
        line.append_text(cell)
    return line
