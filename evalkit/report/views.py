"""Which views does a page have, beside the table?"""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup

from evalkit.report.board import Board
from evalkit.report.charts.absent import no_budgets, no_cost, no_groups, no_recovery, no_tasks
from evalkit.report.charts.budgets import budgets
from evalkit.report.charts.groups import groups
from evalkit.report.charts.heatmap import heatmap
from evalkit.report.charts.recovery import recovery
from evalkit.report.charts.retention import retention
from evalkit.report.charts.scatter import scatter
from evalkit.report.charts.solved_within import solved_within
from evalkit.report.charts.tampering import tampering
from evalkit.report.page import View
from evalkit.report.shown_text import fact
from evalkit.report.trajectories import Trajectories
from evalkit.scoring.routed import routed
from evalkit.scoring.routing_lines import routing_lines
from evalkit.scoring.sweep import sweeps


def chart_views(board: Board) -> tuple[View, ...]:
    """Those that are drawn; each says why where there is nothing to draw."""
    kept, put_right = retention(board), recovery(board)
    cost = "price" if board.cost == "USD" else "tokens"
    return (
        View(
            "cost",
            "Cost",
            _view(
                f"Success against {cost} and against time, all without faults. Bars: where success may lie for "
                "further tasks (95 %). "
                "On the frontier nobody else succeeds as often for less.",
                scatter(board),
                scatter(board, over="seconds"),
                nothing=no_cost(board),
            ),
        ),
        View(
            "budgets",
            "Budgets",
            _view(
                "What thinking buys: success over the tokens that trials really took, without faults.",
                budgets(board),
                solved_within(board),
                nothing=no_budgets(board),
            )
            + _advice(board),
        ),
        View(
            "tasks",
            "Tasks",
            _view(
                "How often each agent passed each task without faults, the easiest first.",
                heatmap(board),
                nothing=no_tasks(board),
            ),
        ),
        View(
            "recovery",
            "Recovery",
            _view(
                _recovery_about(kept, put_right),
                kept,
                put_right,
                nothing=no_recovery(board),
            ),
        ),
        View(
            "groups",
            "Groups",
            _view(
                "Success by skill and by difficulty, where at least two tasks tell.",
                groups(board, by="skill"),
                groups(board, by="difficulty"),
                nothing=no_groups(board),
            ),
        ),
        *_tampering(board),
    )


def _advice(board: Board) -> Markup:
    """What is enough for which tasks, where some agent ran at several levels of thinking."""
    lines = [fact(line) for line in routing_lines(routed(board.swept))] if sweeps(board.swept) else []
    if not lines:
        return Markup("")
    items = Markup("").join(Markup("<li>{}</li>").format(line) for line in lines)
    about = "What is enough, the cheapest that cannot be told from the best, without faults:"
    return Markup('<p class="about">{}</p><ul class="advice">{}</ul>').format(about, items)


def _tampering(board: Board) -> tuple[View, ...]:
    """There only where a scorer has looked for it."""
    drawn = tampering(board)
    about = (
        "Evidence that agents tampered with what judged them, by kind, in all trials. Confirmed evidence makes a trial "
        "no success; what is only suspected is for a reader to judge. Numbers lead to trials, and those to the steps."
    )
    return (View("tampering", "Tampering", _view(about, drawn, nothing="")),) if drawn else ()


def _recovery_about(kept: Markup, put_right: Markup) -> str:
    """Of what is drawn, and no more."""
    parts = [
        *(["success with and without injected faults"] if kept else []),
        *(["how long failures took to be put right"] if put_right else []),
    ]
    told = ", and ".join(parts) or "success under faults, and how soon failures are put right"
    return f"{told[:1].upper()}{told[1:]}."


def _view(about: str, *charts: Markup | str, nothing: str) -> Markup:
    drawn = [chart for chart in charts if chart]
    body = Markup("").join(_boxes(drawn)) if drawn else Markup("<p>{}</p>").format(nothing)
    return Markup("<p class=about>{}</p>{}").format(about, body)


def _boxes(charts: list[Markup | str]) -> Iterator[Markup]:
    for chart in charts:
        yield Markup('<div class="scroll box" tabindex="0" role="group">{}</div>').format(chart)


def trial_views(found: Trajectories) -> tuple[View, ...]:
    """The list of all trials, and one of them step by step; both are drawn by the script."""
    left = ", ".join(f"{count:,} {note}" for note, count in found.left_out.items() if count)
    lost = f"; of {found.lost:,} the steps are missing in the record" if found.lost else ""
    told = f"Of {found.trials:,} trials {found.with_steps:,} are here with every step{lost}" + (
        f"; left out to keep the file small: {left}. All are in a folder: evalkit report RUN --out DIR"
        if left
        else ""
    )
    drawn = Markup(
        '<div class="drawn"></div><noscript><p>This view needs scripts; the table does not.</p></noscript>'
    )
    return (
        View("trials", "Trials", Markup('<p class="about">{}.</p>{}').format(told, drawn)),
        View("trial", "Trial", drawn, in_menu=False),
    )
