"""How much is solved within so many tokens?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from evalkit.report.board import Board
from evalkit.report.charts.axis import Axis, log_axis, share_axis
from evalkit.report.charts.linked import linked
from evalkit.report.charts.svg import LINE, drawing, element, group, name_words, number, rule, tip, words
from evalkit.report.charts.wording import clipped, lines, share, short, told_apart
from evalkit.scoring.swept_trial import SweptTrial

_WIDTH, _ACROSS, _DOWN = 212.0, 164.0, 84.0
_HEIGHT = _DOWN + 62
_PANELS = 4
_TOP = 26.0
_COLUMNS = 26
_KEY = "solved-within"


@dataclass(frozen=True, slots=True)
class Rise:
    """By how many tokens which share of tasks is solved."""

    tokens: float
    share: float


def solved_within(board: Board) -> Markup:
    """The share of tasks solved with at most so many tokens, an agent a panel; nothing where no tokens are known.

    An agent of which the tokens of any success are unknown is named below.
    """
    by_agent: defaultdict[str, list[SweptTrial]] = defaultdict(list)
    for trial in board.swept:
        by_agent[trial.agent].append(trial)
    names = [row.entrant.name for row in board.rows if row.entrant.name in by_agent]
    curves = {name: rises(by_agent[name]) for name in names}
    known = {name: own for name, own in curves.items() if own is not None}
    amounts = [rise.tokens for own in known.values() for rise in own if rise.tokens > 0]
    if not amounts:
        return Markup("")
    across, up = log_axis(amounts, 0, _ACROSS), share_axis(_DOWN, 0)
    labels = dict(zip(known, told_apart(list(known), _COLUMNS), strict=True))
    unknown = [name for name in names if name not in known]
    notes = lines("Not drawn, as the tokens of a success are unknown:", unknown, 115) if unknown else []
    everyone = group(
        [_path(own, across, up, f"{_KEY}-{place}") for place, own in enumerate(known.values())],
        id=f"{_KEY}-all",
        class_="line other",
    )
    down = _TOP + -(-len(known) // _PANELS) * _HEIGHT
    parts = [
        element("defs", everyone),
        words(
            4, 14, "share of tasks solved within so many tokens (log); grey: the other agents", "label title"
        ),
        *(_panel(name, labels[name], known, place, (across, up)) for place, name in enumerate(known)),
        *(words(8, down + 8 + place * LINE, line) for place, line in enumerate(notes)),
    ]
    return drawing(
        _KEY,
        "Solved within so many tokens",
        "The share of tasks that are solved with at most so many generated tokens, an agent a panel, without faults: "
        "what success would be if every trial were stopped there.",
        (_WIDTH * min(_PANELS, max(len(known), 3)) + 12, down + len(notes) * LINE + 4),
        parts,
    )


def rises(trials: Sequence[SweptTrial]) -> tuple[Rise, ...] | None:
    """Where the share of tasks that are solved within so many tokens rises; each task weighs the same, its trials too.

    None where the tokens of any success are unknown.
    """
    tasks: defaultdict[str, int] = defaultdict(int)
    for trial in trials:
        tasks[trial.task] += 1
    gained: defaultdict[float, float] = defaultdict(float)
    for trial in trials:
        if trial.success:
            if trial.tokens is None:
                return None
            gained[trial.tokens] += trial.success / tasks[trial.task] / len(tasks)
    found: list[Rise] = []
    total = 0.0
    for tokens in sorted(gained):
        total += gained[tokens]
        found.append(Rise(tokens, min(1.0, total)))
    return tuple(found)


def _path(own: Sequence[Rise], across: Axis, up: Axis, key: str) -> Markup:
    """Without a class: it looks as what it is used in. Steps that are less than two units apart are one."""
    steps: dict[int, float] = {}
    for rise in own:
        steps[2 * round(across.at(rise.tokens) / 2)] = rise.share
    drawn = "".join(f"H{x}V{number(up.at(value))}" for x, value in steps.items())
    return element("path", id=key, d=f"M0 {number(up.at(0))}{drawn}H{number(_ACROSS)}")


def _panel(
    name: str, label: str, known: Mapping[str, Sequence[Rise]], place: int, axes: tuple[Axis, Axis]
) -> Markup:
    across, up = axes
    x, y = 36 + place % _PANELS * _WIDTH, _TOP + 24 + place // _PANELS * _HEIGHT
    grid = "".join(f"M0 {number(up.at(value))}H{number(_ACROSS)}" for value in (0.5, 1.0))
    parts = [
        element("path", d=grid, class_="tick"),
        *(words(-6, up.at(value) + 4, f"{value:g}", anchor="end") for value in (0.0, 1.0)),
    ]
    ticks = across.ticks()
    parts += [
        words(across.at(value), _DOWN + 15, short(value, ""), anchor="middle")
        for value in ticks[:: max(1, len(ticks) // 3)]
    ]
    cover = element("rect", tip(_said(name, known[name])), width=_ACROSS, height=_DOWN, class_="cover")
    parts += [
        rule(0, _DOWN, _ACROSS, _DOWN, "axis"),
        element("use", href=f"#{_KEY}-all"),
        element("use", href=f"#{_KEY}-{place}", class_="line"),
        linked(name, [name_words((-4, -11), label, name), cover]),
    ]
    return group(parts, transform=f"translate({number(x)} {number(y)})", data_agent=name)


def _said(name: str, own: Sequence[Rise]) -> str:
    if not own:
        return f"{clipped(name, 80)}: nothing solved"
    half = next(rise.tokens for rise in own if rise.share >= own[-1].share / 2)
    return (
        f"{clipped(name, 80)}: {share(own[-1].share)} solved in all, half of that within "
        f"{short(half, '')} tokens, the last within {short(own[-1].tokens, '')}"
    )
