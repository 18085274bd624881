"""Which tasks does which agent pass?"""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from evalkit.report.board import Board
from evalkit.report.charts.svg import LETTER, drawing, element, group, number, words
from evalkit.report.charts.wording import clipped, share, storable, width

MOST_TASKS = 300
_MOST_LETTERS = 170_000
"""Of names in what cells show when pointed at; beyond, they show the value alone, or a page grows by megabytes."""
_LABEL = 30
_CLASSES = (
    ("never", "M.3.3L.7.7M.7.3L.3.7"),
    ("below ⅓", "M.25.8H.75"),
    ("⅓ to ⅔", "M.25.5H.75M.25.8H.75"),
    ("above ⅔", "M.25.2H.75M.25.5H.75M.25.8H.75"),
    ("always", ""),
)
_CELL = Markup('<use href="#c{}" x="{}"><title>{}{}</title></use>')
_NONE = 5
"""The place of what is unknown, after the classes."""


def heatmap(board: Board) -> Markup:
    """Tasks down, the easiest first, agents across, the best first; before them what any agent passed.

    A cell is a `use` whose x is its column: 0 for any agent, then the agents in the order of the heads, which carry
    `data-agent`; its row carries `data-task` (`SUITE/TASK`). Nothing without agents or tasks.
    """
    names = [row.entrant.name for row in board.rows]
    tasks = board.tasks[:MOST_TASKS]
    if not names or not tasks:
        return Markup("")
    several = len({suite for suite, _ in board.tasks}) > 1
    labels = [clipped(f"{suite}/{task}" if several else task, _LABEL) for suite, task in tasks]
    size = float(min(max(660 // (len(names) + 1), 13), 24))
    left = 12 + LETTER * max(map(width, labels))
    heads = [clipped(name, _LABEL) for name in names]
    top = 44 + 0.8 * LETTER * max(9, *map(width, heads))
    best = [_best(board, place) for place in range(len(tasks))]
    columns = [best, *(board.solved[name] for name in names)]
    titles = _titles(heads, labels)
    parts = [
        element("defs", Markup("").join(_cell(place) for place in range(_NONE + 1))),
        _legend(),
        _heads(heads, names, left, top, size),
        *(
            _row(
                (label, f"{suite}/{task}"),
                [column[place] for column in columns],
                [title[place] for title in titles],
                (left, top + place * size, size),
            )
            for place, (label, (suite, task)) in enumerate(zip(labels, tasks, strict=True))
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


def _cell(place: int) -> Markup:
    """In a square of 1 x 1, so that a cell's x can be its column."""
    square = element("path", d="M.04.04H.96V.96H.04z")
    if place == _NONE:
        return group([square], id=f"c{place}", class_="none")
    sign = _CLASSES[place][1]
    return group(
        [square, *([element("path", d=sign, class_="sign")] if sign else [])],
        id=f"c{place}",
        class_=f"cell-{place}",
    )


def _legend() -> Markup:
    parts: list[Markup] = []
    x = 4.0
    for place, name in [*enumerate(name for name, _ in _CLASSES), (_NONE, "unknown")]:
        parts.append(element("use", href=f"#c{place}", transform=f"translate({number(x)} 4) scale(14)"))
        parts.append(words(x + 20, 15, name))
        x += 34 + LETTER * len(name)
    return group(parts, class_="legend")


def _heads(heads: Sequence[str], names: Sequence[str], left: float, top: float, size: float) -> Markup:
    parts: list[Markup] = []
    for place, (head, name) in enumerate([("any agent", None), *zip(heads, names, strict=True)]):
        x, y = number(left + (place + 0.6) * size), number(top - 6)
        parts.append(
            element(
                "text",
                head,
                class_="label" if name else "label title",
                transform=f"translate({x} {y}) rotate(-55)",
                data_agent=name,
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
    cells = Markup("").join(
        _CELL.format(class_of(value), place, title, _said(value))
        for place, (value, title) in enumerate(zip(values, titles, strict=True))
    )
    return group(
        [
            words(left - 6, y + size / 2 + 4, label, anchor="end"),
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
