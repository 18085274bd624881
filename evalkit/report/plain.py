"""How is a board told as Markdown, and as CSV?"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence

from evalkit.report.board import Board, Row
from evalkit.report.heading import Heading
from evalkit.scoring.figure_text import interval_text

_MARKS = re.compile(r"([\\|`*_<>\[\]#@!~])")
_FORMULA = re.compile(r"[=+\-@\t\r]")


def as_markdown(board: Board) -> str:
    """The table as it is shown at first, with intervals, and the notes. Names cannot become markup."""
    shown = [heading for heading in board.headings if heading.shown]
    head = ["rank", "agent", *(heading.label for heading in shown)]
    head += [*([] if board.same_tasks else ["tasks"]), "output tokens", "trials", "unscored"]
    lines = [_line(head), f"|{' --- |' * len(head)}"]
    for row in board.rows:
        cells = [_rank(row), row.entrant.name, *(_interval(heading, row) for heading in shown)]
        tokens = "-" if row.mean_tokens is None else f"{row.mean_tokens:,.0f}"
        more = [] if board.same_tasks else [str(row.tasks)]
        lines.append(_line([*cells, *more, tokens, str(row.trials), str(row.unscored)]))
    notes = [f"\n> {_text_of(note)}" for note in board.notes]
    return "\n".join([*lines, *notes]) + "\n"


def as_csv(board: Board) -> str:
    """Every number unrounded, with its interval and how many tasks it rests on; unknown is empty.

    A name that a spreadsheet would take for a formula begins with an apostrophe.
    """
    out = io.StringIO()
    writer = csv.writer(out)
    keys = [heading.key for heading in board.headings]
    parts = [f"{key}{part}" for key in keys for part in ("", ".low", ".high", ".n")]
    own = ("output_tokens", "usd_per_pass", "median_s", "tasks", "trials", "unscored")
    writer.writerow(["rank_best", "rank_worst", "agent", "run", *parts, *own])
    for row in board.rows:
        found = [row.cells.get(key) for key in keys]
        numbers = [
            value
            for one in found
            for value in ((None,) * 4 if one is None else (one.value, one.low, one.high, one.n))
        ]
        plain = [row.mean_tokens, row.usd_per_pass, row.median_s, row.tasks, row.trials, row.unscored]
        names = [_text(row.entrant.name), _text(row.entrant.run)]
        writer.writerow([row.rank.best, row.rank.worst, *names, *numbers, *plain])
    return out.getvalue()


def _rank(row: Row) -> str:
    best, worst = row.rank.best, row.rank.worst
    return str(best) if best == worst else f"{best}–{worst}"


def _interval(heading: Heading, row: Row) -> str:
    found = row.cells.get(heading.key)
    return "-" if found is None else interval_text(found.value, found.low, found.high)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(map(_text_of, cells)) + " |"


def _text_of(text: str) -> str:
    return _MARKS.sub(r"\\\1", " ".join(text.split()))


def _text(name: str) -> str:
    return f"'{name}" if _FORMULA.match(name) else name
