"""Where is an agent strong, and where weak?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from markupsafe import Markup

from evalkit.report.board import Board
from evalkit.report.charts.axis import Axis, share_axis
from evalkit.report.charts.linked import linked
from evalkit.report.charts.success import told
from evalkit.report.charts.svg import (
    LETTER,
    LINE,
    drawing,
    element,
    group,
    name_words,
    number,
    rule,
    tip,
    words,
)
from evalkit.report.charts.wording import clipped, lines, told_apart, width
from evalkit.scoring.estimate import Estimate

GroupedBy = Literal["skill", "difficulty"]
_DIFFICULTIES = ("easy", "medium", "hard")
_LEAST = 2
"""Of one task nothing can be said about others."""
_ACROSS, _BETWEEN, _STEP, _PANELS = 136.0, 34.0, 18.0, 4
_COLUMNS = 30
_TOP, _HEAD, _FOOT = 8.0, 22.0, 34.0


def groups(board: Board, by: GroupedBy) -> Markup:
    """Success by skill or by difficulty, a group a panel and an agent a line; nothing where tasks have none.

    Groups of fewer than two tasks are named below, and an agent has no point in a group where it has fewer.
    """
    found = _estimates(board, by)
    shown = [name for name in found if found[name]]
    few = [name for name in found if not found[name]]
    agents = [row.entrant.name for row in board.rows]
    if not shown:
        return Markup("")
    notes = lines("Not drawn, with fewer than two tasks:", few, 110) if few else []
    labels = told_apart(agents, _COLUMNS)
    left = 16 + LETTER * max(map(width, labels))
    high = _HEAD + len(agents) * _STEP + _FOOT
    parts: list[Markup] = []
    for place, name in enumerate(shown):
        y = _TOP + place // _PANELS * high
        x = left + place % _PANELS * (_ACROSS + _BETWEEN)
        if place % _PANELS == 0:
            parts.append(_names(agents, labels, left, y + _HEAD))
        parts.append(_panel(name, agents, found[name], (x, y)))
    down = _TOP + -(-len(shown) // _PANELS) * high
    parts += [words(8, down + 8 + place * LINE, line) for place, line in enumerate(notes)]
    return drawing(
        f"groups-{by}",
        f"Success by {by}",
        f"A panel for each {by}, with the success of each agent at its tasks, without faults, and the 95 % interval. "
        "No point stands where an agent has fewer than two such tasks.",
        (left + min(_PANELS, max(len(shown), 3)) * (_ACROSS + _BETWEEN), down + len(notes) * LINE + 4),
        parts,
    )


def _estimates(board: Board, by: GroupedBy) -> dict[str, dict[str, Estimate]]:
    """By group and agent, where it says something; groups in their order."""
    summary = board.groups.get(by)
    found: dict[str, dict[str, Estimate]] = {}
    for cell in summary.cells if summary is not None else ():
        figure = cell.figures.get("success") or cell.figures.get("pass^1")
        if cell.arm != "clean" or cell.group is None or figure is None:
            continue
        own = found.setdefault(cell.group, {})
        if figure.estimate.value is not None and figure.estimate.n >= _LEAST:
            own[cell.agent] = figure.estimate
    return {name: found[name] for name in sorted(found, key=_order)}


def _order(group_name: str) -> tuple[int, str]:
    known = group_name in _DIFFICULTIES
    return (_DIFFICULTIES.index(group_name) if known else len(_DIFFICULTIES), group_name)


def _names(agents: Sequence[str], labels: Sequence[str], left: float, top: float) -> Markup:
    return group(
        [
            name_words((left - 10, top + (place + 0.5) * _STEP + 4), label, name, anchor="end")
            for place, (name, label) in enumerate(zip(agents, labels, strict=True))
        ]
    )


def _panel(name: str, agents: Sequence[str], own: Mapping[str, Estimate], at: tuple[float, float]) -> Markup:
    axis, bottom = share_axis(0, _ACROSS), _HEAD + len(agents) * _STEP
    tasks = max(estimate.n for estimate in own.values())
    parts = [words(0, 12, f"{clipped(name, 13)} ({tasks} tasks)", "label title", columns=26)]
    for value in (0.0, 0.5, 1.0):
        x = axis.at(value)
        parts += [
            rule(x, _HEAD - 4, x, bottom, "tick"),
            words(x, bottom + 14, f"{value:g}", anchor="middle"),
        ]
    parts.append(rule(0, bottom, _ACROSS, bottom, "axis"))
    parts += [
        linked(
            agent,
            _dot(
                f"{clipped(agent, 60)}, {clipped(name, 60)}", own[agent], axis, _HEAD + (place + 0.5) * _STEP
            ),
        )
        for place, agent in enumerate(agents)
        if agent in own
    ]
    return group(parts, transform=f"translate({number(at[0])} {number(at[1])})")


def _dot(whose: str, estimate: Estimate, axis: Axis, y: float) -> list[Markup]:
    parts: list[Markup] = []
    if estimate.low is not None and estimate.high is not None:
        parts.append(rule(axis.at(estimate.low), y, axis.at(estimate.high), y, "interval"))
    told_there = tip(f"{whose}: {told(estimate)}")
    parts.append(
        element("circle", told_there, cx=axis.at(estimate.value or 0.0), cy=y, r=4.5, class_="point")
    )
    return parts
