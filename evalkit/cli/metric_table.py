"""What do the metrics of a run look like as a table, and as JSON?"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.table import Table

from evalkit.cli.console import cell, printable, stdout
from evalkit.cli.figure_text import interval_text
from evalkit.scoring.arm import Arm
from evalkit.scoring.estimate import Estimate
from evalkit.scoring.summary import Cell, Summary
from evalkit.trajectory.reader import Run

MOST_COLUMNS = 4
"""More agents and arms than that are shown one agent after the other."""
MAX_ROWS = 200
_SPAN = 20


def print_metrics(run: Run, summary: Summary) -> None:
    """Print each metric that has a value, with 95 % intervals; where there are no scores, how to get them."""
    console = stdout()
    if not summary.scorers:
        line = f"This run has no scores. More than this: evalkit score {shlex.quote(run.path)}"
        console.print(printable(line), markup=False, soft_wrap=True)
    if summary.scorers or summary.by is not None:
        _print_table(summary)
    for line in _notes(run, summary):
        console.print(printable(line), markup=False, soft_wrap=True)


def metrics_as_json(cells: Sequence[Cell]) -> dict[str, object]:
    """The metrics of one agent's arms: `metrics` of the clean arm, and `faulted` and `twin` where there are such."""
    told = {cell.arm: _figures_as_json(cell) for cell in cells}
    others = {arm: told[arm] for arm in ("faulted", "twin") if arm in told}
    return {"metrics": told.get("clean", {}), **others}


def groups_as_json(cells: Sequence[Cell]) -> list[dict[str, object]]:
    """One agent's groups."""
    names = sorted({cell.group or "" for cell in cells})
    own = {name: [cell for cell in cells if cell.group == name] for name in names}
    return [
        {
            "group": name,
            "trials": sum(cell.trials for cell in own[name]),
            "unscored": sum(cell.unscored for cell in own[name]),
            **metrics_as_json(own[name]),
        }
        for name in names
    ]


def estimate_as_json(estimate: Estimate) -> dict[str, object]:
    """One number with what it rests on."""
    return {
        "value": estimate.value,
        "n": estimate.n,
        "low": estimate.low,
        "high": estimate.high,
        "trials": estimate.trials,
        "unknown": estimate.unknown,
    }


def undeclared(summary: Summary) -> list[str]:
    """Numbers whose metric no installed scorer declares, in order."""
    return [
        name
        for name in summary.names
        if any(name in cell.figures and cell.figures[name].quantity.metric is None for cell in summary.cells)
    ]


def _figures_as_json(own: Cell) -> dict[str, object]:
    figures = {name: estimate_as_json(figure.estimate) for name, figure in own.figures.items()}
    return dict(sorted(figures.items(), key=lambda item: item[0] != "pass^1"))


def _print_table(summary: Summary) -> None:
    columns = _columns(summary)
    if len(columns) <= MOST_COLUMNS:
        _print_block(summary, columns, with_agents=len({agent for agent, _ in columns}) > 1)
        return
    for agent, own in groupby(columns, key=lambda column: column[0]):
        stdout().print(f"\n{printable(agent)}", style="bold", markup=False)
        _print_block(summary, list(own), with_agents=False)


def _columns(summary: Summary) -> list[tuple[str, Arm]]:
    return list(dict.fromkeys((cell.agent, cell.arm) for cell in summary.cells))


def _print_block(summary: Summary, columns: list[tuple[str, Arm]], *, with_agents: bool) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("metric" if summary.by is None else f"metric, by {summary.by}", overflow="fold")
    arms = {arm for _, arm in _columns(summary)}
    for agent, arm in columns:
        parts = [*([_broken(agent)] if with_agents else []), *([arm] if arms != {"clean"} else [])]
        table.add_column("\n".join(parts) or "value [95 %]", justify="right", no_wrap=True)
    table.add_column("tasks", justify="right", no_wrap=True)
    lines = list(_lines(summary, columns))
    for name, estimates in lines[:MAX_ROWS]:
        table.add_row(name, *(_cell(estimate) for estimate in estimates), _tasks(estimates))
    stdout().print(table)
    if len(lines) > MAX_ROWS:
        more = (
            f"... and {len(lines) - MAX_ROWS} more lines: name metrics with --metric, or see all with --json"
        )
        stdout().print(more, markup=False)


def _lines(summary: Summary, columns: list[tuple[str, Arm]]) -> Iterator[tuple[str, list[Estimate | None]]]:
    cells = {(own.agent, own.arm, own.group): own for own in summary.cells}
    groups = sorted({own.group for own in summary.cells if own.group is not None})
    strange = set(undeclared(summary))
    for name in summary.names:
        title = cell(name + (" *" if name in strange else ""))
        if summary.by is None:
            own = [_estimate(cells.get((*column, None)), name) for column in columns]
            if any(estimate is not None and estimate.value is not None for estimate in own):
                yield title, own
            continue
        rows = [
            (group, [_estimate(cells.get((*column, group)), name) for column in columns]) for group in groups
        ]
        if any(estimate is not None and estimate.value is not None for _, row in rows for estimate in row):
            yield f"[bold]{title}[/]", []
            yield from ((f"  {cell(group)}", row) for group, row in rows)


def _estimate(own: Cell | None, name: str) -> Estimate | None:
    figure = None if own is None else own.figures.get(name)
    return None if figure is None else figure.estimate


def _cell(estimate: Estimate | None) -> str:
    return "-" if estimate is None else cell(interval_text(estimate.value, estimate.low, estimate.high))


def _tasks(estimates: Sequence[Estimate | None]) -> str:
    """How many tasks the row's numbers rest on: the fewest and the most."""
    counts = [estimate.n for estimate in estimates if estimate is not None]
    if not counts:
        return ""
    return str(counts[0]) if min(counts) == max(counts) else f"{min(counts)}-{max(counts)}"


def _broken(agent: str) -> str:
    """The agent's id in lines that are about as long as the column is wide, broken where its parts end."""
    lines = [""]
    for part in cell(agent).replace("/", "/\0").replace("@", "\0@").split("\0"):
        if lines[-1] and len(lines[-1]) + len(part) > _SPAN:
            lines.append("")
        lines[-1] += part
    return "\n".join(lines)


def _notes(run: Run, summary: Summary) -> Iterator[str]:
    if summary.scorers:
        yield "In brackets: where the number may lie for further tasks of this kind (95 %)."
    if names := undeclared(summary):
        yield f"* plain means: no scorer that is installed here declares {', '.join(names)}"
    for scorer, trials in sorted(summary.not_scored.items()):
        yield f"{trials} trials have no scores of {scorer}: evalkit score {shlex.quote(run.path)} --scorer {scorer}"
