"""What does a comparison of two agents look like in words, as a table, and as JSON?"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from evalkit.cli.console import cell, printable, stdout
from evalkit.cli.figure_text import change_text, number_text
from evalkit.cli.summing import check_names
from evalkit.scoring.agent_match import AgentMatch
from evalkit.scoring.agent_settings import Change
from evalkit.scoring.difference import Difference
from evalkit.scoring.grouping import By
from evalkit.scoring.metric import Better
from evalkit.scoring.paired import Comparison, PairedCell, PairedFigure
from evalkit.scoring.scored_trials import Unit

MAX_ROWS = 200
WIDTH = 100
_NAMED = 5
_ARROWS: dict[Better, str] = {"higher": " ↑", "lower": " ↓", "neither": ""}


@dataclass(frozen=True, slots=True)
class Compared:
    """Two runs, compared."""

    path_a: str
    path_b: str
    by: By | None
    match: AgentMatch
    comparisons: tuple[Comparison, ...]
    changes: tuple[tuple[Change, ...], ...]
    """How the agents of each comparison differ."""
    without_scores: tuple[str, ...]
    """Runs that have none."""

    def check(self, metrics: Sequence[str]) -> None:
        """Raise UsageError for a metric that no comparison has."""
        figures = [f for own in self.comparisons for c in own.cells for f in c.figures.values()]
        check_names(metrics, sorted({name for f in figures for name in (f.name, f.quantity.name)}))


def print_comparison(compared: Compared, metrics: Sequence[str]) -> None:
    """Print what was compared in words, then a table for each arm, then what to know about it."""
    for comparison, changes in zip(compared.comparisons, compared.changes, strict=True):
        _say(_headline(compared, comparison))
        for line in _about(comparison, changes):
            _say(line)
        for own in _in_order(comparison.cells):
            _print_cell(comparison, own, metrics)
        for line in _told_apart(comparison, metrics):
            _say(line)
        stdout().print()
    for line in _legend(compared):
        _say(line)


def comparison_as_json(compared: Compared, metrics: Sequence[str]) -> dict[str, object]:
    """The comparison for programs."""
    return {
        "a": compared.path_a,
        "b": compared.path_b,
        "by": compared.by,
        "only_a": list(compared.match.only_a),
        "only_b": list(compared.match.only_b),
        "comparisons": [
            {
                "a": own.agent_a,
                "b": own.agent_b,
                "differs": {change.setting: {"a": change.a, "b": change.b} for change in changes},
                "tasks": len(own.tasks.both),
                "tasks_changed": [_unit(unit) for unit in own.tasks.changed],
                "tasks_only_a": [_unit(unit) for unit in own.tasks.only_a],
                "tasks_only_b": [_unit(unit) for unit in own.tasks.only_b],
                "tasks_by_id_only": own.tasks.by_id,
                "suites_changed": list(own.tasks.suites),
                "metrics_only_a": list(own.only_a),
                "metrics_only_b": list(own.only_b),
                "metrics_of_other_versions": list(own.other_version),
                "metrics_of_other_references": list(own.other_reference),
                "arms": [_cell_as_json(cell, metrics) for cell in own.cells],
            }
            for own, changes in zip(compared.comparisons, compared.changes, strict=True)
        ],
    }


def _cell_as_json(own: PairedCell, metrics: Sequence[str]) -> dict[str, object]:
    return {
        "arm": own.arm,
        "group": own.group,
        "tasks": own.tasks,
        "trials_a": own.trials_a,
        "trials_b": own.trials_b,
        "unscored_a": own.unscored_a,
        "unscored_b": own.unscored_b,
        "metrics": {
            name: _figure_as_json(figure) for name, figure in own.figures.items() if _wanted(figure, metrics)
        },
    }


def _figure_as_json(figure: PairedFigure) -> dict[str, object]:
    told = figure.difference
    return {
        "a": told.a,
        "b": told.b,
        "difference": told.value,
        "low": told.low,
        "high": told.high,
        "p": told.p,
        "relative": told.relative,
        "better": figure.quantity.better,
        "n": told.n,
        "higher": told.higher,
        "lower": told.lower,
        "equal": told.equal,
    }


def _headline(compared: Compared, own: Comparison) -> str:
    tasks = len({unit[:2] for unit in own.tasks.both})
    trials = [sum(c.trials_a for c in own.cells), sum(c.trials_b for c in own.cells)]
    if compared.by == "skill":
        trials = []  # a trial can be in several groups
    counted = f" ({trials[0]} and {trials[1]} trials)" if trials else ""
    line = (
        f"Compared A, {own.agent_a} of {compared.path_a}, with B, {own.agent_b} of {compared.path_b}, "
        f"on {tasks} task{'s' if tasks != 1 else ''} that both tried{counted}."
    )
    if (own.agent_a, compared.path_a) == (own.agent_b, compared.path_b):
        line += " They are the same trials, so every difference is 0."
    return line


def _about(own: Comparison, changes: Sequence[Change]) -> Iterator[str]:
    if changes:
        yield "What differs: " + "; ".join(f"{c.setting} {c.a} -> {c.b}" for c in changes)
    tasks = own.tasks
    if tasks.suites:
        yield f"The suite has changed in between: {', '.join(tasks.suites)}. Tasks are compared one by one."
    if tasks.changed:
        yield f"Left out, as the task itself has changed: {_some(tasks.changed)}"
    if tasks.only_a:
        yield f"Left out, as only A tried it: {_some(tasks.only_a)}"
    if tasks.only_b:
        yield f"Left out, as only B tried it: {_some(tasks.only_b)}"
    if any(unscored := [sum(c.unscored_a for c in own.cells), sum(c.unscored_b for c in own.cells)]):
        yield f"Unscored trials count nowhere: {unscored[0]} of A, {unscored[1]} of B"
    if tasks.by_id:
        yield f"warning: {tasks.by_id} tasks have no digest, so that only their ids say that they are the same"
    for names, run in ((own.only_a, "A"), (own.only_b, "B")):
        if names:
            yield f"Only {run} has scores of: {', '.join(names)}"
    if own.other_version:
        yield f"warning: scored by other versions of their scorers, so score both again: {', '.join(own.other_version)}"
    if own.other_reference:
        yield f"Not compared, as they rest on different reference costs: {', '.join(own.other_reference)}"


def _print_cell(comparison: Comparison, own: PairedCell, metrics: Sequence[str]) -> None:
    arms = {cell.arm for cell in comparison.cells}
    title = [f"{own.arm} arm"] if arms != {"clean"} else []
    title += [own.group] if own.group is not None else []
    shown = [f for f in own.figures.values() if _wanted(f, metrics) and _has_value(f)]
    count = f"{own.tasks} task{'s' if own.tasks != 1 else ''}" + (
        " and faults" if own.arm == "faulted" else ""
    )
    _say(f"\n{', '.join(title)}: {count}" if title else "")
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("metric", overflow="fold")
    for name in ("A", "B", "B - A [95 %]", "p", "better/worse/same", "tasks"):
        table.add_column(name, justify="right", no_wrap=True)
    for figure in shown[:MAX_ROWS]:
        table.add_row(*_row(figure))
    console = stdout()
    natural = Console(width=100_000, emoji=False).measure(table).maximum
    console.width = max(console.width, min(natural, WIDTH))
    console.print(table)
    if len(shown) > MAX_ROWS:
        _say(f"... and {len(shown) - MAX_ROWS} more metrics: --metric, or --json")


def _row(figure: PairedFigure) -> list[str]:
    told, better = figure.difference, figure.quantity.better
    star = " *" if figure.quantity.metric is None else ""
    sides = (told.a, told.b)
    return [
        cell(figure.name + star) + _ARROWS[better],
        number_text(told.a, *sides),
        number_text(told.b, *sides),
        _coloured(_difference(told), told, better),
        "-" if told.p is None else "<0.001" if told.p < 0.0005 else f"{told.p:.3f}",
        _counts(told, better),
        str(told.n),
    ]


def _difference(told: Difference) -> str:
    if not told.relative:
        return change_text(told.value, told.low, told.high)
    percents = (None if end is None else 100 * end for end in (told.value, told.low, told.high))
    return change_text(*percents, unit=" %")


def _coloured(text: str, told: Difference, better: Better) -> str:
    """In colour where 0 lies outside: green the way that is better, else red."""
    if better == "neither" or not _is_apart(told):
        return cell(text)
    return f"[{'green' if _is_up(told) == (better == 'higher') else 'red'}]{cell(text)}[/]"


def _counts(told: Difference, better: Better) -> str:
    if told.higher is None or told.lower is None:
        return "-"
    if better == "neither":
        return f"{told.higher}↑ {told.lower}↓ {told.equal}"
    first, second = (told.higher, told.lower) if better == "higher" else (told.lower, told.higher)
    return f"{first}/{second}/{told.equal}"


def _told_apart(own: Comparison, metrics: Sequence[str]) -> Iterator[str]:
    """In words, which numbers these tasks tell apart."""
    figures = [
        (own_cell, f)
        for own_cell in own.cells
        for f in own_cell.figures.values()
        if _wanted(f, metrics) and f.difference.low is not None
    ]
    apart = [(c, f) for c, f in figures if _is_apart(f.difference)]
    if not figures:
        return
    arms = len({c.arm for c in own.cells}) > 1
    words = [
        f"{f.name}{f' ({c.arm})' if arms else ''}{f' at {c.group}' if c.group else ''} "
        f"{'higher' if _is_up(f.difference) else 'lower'} in B"
        for c, f in apart
    ]
    told = ", ".join(words[: _NAMED * 4]) + (
        f" and {len(words) - _NAMED * 4} more" if len(words) > _NAMED * 4 else ""
    )
    by_chance = 0.05 * len(figures)
    yield f"Told apart by these tasks: {told or 'nothing'}."
    if apart and len(figures) > 1:
        yield f"Of {len(figures)} comparisons, about {by_chance:.2g} would look like that by chance alone."


def _legend(compared: Compared) -> Iterator[str]:
    yield "↑ more is better, ↓ less is better; the last columns count tasks (↑ ↓: at which B is higher, lower)."
    yield "In brackets: where the difference may lie for further tasks of this kind (95 %). Where 0 is within, these"
    yield "tasks cannot tell. p: how often chance alone gives such a difference. Accepting a change is for a gate."
    if any(
        f.quantity.metric is None
        for own in compared.comparisons
        for c in own.cells
        for f in c.figures.values()
    ):
        yield "* plain means: no scorer that is installed here declares it"
    for agents, run in ((compared.match.only_a, "A"), (compared.match.only_b, "B")):
        if agents:
            yield f"Not compared, as only {run} has them: {', '.join(agents)} (--map A_ID=B_ID matches others)"
    for path in dict.fromkeys(compared.without_scores):
        yield f"{path} has no scores. More than this: evalkit score {shlex.quote(path)}"


def _in_order(cells: Sequence[PairedCell]) -> list[PairedCell]:
    return sorted(cells, key=lambda own: (own.group or "", own.arm))


def _wanted(figure: PairedFigure, metrics: Sequence[str]) -> bool:
    return not metrics or figure.name in metrics or figure.quantity.name in metrics


def _has_value(figure: PairedFigure) -> bool:
    return figure.difference.a is not None or figure.difference.b is not None


def _is_apart(told: Difference) -> bool:
    return told.low is not None and told.high is not None and not told.low <= 0 <= told.high


def _is_up(told: Difference) -> bool:
    return told.value is not None and told.value > 0


def _unit(unit: Unit) -> str:
    suite, task, variant = unit
    return f"{suite}/{task}" if variant == "clean" else f"{suite}/{task} ({variant})"


def _some(units: Sequence[Unit]) -> str:
    names = [_unit(unit) for unit in units]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more} ({len(names)})"


def _say(text: str) -> None:
    stdout().print(printable(text), markup=False, soft_wrap=True)
