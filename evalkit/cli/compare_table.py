"""What does a comparison of two agents look like?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from rich.text import Text

from evalkit.cli.compare_words import say_how_to_read, say_what_differs, say_what_was_compared
from evalkit.cli.compared import Compared, is_apart, is_up, wanted_figures, why_null
from evalkit.cli.console import stdout
from evalkit.cli.prose import one_line, say, say_not_shown, say_reasons
from evalkit.cli.text_table import Column, print_columns
from evalkit.scoring.difference import Difference
from evalkit.scoring.figure_text import change_text, number_text
from evalkit.scoring.metric import Better
from evalkit.scoring.paired import Comparison, PairedCell, PairedFigure

MAX_ROWS = 200
_ARROWS: dict[Better, str] = {"higher": " ↑", "lower": " ↓", "neither": ""}


def print_comparison(compared: Compared, metrics: Sequence[str]) -> None:
    """Print in words what was compared and what differs, then a table for each arm, then how to read them."""
    for own, changes in zip(compared.comparisons, compared.changes, strict=True):
        say_what_was_compared(compared, own, changes)
        if not compared.same_trials(own):
            say_what_differs(own, metrics)
            _print_cells(own, metrics)
        stdout().print()
    say_how_to_read(compared, metrics)


def _print_cells(comparison: Comparison, metrics: Sequence[str]) -> None:
    reasons: defaultdict[str, list[str]] = defaultdict(list)
    absent: list[str] = []
    for own in sorted(comparison.cells, key=lambda own: (own.group or "", own.arm)):
        shown: list[PairedFigure] = []
        for figure in wanted_figures(own, metrics):
            reason = why_null(own, figure)
            nothing = figure.difference.a is None and figure.difference.b is None
            if reason is not None:
                (absent if nothing and not metrics else reasons[reason]).append(figure.name)
            if metrics or not nothing:
                shown.append(figure)
        say("")
        if title := _title(comparison, own):
            say(title)
        _print_table(shown[:MAX_ROWS])
        if len(shown) > MAX_ROWS:
            say(f"... and {len(shown) - MAX_ROWS} more metrics: --metric, or --json")
    if reasons or absent:
        say("")
    say_reasons("- is no value, and never counted as 0:", reasons)
    say_not_shown("Not shown where neither has a value", absent)


def _title(comparison: Comparison, own: PairedCell) -> str:
    arms = {cell.arm for cell in comparison.cells}
    title = [f"{own.arm} arm"] if arms != {"clean"} else []
    title += [own.group] if own.group is not None else []
    faults = " under faults" if own.arm == "faulted" else ""
    return f"{', '.join(title)}: {own.tasks} task{'s' if own.tasks != 1 else ''}{faults}" if title else ""


def _print_table(figures: Sequence[PairedFigure]) -> None:
    names = [
        Text(one_line(f.name) + ("" if f.quantity.metric else " *") + _ARROWS[f.quantity.better])
        for f in figures
    ]
    numbers = [
        Column("A", [Text(number_text(f.difference.a, f.difference.a, f.difference.b)) for f in figures]),
        Column("B", [Text(number_text(f.difference.b, f.difference.a, f.difference.b)) for f in figures]),
        Column("B - A [95 %]", [_difference(f.difference, f.quantity.better) for f in figures]),
        Column("n", [Text(str(f.difference.n)) for f in figures]),
    ]
    counts = Column("better/\nworse/same", [Text(_counts(f.difference, f.quantity.better)) for f in figures])
    chance = Column("p", [Text(_p(f.difference.p)) for f in figures])
    print_columns(stdout(), "metric", names, [numbers, [counts], [chance]])


def _difference(told: Difference, better: Better) -> Text:
    """In colour where 0 lies outside: green the way that is better, else red."""
    if told.relative:
        text = change_text(
            *(None if end is None else 100 * end for end in (told.value, told.low, told.high)), unit=" %"
        )
    else:
        text = change_text(told.value, told.low, told.high)
    if better == "neither" or not is_apart(told):
        return Text(text)
    return Text(text, style="green" if is_up(told) == (better == "higher") else "red")


def _counts(told: Difference, better: Better) -> str:
    if told.higher is None or told.lower is None:
        return "-"
    if better == "neither":
        return f"{told.higher}↑ {told.lower}↓ {told.equal}"
    first, second = (told.higher, told.lower) if better == "higher" else (told.lower, told.higher)
    return f"{first}/{second}/{told.equal}"


def _p(p: float | None) -> str:
    if p is None:
        return "-"
    return "<0.001" if p < 0.0005 else f"{p:.3f}"
