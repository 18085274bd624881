"""What does a page hand out to be copied?

The very lines that `--out board.md` and `--out board.csv` have, by row, so that a page can leave out those it hides.
"""

from __future__ import annotations

import csv
import io
from dataclasses import replace

from evalkit.report.board import Board
from evalkit.report.plain import as_csv, as_markdown
from evalkit.scoring.figure_text import number_text


def copied(board: Board) -> dict[str, object]:
    """`before`, `head`, `rows` and `after` are lines of Markdown, and `csv` the fields of each line, the head first.

    `cells` has for every column of the page what it is called and what each row says, as Markdown writes it.
    """
    before, head, rows, after = _parts(as_markdown(board), len(board.rows))
    return {
        "before": before,
        "head": head,
        "rows": rows,
        "after": after,
        "cells": _cells(board),
        "csv": list(csv.reader(io.StringIO(as_csv(board), newline=""))),
    }


def _parts(text: str, rows: int) -> tuple[list[str], list[str], list[str], list[str]]:
    lines = text.split("\n")
    start = next(place for place, line in enumerate(lines) if line.startswith("| rank |"))
    first, last = start + 2, start + 2 + rows
    return lines[:start], lines[start:first], lines[first:last], lines[last:]


def _cells(board: Board) -> dict[str, list[str]]:
    every = replace(board, headings=tuple(replace(heading, shown=True) for heading in board.headings))
    _, head, rows, _ = _parts(as_markdown(every), len(board.rows))
    columns = list(zip(*(line[2:-2].split(" | ") for line in (head[0], *rows)), strict=True))
    named = {column[0]: list(column) for column in columns}
    keys = ["rank", "agent", *(heading.key for heading in board.headings)]
    cells = {key: list(column) for key, column in zip(keys, columns, strict=False)}
    cells |= {"tokens": named["output tokens"], "trials": named["trials"], "unscored": named["unscored"]}
    if "tasks" in named:
        cells["tasks"] = named["tasks"]
    prices, times = [row.usd_per_pass for row in board.rows], [row.median_s for row in board.rows]
    cells["usd_per_pass"] = ["cost per pass", *(number_text(price, *prices) for price in prices)]
    cells["seconds"] = ["median seconds", *(number_text(time, *times) for time in times)]
    return cells
