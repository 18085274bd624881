"""What does success cost?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from typing import Literal

from markupsafe import Markup

from evalkit.report.board import Board, Row
from evalkit.report.charts.axis import Axis, log_axis, share_axis
from evalkit.report.charts.linked import linked
from evalkit.report.charts.placing import Box, placed
from evalkit.report.charts.success import success_in, told
from evalkit.report.charts.svg import (
    LETTER,
    LINE,
    diamond,
    drawing,
    element,
    group,
    name_words,
    number,
    rule,
    tip,
    words,
)
from evalkit.report.charts.wording import amount, clipped, lines, share, short, told_apart, width
from evalkit.scoring.estimate import Estimate
from evalkit.scoring.ranks import frontier

Over = Literal["cost", "seconds"]
_WIDTH, _TOP, _BOTTOM = 900.0, 44.0, 460.0
_LEFT, _RIGHT = 52.0, 880.0
_COLUMNS = 28


@dataclass(frozen=True, slots=True)
class _Mark:
    row: Row
    estimate: Estimate
    won: float
    paid: float
    best: bool


@dataclass(frozen=True, slots=True)
class _Plane:
    across: Axis
    up: Axis
    unit: str
    zero: float | None
    """Where what costs nothing lies, as a logarithm has no place for it."""

    def place(self, mark: _Mark) -> tuple[float, float]:
        x = self.across.at(mark.paid) if mark.paid > 0 else self.zero or self.across.start
        return x, self.up.at(mark.won)


def scatter(board: Board, over: Over = "cost") -> Markup:
    """Success against the mean cost of a trial, or its median seconds, with the frontier; nothing where no agent
    has both.

    Agents of which one of the two is unknown are named below.
    """
    unit = "s" if over == "seconds" else board.cost
    marks = _marks(board, over)
    if not marks:
        return Markup("")
    known = {mark.row.entrant.name for mark in marks}
    what = "median seconds of a trial" if over == "seconds" else f"mean {unit} of a trial"
    best = [mark.row.entrant.name for mark in marks if mark.best]
    notes = [
        *(lines("Frontier (◆):", best, 125) if best else ()),
        *_left_out([row.entrant.name for row in board.rows if row.entrant.name not in known], what),
    ]
    plane = _plane(marks, unit)
    names, unnamed = _names(marks, plane)
    if unnamed:
        notes.append(f"{unnamed} without room for a name: point at a mark to read it.")
    parts = [
        _axes(plane, what),
        *_frontier_line(marks, plane),
        group([_interval(mark, plane) for mark in marks]),
        group([_point(mark, plane, names.get(mark.row.entrant.name, ())) for mark in marks]),
        *(words(_LEFT, _BOTTOM + 58 + place * LINE, line, "label") for place, line in enumerate(notes)),
    ]
    return drawing(
        f"scatter-{over}",
        f"Success against {what}",
        f"One mark an agent, with the 95 % interval of its success; up and left is better. "
        f"On the frontier are {len(best)} of {len(marks)} agents: nobody else costs no more and succeeds no less.",
        (_WIDTH, _BOTTOM + 58 + len(notes) * LINE),
        parts,
    )


def _marks(board: Board, over: Over) -> list[_Mark]:
    found: list[tuple[Row, Estimate, float, float]] = []
    for row in board.rows:
        estimate = success_in(row)
        paid = row.median_s if over == "seconds" else row.mean_usd if board.cost == "USD" else row.mean_tokens
        if estimate is not None and estimate.value is not None and paid is not None and 0 <= paid < inf:
            found.append((row, estimate, estimate.value, paid))
    best = (
        frontier({row.entrant.name: (paid, won) for row, _, won, paid in found})
        if over == "seconds"
        else {row.entrant.name for row, _, _, _ in found if row.on_frontier}
    )
    return [
        _Mark(row, estimate, won, paid, row.entrant.name in best)
        for row, estimate, won, paid in sorted(found, key=lambda one: (one[3], -one[2], one[0].entrant.name))
    ]


def _plane(marks: Sequence[_Mark], unit: str) -> _Plane:
    free = any(mark.paid == 0 for mark in marks)
    start = _LEFT + (60 if free else 0)
    across = log_axis([mark.paid for mark in marks if mark.paid > 0], start, _RIGHT)
    return _Plane(across, share_axis(_BOTTOM - 10, _TOP), unit, _LEFT + 20 if free else None)


def _axes(plane: _Plane, what: str) -> Markup:
    parts = [rule(_LEFT, _BOTTOM, _RIGHT, _BOTTOM, "axis"), rule(_LEFT, _TOP - 8, _LEFT, _BOTTOM, "axis")]
    for value in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = plane.up.at(value)
        parts += [
            rule(_LEFT, y, _RIGHT, y, "tick"),
            words(_LEFT - 8, y + 4, share(value), anchor="end"),
        ]
    places = [(plane.across.at(value), short(value, plane.unit)) for value in plane.across.ticks()]
    if plane.zero is not None:
        places.append((plane.zero, "0"))
    for x, text in places:
        parts += [rule(x, _BOTTOM, x, _BOTTOM + 5, "axis"), words(x, _BOTTOM + 19, text, anchor="middle")]
    parts.append(words((_LEFT + _RIGHT) / 2, _BOTTOM + 37, f"{what} (log)", "label title", anchor="middle"))
    parts.append(words(4, _TOP - 24, "success", "label title"))
    return group(parts)


def _frontier_line(marks: Sequence[_Mark], plane: _Plane) -> list[Markup]:
    """Up to a cost, the best success that it buys."""
    places = [plane.place(mark) for mark in marks if mark.best]
    if not places:
        return []
    steps = "".join(f"H{number(x)}V{number(y)}" for _, (x, y) in pairwise(places))
    x, y = places[0]
    path = f"M{number(x)} {number(plane.up.start)}V{number(y)}{steps}H{number(_RIGHT)}"
    return [element("path", d=path, class_="line frontier")]


def _interval(mark: _Mark, plane: _Plane) -> Markup:
    low, high = mark.estimate.low, mark.estimate.high
    if low is None or high is None:
        return Markup("")
    x, _ = plane.place(mark)
    return rule(x, plane.up.at(low), x, plane.up.at(high), "interval")


def _point(mark: _Mark, plane: _Plane, label: Sequence[Markup]) -> Markup:
    x, y = plane.place(mark)
    name = mark.row.entrant.name
    title = tip(f"{clipped(name, 80)}: {told(mark.estimate)}, {amount(mark.paid, plane.unit)}")
    if mark.best:
        shape = element("path", title, d=diamond(x, y, 7), class_="point frontier", data_agent=name)
    else:
        shape = element("circle", title, cx=x, cy=y, r=5.0, class_="point", data_agent=name)
    return linked(name, [*label, shape])


def _names(marks: Sequence[_Mark], plane: _Plane) -> tuple[dict[str, list[Markup]], int]:
    """By agent. Those on the frontier choose first. How many have no place is told."""
    order = sorted(marks, key=lambda mark: not mark.best)
    texts = told_apart([mark.row.entrant.name for mark in order], _COLUMNS)
    places = [plane.place(mark) for mark in order]
    found = placed(
        [
            (x, y, width(text) * LETTER * (1.12 if mark.best else 1))  # those are bold
            for (x, y), text, mark in zip(places, texts, order, strict=True)
        ],
        [Box(x - 6, y - 6, x + 6, y + 6) for x, y in places],
        _lines(marks, plane),
        Box(_LEFT + 2, 2, _WIDTH, _BOTTOM - 1),
    )
    shown: dict[str, list[Markup]] = {}
    for box, text, mark, (x, y) in zip(found, texts, order, places, strict=True):
        if box is None:
            continue
        class_ = "label name frontier" if mark.best else "label name"
        parts = shown.setdefault(mark.row.entrant.name, [])
        if not box.top - 7 < y < box.bottom + 7:
            parts.append(rule(x, y, min(max(x, box.left), box.right), box.middle, "link"))
        parts.append(name_words((box.left, box.middle + 4), text, mark.row.entrant.name, class_))
    return shown, sum(box is None for box in found)


def _lines(marks: Sequence[_Mark], plane: _Plane) -> list[Box]:
    """The intervals and the frontier, for names to keep off."""
    boxes: list[Box] = []
    for mark in marks:
        x, _ = plane.place(mark)
        low, high = mark.estimate.low, mark.estimate.high
        if low is not None and high is not None:
            boxes.append(Box(x - 1, plane.up.at(high), x + 1, plane.up.at(low)))
    corners = [plane.place(mark) for mark in marks if mark.best]
    for (x, y), (right, _) in zip(corners, [*corners[1:], (_RIGHT, 0.0)], strict=False):
        boxes.append(Box(x, y - 1, right, y + 1))
    return boxes


def _left_out(names: Sequence[str], what: str) -> list[str]:
    return lines(f"Not drawn, as success or {what} is unknown:", names, 125) if names else []
