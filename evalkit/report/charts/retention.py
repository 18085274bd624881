"""How much of its success does an agent keep where faults are?"""

from __future__ import annotations

from markupsafe import Markup

from evalkit.report.board import Board, Row
from evalkit.report.charts.axis import Axis, share_axis
from evalkit.report.charts.linked import linked
from evalkit.report.charts.success import success_in, told
from evalkit.report.charts.svg import (
    LETTER,
    LINE,
    diamond,
    drawing,
    element,
    group,
    name_words,
    rule,
    tip,
    words,
)
from evalkit.report.charts.wording import clipped, lines, share, told_apart, width
from evalkit.scoring.estimate import Estimate

_TOP, _STEP, _ACROSS, _COLUMNS = 62.0, 26.0, 480.0, 34


def retention(board: Board) -> Markup:
    """Success without faults and under them, an agent a line, who keeps most of it first; nothing without faults."""
    rows = sorted((row for row in board.rows if _both(row) is not None), key=_order)
    if not rows:
        return Markup("")
    drawn = {row.entrant.name for row in rows}
    missing = [row.entrant.name for row in board.rows if row.entrant.name not in drawn]
    notes = lines("Not drawn, without trials in both arms:", missing, 110) if missing else []
    names = told_apart([row.entrant.name for row in rows], _COLUMNS)
    left = 16 + LETTER * max(map(width, names))
    axis = share_axis(left, left + _ACROSS)
    bottom = _TOP + len(rows) * _STEP
    parts = [
        _legend(left),
        _axis(axis, bottom),
        *(
            _line(row, shown, axis, _TOP + (place + 0.5) * _STEP)
            for place, (row, shown) in enumerate(zip(rows, names, strict=True))
        ),
        *(words(8, bottom + 44 + place * LINE, line) for place, line in enumerate(notes)),
    ]
    return drawing(
        "retention",
        "Success without faults and under faults",
        "An agent a line, with both shares and their 95 % intervals, and what is kept: success under faults over "
        "success without, at the same tasks. Who keeps most comes first.",
        (left + _ACROSS + 100, bottom + 36 + len(notes) * LINE),
        parts,
    )


def kept(row: Row) -> float | None:
    """Success under faults over success without, as it is scored; None where that is not known."""
    found = row.cells.get("retention.faulted")
    return None if found is None else found.value


def _both(row: Row) -> tuple[Estimate, Estimate] | None:
    clean, faulted = success_in(row, "clean"), success_in(row, "faulted")
    return None if clean is None or faulted is None else (clean, faulted)


def _order(row: Row) -> tuple[bool, float, str]:
    found = kept(row)
    return found is None, -(found or 0.0), row.entrant.name


def _legend(left: float) -> Markup:
    return group(
        [
            element("circle", cx=left + 6, cy=12.0, r=5.0, class_="point"),
            words(left + 18, 16, "without faults"),
            element("path", d=diamond(left + 146, 12, 6), class_="point faulted"),
            words(left + 158, 16, "under faults"),
        ],
        class_="legend",
    )


def _axis(axis: Axis, bottom: float) -> Markup:
    parts = [rule(axis.start, bottom, axis.end, bottom, "axis")]
    for value in (0.0, 0.25, 0.5, 0.75, 1.0):
        x = axis.at(value)
        parts += [
            rule(x, _TOP - 6, x, bottom, "tick"),
            words(x, bottom + 18, share(value), anchor="middle"),
        ]
    parts += [
        words(axis.start, _TOP - 16, "success", "label title"),
        words(axis.end + 24, _TOP - 16, "kept", "label title"),
    ]
    return group(parts)


def _line(row: Row, label: str, axis: Axis, y: float) -> Markup:
    both = _both(row)
    if both is None or both[0].value is None or both[1].value is None:
        return Markup("")
    name, found = row.entrant.name, kept(row)
    at = [axis.at(own.value or 0.0) for own in both]
    parts = [linked(name, [name_words((axis.start - 10, y + 4), label, name, "label", "end")], None)]
    for own, aside, class_ in zip(both, (-4, 4), ("interval", "interval faulted"), strict=True):
        if own.low is not None and own.high is not None:
            parts.append(rule(axis.at(own.low), y + aside, axis.at(own.high), y + aside, class_))
    shown = clipped(name, 80)
    clean = tip(f"{shown}, without faults: {told(both[0])}")
    faulted = tip(f"{shown}, under faults: {told(both[1])}")
    parts += [
        rule(min(at), y, max(at), y, "link"),
        linked(name, [element("circle", clean, cx=at[0], cy=y - 4, r=5.0, class_="point")]),
        linked(
            name, [element("path", faulted, d=diamond(at[1], y + 4, 6), class_="point faulted")], "faulted"
        ),
        words(axis.end + 24, y + 4, "unknown" if found is None else f"{found:.2f}"),
    ]
    return group(parts, class_="row", data_agent=name)
