"""How does a board become one file that opens from disk?

Trajectories and names are hostile input. Everything is escaped by Jinja2; the one style and the one script are allowed
by their hashes and nothing else is, and data lie in blocks that no browser runs.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from markupsafe import Markup

from evalkit.project import Project
from evalkit.report.board import TAMPERED, Board, Row, success
from evalkit.report.charts.interval_bar import interval_bar
from evalkit.report.heading import Heading
from evalkit.report.shown_text import name
from evalkit.report.template import Templates
from evalkit.scoring.estimate import Estimate
from evalkit.scoring.figure_text import interval_text, number_text
from evalkit.stats.no_event import upper_share

PAGE = "leaderboard.html.j2"
STYLES = ("style.css", "trial.css")
SCRIPTS = ("script.js", "trials.js", "trial_parts.js", "trial.js", "views.js")


@dataclass(frozen=True, slots=True)
class View:
    """One section of the page; the table's has its body in the template."""

    key: str
    label: str
    body: Markup | None = None
    in_menu: bool = True


@dataclass(frozen=True, slots=True)
class Block:
    """Data for the script: gzipped JSON in base64."""

    name: str
    data: str


@dataclass(frozen=True, slots=True)
class _Cell:
    text: str
    value: str
    tip: str
    link: str | None
    bar: Markup
    shown: bool


@dataclass(frozen=True, slots=True)
class _Line:
    name: str
    rank: str
    rank_value: str
    on_frontier: bool
    flags: int
    facts: tuple[tuple[str, str], ...]
    command: str | None
    beside: tuple[str, ...]
    cells: tuple[_Cell, ...]


@dataclass(frozen=True, slots=True)
class _Column:
    key: str
    label: str
    tip: str
    better: str
    shown: bool


def render(
    board: Board,
    project: Project,
    *,
    title: str,
    version: str,
    views: Sequence[View] = (),
    data: Mapping[str, str] | None = None,
) -> str:
    """The page. Raises ConfigError for a template of one's own that is wrong."""
    templates = Templates(project)
    own = _own_numbers(board)
    style, script = templates.together(STYLES), templates.together(SCRIPTS)
    return templates.filled(
        PAGE,
        {
            "board": board,
            "title": name(title),
            "version": version,
            "policy": _policy(style, script),
            "style": Markup(style),  # noqa: S704 - ours, or the project's own
            "script": Markup(script),  # noqa: S704
            "trials": sum(row.trials for row in board.rows),
            "unscored": sum(row.unscored for row in board.rows),
            "suites": sorted(board.suites.items()),
            "views": [View("table", "Leaderboard"), *views],
            "columns": [*map(_column, board.headings), *own],
            "rows": [_line(row, board, own) for row in board.rows],
            "run_names": [name(run_name) for run_name, _ in board.runs],
            "blocks": [Block(key, text) for key, text in (data or {}).items()],
        },
    )


def _policy(style: str, script: str) -> str:
    return "; ".join(
        (
            "default-src 'none'",
            f"style-src '{_hash(style)}'",
            f"script-src '{_hash(script)}' 'strict-dynamic'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}"


def _column(heading: Heading) -> _Column:
    return _Column(heading.key, heading.label, heading.tip, heading.better, heading.shown)


def _own_numbers(board: Board) -> tuple[_Column, ...]:
    """Columns of the trials' own numbers."""
    rows = board.rows
    priced, some_unscored = any(row.usd_per_pass for row in rows), any(row.unscored for row in rows)
    price = "Price of all trials without faults over how many passed. Unknown where any price is."
    return (
        _Column(
            "tokens",
            "output tokens",
            "Of a trial without faults, on average, thinking included.",
            "lower",
            shown=True,
        ),
        _Column("usd_per_pass", "cost per pass", price, "lower", shown=priced),
        _Column(
            "seconds",
            "median seconds",
            "Median time of the agent in a trial without faults.",
            "lower",
            shown=True,
        ),
        _Column(
            "tasks",
            "tasks",
            "How many tasks the agent tried without faults.",
            "neither",
            shown=not board.same_tasks,
        ),
        _Column(
            "unscored",
            "unscored",
            "Trials without a verdict; no number counts them.",
            "lower",
            shown=some_unscored,
        ),
        _Column("trials", "trials", "All trials, with and without faults.", "neither", shown=True),
    )


def _line(row: Row, board: Board, own: Sequence[_Column]) -> _Line:
    cells = [_cell(heading, row, board) for heading in board.headings]
    cells += [_plain(column, row, board) for column in own]
    best, worst = row.rank.best, row.rank.worst
    known = success(row) is not None
    settings = row.entrant.settings
    facts = [
        (key.replace("_", " "), value) for key, value in settings.items() if value not in ("-", "default")
    ]
    if kept := _kept(row, board):
        facts.append(("thinking honoured", kept))
    return _Line(
        name=row.entrant.name,
        rank="-" if not known else f"{best}" if best == worst else f"{best}–{worst}",
        rank_value=f"{(best + worst) / 2:g}" if known else "",
        on_frontier=row.on_frontier,
        flags=row.flags,
        facts=(("run", row.entrant.run), *facts),
        command=row.entrant.command.text,
        beside=row.entrant.command.beside,
        cells=tuple(cells),
    )


def _kept(row: Row, board: Board) -> str | None:
    """In how many trials the thinking budget was kept to; None where that is not known of any."""
    own = [trial.honoured for trial in board.swept if trial.agent == row.entrant.name]
    known = [kept for kept in own if kept is not None]
    return f"in {sum(known)} of {len(known)} trials" if known else None


def _number(row: Row, key: str) -> float | None:
    """Of the trials' own numbers."""
    return {
        "tokens": row.mean_tokens,
        "usd_per_pass": row.usd_per_pass,
        "seconds": row.median_s,
        "tasks": row.tasks,
        "unscored": row.unscored,
        "trials": row.trials,
    }[key]


def _cell(heading: Heading, row: Row, board: Board) -> _Cell:
    found = row.cells.get(heading.key)
    if found is None or found.value is None:
        why = "no value: the run is not scored" if row.entrant.run in board.unscored_runs else "no value"
        return _Cell("-", "", why, None, Markup(), heading.shown)
    column = [own.cells.get(heading.key) for own in board.rows]  # all of it have as many decimals
    text = number_text(found.value, *(own.value for own in column if own is not None))
    upper = upper_share(found.n) if heading.name == TAMPERED and not found.value else None
    bound = "" if upper is None else f"up to {100 * upper:.2g} % of further tasks may have some; "
    return _Cell(
        text=text if upper is None else f"{text} (≤\u00a0{100 * upper:.2g}\u00a0%)",
        value=repr(found.value),
        tip=f"{bound}{_interval_tip(found)}",
        link=_link(row, heading.arm),
        bar=interval_bar(found.value, found.low, found.high) if heading.unit == "share" else Markup(),
        shown=heading.shown,
    )


def _interval_tip(found: Estimate) -> str:
    told = interval_text(found.value, found.low, found.high)
    return f"{told}, of {found.n} task{'s' if found.n != 1 else ''} and {found.trials} trials"


def _plain(column: _Column, row: Row, board: Board) -> _Cell:
    value = _number(row, column.key)
    if value is None:
        return _Cell("-", "", "unknown", None, Markup(), column.shown)
    arm = None if column.key in ("trials", "unscored") else "clean"
    link = _link(row, arm, **({"status": "unscored"} if column.key == "unscored" and value else {}))
    beside = (_number(own, column.key) for own in board.rows)
    text = f"{value:,}" if isinstance(value, int) else number_text(value, *beside)
    return _Cell(text, repr(value), column.tip, link, Markup(), column.shown)


def _link(row: Row, arm: str | None, **more: str) -> str:
    """To the trials behind a number."""
    variant = {"clean": "clean", "faulted": "!clean", "twin": "twin"}.get(arm or "")
    asked = {"view": "trials", "agent": row.entrant.name, **({"variant": variant} if variant else {}), **more}
    return "#" + "&".join(f"{key}={quote(value, safe='')}" for key, value in asked.items())
