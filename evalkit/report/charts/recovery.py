"""How soon is put right what went wrong?"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from evalkit.measures.waited import Waited, parse
from evalkit.report.board import Board
from evalkit.report.charts.axis import Axis, share_axis, time_axis
from evalkit.report.charts.linked import linked
from evalkit.report.charts.svg import LINE, drawing, element, group, name_words, number, rule, tip, words
from evalkit.report.charts.wording import clipped, lines, share, short, told_apart
from evalkit.scoring.arm import Arm, arm_of
from evalkit.stats.survival_curve import Fall, survival_curve

Taken = Literal["steps", "tokens", "seconds"]
_SCORER = "recovery_time"
_WIDTH, _ACROSS, _DOWN = 212.0, 164.0, 84.0
_HEIGHT = _DOWN + 76
_BEYOND = 1.25
_WHOLE = frozenset({"steps", "tokens"})
"""What is taken in whole numbers."""
_PANELS = 4
_TOP = 26.0
_COLUMNS = 26


@dataclass(frozen=True, slots=True)
class _Curve:
    name: str
    label: str
    """The name as it is shown."""
    taken: Taken
    arm: Arm
    times: tuple[Waited, ...]
    falls: tuple[Fall, ...]

    @property
    def median(self) -> float | None:
        return next((fall.time for fall in self.falls if fall.share <= 0.5 + 1e-12), None)


def recovery(board: Board, taken: Taken = "steps") -> Markup:
    """The share of failures put right by then, an agent a panel, by Kaplan and Meier; nothing where nothing failed.

    Of the trials under faults, where any of them tell a time, else of those without. Short strokes mark failures that
    were not put right by then and no longer watched.
    """
    arm: Arm = "faulted"
    times = recovery_times(board, taken, arm)
    if not times:
        arm = "clean"
        times = recovery_times(board, taken, arm)
    names = [row.entrant.name for row in board.rows if row.entrant.name in times]
    curves = [
        _Curve(name, label, taken, arm, times[name], _falls(times[name]))
        for name, label in zip(names, told_apart(names, _COLUMNS), strict=True)
    ]
    if not curves:
        return Markup("")
    silent = [row.entrant.name for row in board.rows if row.entrant.name not in times]
    notes = lines("Nothing to put right, or no times known:", silent, 115) if silent else []
    end, longest = _ends(curves)
    if end < longest:
        told = f"Drawn to {short(end, '')} {taken}: later nothing was put right"
        notes.append(f"{told}, though it was watched to {short(longest, '')}.")
    across, up = time_axis(end, 0, _ACROSS), share_axis(_DOWN, 0)
    key = f"recovery-{taken}"
    everyone = group(
        [_path(curve, across, up, f"{key}-{place}") for place, curve in enumerate(curves)],
        id=f"{key}-all",
        class_="line other",
    )
    down = _TOP + -(-len(curves) // _PANELS) * _HEIGHT
    parts = [
        element("defs", everyone),
        words(
            4,
            14,
            f"share put right, over {taken}; | no longer watched; grey: the other agents",
            "label title",
        ),
        *(_panel(curve, place, (across, up), key) for place, curve in enumerate(curves)),
        *(words(8, down + 8 + place * LINE, line) for place, line in enumerate(notes)),
    ]
    where = "under faults" if arm == "faulted" else "without faults"
    return drawing(
        key,
        f"Failures put right over {taken}, {where}",
        f"The share of failures that were put right by then (Kaplan and Meier), an agent a panel, {where}. "
        "Short strokes mark failures that were not put right by then and no longer watched.",
        (_WIDTH * min(_PANELS, max(len(curves), 3)) + 12, down + len(notes) * LINE + 4),
        parts,
    )


def _ends(curves: Sequence[_Curve]) -> tuple[float, float]:
    """How far curves are drawn, which is somewhat beyond the last failure that was put right, and how far they go."""
    longest = max(time.amount for curve in curves for time in curve.times)
    last = max((time.amount for curve in curves for time in curve.times if time.happened), default=0.0)
    beyond = max(last * _BEYOND, last + 1) if curves[0].taken in _WHOLE else last * _BEYOND
    return (min(longest, beyond) if last else longest), longest


def recovery_times(board: Board, taken: Taken, arm: Arm) -> dict[str, tuple[Waited, ...]]:
    """By agent, what its trials in an arm say of how long failures waited, sorted; who says nothing is not there."""
    column = board.scored.columns.get((_SCORER, f"{taken}_to_recover"))
    if column is None or column.labels is None:
        return {}
    found: defaultdict[str, list[Waited]] = defaultdict(list)
    for trial, label in zip(board.scored.trials, column.labels, strict=True):
        if label and arm_of(trial.variant) == arm:
            found[trial.agent] += parse(label)
    return {
        name: tuple(sorted(own, key=lambda one: (one.amount, not one.happened)))
        for name, own in found.items()
    }


def _falls(times: Sequence[Waited]) -> tuple[Fall, ...]:
    return survival_curve(
        [time.amount for time in times if time.happened], [time.amount for time in times if not time.happened]
    )


def _path(curve: _Curve, across: Axis, up: Axis, key: str) -> Markup:
    """Without a class: it looks as what it is used in."""
    steps = "".join(
        f"H{number(across.at(fall.time))}V{number(up.at(1 - fall.share))}" for fall in curve.falls
    )
    end = number(across.at(curve.times[-1].amount))
    return element("path", id=key, d=f"M0 {number(up.at(0))}{steps}H{end}")


def _unseen(curve: _Curve, across: Axis, up: Axis) -> Markup:
    """A stroke on the curve for each time at which at least one was no longer watched."""
    at = [fall.time for fall in curve.falls]
    strokes: dict[str, None] = {}
    for amount in sorted({time.amount for time in curve.times if not time.happened}):
        if amount > across.high:
            break
        before = bisect_right(at, amount)
        left = curve.falls[before - 1].share if before else 1.0
        strokes[f"M{number(across.at(amount))} {number(up.at(1 - left) - 4)}v8"] = None
    return element("path", d="".join(strokes), class_="censored") if strokes else Markup("")


def _panel(curve: _Curve, place: int, axes: tuple[Axis, Axis], key: str) -> Markup:
    across, up = axes
    x, y = 36 + place % _PANELS * _WIDTH, _TOP + 24 + place // _PANELS * _HEIGHT
    seen = sum(time.happened for time in curve.times)
    parts: list[Markup] = []
    for value in (0.0, 0.5, 1.0):
        parts += [
            rule(0, up.at(value), _ACROSS, up.at(value), "tick"),
            words(-6, up.at(value) + 4, f"{value:g}", anchor="end"),
        ]
    parts += [
        words(across.at(value), _DOWN + 15, short(value, ""), anchor="middle")
        for value in across.ticks()
        if value.is_integer() or curve.taken not in _WHOLE
    ]
    half = "not by half" if curve.median is None else f"median {short(curve.median, '')}"
    told = f"{seen} of {len(curve.times)} failures put right, {half}"
    all_told = f"{clipped(curve.name, 80)}: {told}; at the end {share(_end(curve))}"
    cover = element("rect", tip(all_told), width=_ACROSS, height=_DOWN, class_="cover")
    parts += [
        words(
            _ACROSS / 2, _DOWN + 29, f"{curve.taken}; {seen} of {len(curve.times)} put right", anchor="middle"
        ),
        rule(0, _DOWN, _ACROSS, _DOWN, "axis"),
        element("use", href=f"#{key}-all"),
        element("use", href=f"#{key}-{place}", class_="line"),
        _unseen(curve, across, up),
        linked(curve.name, [name_words((-4, -11), curve.label, curve.name), cover], curve.arm),
    ]
    return group(parts, transform=f"translate({number(x)} {number(y)})", data_agent=curve.name)


def _end(curve: _Curve) -> float:
    return 1 - curve.falls[-1].share if curve.falls else 0.0
