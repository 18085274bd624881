"""Which tasks does which agent pass?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from markupsafe import Markup, escape

from evalkit.report.board import Board
from evalkit.report.charts.svg import LETTER, drawing, element, group, name_words, number, tip, words
from evalkit.report.charts.wording import share, storable, told_apart, width
from evalkit.report.shown_text import name as listed

MOST_TASKS = 300
_MOST_LETTERS = 170_000
"""Of names in what cells show when pointed at; beyond, they show the value alone, or a page grows by megabytes."""
_LABEL = 30
_CLASSES = (
    ("cell-0", "never", (0.26, ".26l.4.4m0-.4l-.4.4")),
    ("cell-1", "below ⅓", (0.21, ".72h.5")),
    ("cell-2", "⅓ to ⅔", (0.21, ".46h.5m-.5.26h.5")),
    ("cell-3", "above ⅔", (0.21, ".2h.5m-.5.26h.5m-.5.26h.5")),
    ("cell-4", "always", None),
    ("none", "unknown", None),
)
"""With the sign that each has beside its colour: where it starts in a cell, and its path from there."""
_NONE = 5
"""The place of what is unknown."""
_CELL = Markup('<rect x="{}"><title>{}{}</title></rect>')


def heatmap(board: Board) -> Markup:
    """Tasks down, the easiest first, agents across, the best first; before them what any agent passed.

    A cell is a `rect` whose x is its column: 0 for any agent, then the agents in the order of the heads, which carry
    `data-agent`; its row carries `data-task`, as the list of trials names it. There can be ten
    thousand, so what they share is not repeated: their class is that of a group, and their size, 0.92 in units of a
    cell, is the style sheet's, and the page's script makes links of them. Nothing where nothing is scored.
    """
    names = [row.entrant.name for row in board.rows]
    shown = board.tasks[:MOST_TASKS]
    if not any(value is not None for own in board.solved.values() for value in own):
        return Markup("")
    several = len({suite for suite, _ in board.tasks}) > 1
    tasks = [f"{listed(suite)}/{listed(task)}" if several else str(listed(task)) for suite, task in shown]
    labels = told_apart(tasks, _LABEL)
    size = float(min(max(660 // (len(names) + 1), 13), 24))
    left = 12 + LETTER * max(map(width, labels))
    heads = told_apart(names, _LABEL)
    top = 44 + 0.8 * LETTER * max(9, *map(width, heads))
    best = [_best(board, place) for place in range(len(tasks))]
    columns = [best, *(board.solved[name] for name in names)]
    titles = _titles(heads, labels)
    parts = [
        _legend(),
        _heads(heads, names, left, top, size),
        *(
            _row(
                (label, task),
                [column[place] for column in columns],
                [title[place] for title in titles],
                (left, top + place * size, size),
            )
            for place, (label, task) in enumerate(zip(labels, tasks, strict=True))
        ),
    ]
    down = top + len(tasks) * size + 8
    if len(tasks) < len(board.tasks):
        note = f"The easiest {len(tasks)} of {len(board.tasks)} tasks; the others are not drawn."
        parts.append(words(left, down + 10, note))
        down += 20
    across = max(left + (len(columns) + 0.5) * size + 0.6 * LETTER * max(map(width, heads)), 560)
    return drawing(
        "heatmap",
        "Success of each agent at each task",
        f"{len(names)} agents across, {len(tasks)} tasks down, the easiest first. A cell is the share of a task's "
        "trials that passed; the first column is the best of any agent.",
        (across, down),
        parts,
    )


def class_of(value: float | None) -> int:
    """0 for never and 4 for always, with three thirds between; 5 for unknown."""
    if value is None:
        return _NONE
    if value in {0.0, 1.0}:
        return int(value * 4)
    return 1 if value < 1 / 3 else 2 if value <= 2 / 3 else 3


def _best(board: Board, place: int) -> float | None:
    return max((value for own in board.solved.values() if (value := own[place]) is not None), default=None)


def _titles(heads: Sequence[str], labels: Sequence[str]) -> list[list[str]]:
    """Of each column, its cells' words before the value."""
    letters = sum(map(len, heads)) * len(labels) + sum(map(len, labels)) * len(heads)
    if letters > _MOST_LETTERS:
        return [[""] * len(labels) for _ in ["any agent", *heads]]
    return [[f"{head}, {label}: " for label in labels] for head in ["any agent", *heads]]


def _cells(of: int, cells: Sequence[tuple[int, str, str]]) -> Markup:
    """Those of one class in a row, each with its column and the words and the value that it shows when pointed at."""
    name, _, sign = _CLASSES[of]
    parts = [_CELL.format(*cell) for cell in cells]
    if sign is not None:
        across, path = sign
        signs = "".join(f"M{column + across:g}{path}" for column, _, _ in cells)
        parts.append(element("path", d=signs, class_="sign"))
    return group(parts, class_=name)


def _legend() -> Markup:
    parts: list[Markup] = []
    x = 4.0
    for place, (_, meaning, _) in enumerate(_CLASSES):
        cell = _cells(place, [(0, "", meaning)])
        parts.append(element("g", cell, transform=f"translate({number(x)} 4) scale(15)"))
        parts.append(words(x + 20, 15, meaning))
        x += 34 + LETTER * len(meaning)
    return group(parts, class_="legend")


def _heads(heads: Sequence[str], names: Sequence[str], left: float, top: float, size: float) -> Markup:
    parts: list[Markup] = []
    for place, (head, name) in enumerate([("any agent", None), *zip(heads, names, strict=True)]):
        whole = tip(name) if name and head.startswith("…") | head.endswith("…") else Markup("")
        x, y = number(left + (place + 0.6) * size), number(top - 6)
        parts.append(
            element(
                "text",
                escape(head) + whole,
                class_="label" if name else "label title",
                transform=f"translate({x} {y}) rotate(-55)",
                data_agent=name and listed(name),
            )
        )
    return group(parts, class_="heads")


def _row(
    task: tuple[str, str],
    values: Sequence[float | None],
    titles: Sequence[str],
    at: tuple[float, float, float],
) -> Markup:
    label, name = task
    left, y, size = at
    by_class: defaultdict[int, list[tuple[int, str, str]]] = defaultdict(list)
    for column, (value, title) in enumerate(zip(values, titles, strict=True)):
        by_class[class_of(value)].append((column, title, _said(value)))
    cells = Markup("").join(_cells(place, by_class[place]) for place in sorted(by_class))
    return group(
        [
            name_words((left - 6, y + size / 2 + 4), label, name, "label", "end"),
            element("g", cells, transform=f"translate({number(left)} {number(y)}) scale({number(size)})"),
        ],
        class_="row",
        data_task=storable(name),
    )


def _said(value: float | None) -> str:
    """Whole numbers without digits behind the point, as there are thousands of cells."""
    if value is None:
        return "unknown"
    return f"{value:g}" if value in {0.0, 1.0} else share(value)
