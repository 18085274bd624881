"""How does success grow with thinking, and where is it enough?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from evalkit.report.board import Board
from evalkit.report.charts.axis import Axis, log_axis, share_axis
from evalkit.report.charts.linked import linked
from evalkit.report.charts.placing import Box, placed
from evalkit.report.charts.success import told
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
from evalkit.report.charts.wording import clipped, lines, share, short, told_apart, width
from evalkit.report.shown_text import fact
from evalkit.scoring.sweep import SweptLevel, ThinkingSweep, sweeps

_WIDTH, _ACROSS, _DOWN = 300.0, 250.0, 130.0
_HEIGHT = _DOWN + 72
_PANELS = 3
_TOP = 26.0
_LEFT = 40.0
_COLUMNS, _LEVEL_COLUMNS = 38, 14


@dataclass(frozen=True, slots=True)
class _Plane:
    across: Axis
    up: Axis

    def place(self, level: SweptLevel) -> tuple[float, float]:
        return self.across.at(level.result.tokens), self.up.at(level.result.success)


def budgets(board: Board) -> Markup:
    """Success over the tokens that trials took, a panel for each agent at several levels of thinking; nothing without.

    The sufficient budget is a diamond. What a sweep leaves out is told below.
    """
    found = sweeps(board.swept)
    if not found:
        return Markup("")
    across = log_axis(
        [level.result.tokens for own in found for level in own.levels if level.result.tokens > 0], 0, _ACROSS
    )
    plane = _Plane(across, share_axis(_DOWN, 0))
    labels = told_apart([own.family for own in found], _COLUMNS)
    notes = [line for own, label in zip(found, labels, strict=True) for line in _notes(own, label)]
    down = _TOP + -(-len(found) // _PANELS) * _HEIGHT
    columns = min(_PANELS, max(len(found), 2))
    parts = [
        words(
            4,
            14,
            "success, over generated tokens of a trial (log); ◆ the sufficient budget b*",
            "label title",
        ),
        *(
            _panel(own, label, place, plane)
            for place, (own, label) in enumerate(zip(found, labels, strict=True))
        ),
        *(words(8, down + 8 + place * LINE, line) for place, line in enumerate(notes)),
    ]
    return drawing(
        "budgets",
        "Success over thinking budgets",
        "A panel for each agent that ran at several levels of thinking, with the success of each level over the tokens "
        "that its trials took, the 95 % interval, and the sufficient budget b*: the smallest level that is at most 5 "
        "points below the best and not significantly below it.",
        (_LEFT + columns * _WIDTH, down + len(notes) * LINE + 4),
        parts,
    )


def _panel(own: ThinkingSweep, label: str, place: int, plane: _Plane) -> Markup:
    x, y = _LEFT + place % _PANELS * _WIDTH, _TOP + 30 + place // _PANELS * _HEIGHT
    parts = [
        name_words((-4, -17), f"{label} ({len(own.curve.tasks)} tasks)", own.family, "label title"),
        rule(0, _DOWN, _ACROSS, _DOWN, "axis"),
    ]
    for value in (0.0, 0.5, 1.0):
        parts += [
            rule(0, plane.up.at(value), _ACROSS, plane.up.at(value), "tick"),
            words(-6, plane.up.at(value) + 4, f"{value:g}", anchor="end"),
        ]
    for value in plane.across.ticks()[:: max(1, len(plane.across.ticks()) // 5)]:
        at = plane.across.at(value)
        parts += [
            rule(at, _DOWN, at, _DOWN + 4, "axis"),
            words(at, _DOWN + 17, short(value, ""), anchor="middle"),
        ]
    corners = [plane.place(level) for level in own.levels]
    path = "L".join(f"{number(left)} {number(top)}" for left, top in corners)
    parts.append(element("path", d=f"M{path}", class_="line"))
    parts += [_interval(level, plane) for level in own.levels]
    parts += [
        linked(level.agent, [*names, _point(level, plane, is_enough=level is own.enough)])
        for level, names in zip(own.levels, _names(own, plane), strict=True)
    ]
    return group(parts, transform=f"translate({number(x)} {number(y)})")


def _interval(level: SweptLevel, plane: _Plane) -> Markup:
    low, high = level.estimate.low, level.estimate.high
    if low is None or high is None:
        return Markup("")
    x, _ = plane.place(level)
    return rule(x, plane.up.at(low), x, plane.up.at(high), "interval")


def _point(level: SweptLevel, plane: _Plane, *, is_enough: bool) -> Markup:
    x, y = plane.place(level)
    title = tip(
        f"{clipped(level.agent, 80)}{', b*' if is_enough else ''}: {told(level.estimate)}, "
        f"{short(level.result.tokens, '')} tokens"
    )
    if is_enough:
        return element("path", title, d=diamond(x, y, 7), class_="point frontier", data_agent=level.agent)
    return element("circle", title, cx=x, cy=y, r=4.5, class_="point", data_agent=level.agent)


def _names(own: ThinkingSweep, plane: _Plane) -> list[list[Markup]]:
    """Each level's name beside its point, where there is room."""
    texts = [clipped(str(fact(level.name)), _LEVEL_COLUMNS) for level in own.levels]
    places = [plane.place(level) for level in own.levels]
    found = placed(
        [(x, y, width(text) * LETTER) for (x, y), text in zip(places, texts, strict=True)],
        [Box(x - 6, y - 6, x + 6, y + 6) for x, y in places],
        [
            Box(x - 1, plane.up.at(level.estimate.high), x + 1, plane.up.at(level.estimate.low))
            for (x, _), level in zip(places, own.levels, strict=True)
            if level.estimate.low is not None and level.estimate.high is not None
        ],
        Box(-6, -14, _ACROSS + 40, _DOWN - 1),
    )
    return [
        [] if box is None else [words(box.left, box.middle + 4, text, "label name")]
        for box, text in zip(found, texts, strict=True)
    ]


def _notes(own: ThinkingSweep, label: str) -> Sequence[str]:
    notes: list[str] = []
    standing = None if own.enough is None else own.enough.result.standing
    if standing is None:
        notes.append(f"{label}: nothing is solved at any level, so that none is known to be sufficient.")
    elif own.curve.sufficient != own.curve.best and not standing.non_inferior:
        notes.append(
            f"{label}: b* is not shown to be at most {100 * own.curve.margin:.0f} points below the best; it may be "
            f"{share(-standing.lowest)} below."
        )
    if own.curve.inverse:
        notes.append(
            f"{label}: the largest level is significantly below the best: more thinking makes it worse."
        )
    if own.tasks_left_out:
        notes.append(f"{label}: {own.tasks_left_out} tasks are not known at every level, and not drawn.")
    if own.left_out:
        notes += lines(f"{label}: not drawn, as tokens are unknown:", own.left_out, 110)
    return notes
