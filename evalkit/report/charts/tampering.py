"""Who tampered with what judged it, and how?"""

from __future__ import annotations

from collections import Counter, defaultdict
from urllib.parse import quote

import numpy as np
from markupsafe import Markup

from evalkit.report.board import TAMPERED, Board
from evalkit.report.listed_trial import listed_trials
from evalkit.report.shown_text import name
from evalkit.scoring.tampered import codes_by_trial
from evalkit.stats.no_event import upper_share
from evalkit.trajectory.finding import CODES

_NO_CODE = "tampering"
_KINDS: dict[str, str] = {**CODES}


def tampering(board: Board) -> Markup:
    """By agent, in how many trials each kind is confirmed, and in how many it is only suspected; below it how often
    there may be some where none is confirmed. Nothing where no scorer looked for it.
    """
    if not any(metric == TAMPERED for _, metric in board.scored.columns):
        return Markup("")
    confirmed, suspected = _counts(board)
    codes = [
        code
        for code in (*_KINDS, _NO_CODE)
        if any(code in (*confirmed[row.entrant.name], *suspected[row.entrant.name]) for row in board.rows)
    ]
    notes = Markup("").join(
        Markup("<p class=note>{}</p>").format(text)
        for row in board.rows
        if (text := no_event_text(board, row.entrant.name)) is not None
    )
    if not codes:
        return notes
    heads = Markup("").join(
        Markup('<th scope="col" class="num" title="{}">{}</th>').format(_KINDS.get(code, ""), code)
        for code in codes
    )
    lines = Markup("").join(
        Markup('<tr><th scope="row">{}</th>{}</tr>').format(
            row.entrant.name,
            Markup("").join(
                _cell(row.entrant.name, confirmed[row.entrant.name][code], suspected[row.entrant.name][code])
                for code in codes
            ),
        )
        for row in board.rows
    )
    caption = "Trials by kind of tampering: confirmed, and in brackets only suspected"
    kinds = Markup("").join(
        Markup("<dt>{}</dt><dd>{}</dd>").format(code, _KINDS.get(code, "of a kind that is not told"))
        for code in codes
    )
    return (
        Markup(
            '<table class="kinds"><caption>{}</caption><thead><tr><th scope="col">agent</th>{}</tr></thead>'
        )
        + Markup("<tbody>{}</tbody></table><dl>{}</dl>{}")
    ).format(caption, heads, lines, kinds, notes)


def no_event_text(board: Board, agent: str) -> str | None:
    """Of an agent without confirmed tampering, in up to which share of further tasks there may be some."""
    columns = [column.values for (_, metric), column in board.scored.columns.items() if metric == TAMPERED]
    places = [place for place, trial in enumerate(board.scored.trials) if trial.agent == agent]
    known = [place for place in places if any(not np.isnan(values[place]) for values in columns)]
    if any(values[place] > 0 for values in columns for place in known):
        return None
    tasks = {board.scored.trials[place].unit[:2] for place in known}
    upper = upper_share(len(tasks))
    if upper is None:
        return None
    return (
        f"{agent}: no event on {len(tasks)} tasks; up to {100 * upper:.2g} % of further tasks may have one."
    )


def _counts(board: Board) -> tuple[dict[str, Counter[str]], dict[str, Counter[str]]]:
    confirmed: dict[str, Counter[str]] = defaultdict(Counter)
    suspected: dict[str, Counter[str]] = defaultdict(Counter)
    told = [codes_by_trial(run) for _, run in board.runs]
    for one in listed_trials(board.runs, board.scored):
        if (codes := told[one.run].get(one.trial_id)) is not None:
            confirmed[one.light.agent].update(codes.confirmed)
            suspected[one.light.agent].update(codes.suspected)
    return confirmed, suspected


def _cell(agent: str, confirmed: int, suspected: int) -> Markup:
    beside = f" ({suspected})" if suspected else ""
    if not confirmed:
        return Markup('<td class="num">{}</td>').format(f"–{beside}" if beside else "–")
    link = f"#view=trials&agent={quote(name(agent), safe='')}&note=tampering"
    return Markup('<td class="num"><a href="{}">{}</a>{}</td>').format(link, confirmed, beside)
