"""What do the metrics of a run look like as a table?"""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from rich.text import Text

from evalkit.cli.agent_label import agent_labels, is_whole
from evalkit.cli.console import stdout
from evalkit.cli.no_value import why_no_value
from evalkit.cli.prose import INDENT, one_line, say, say_not_shown, say_reasons, say_unbroken
from evalkit.cli.summing import quantities_of
from evalkit.cli.text_table import Column, names_width, pack, print_columns
from evalkit.scoring.arm import ARMS, Arm
from evalkit.scoring.figure_text import interval_text
from evalkit.scoring.summary import Cell, Summary
from evalkit.trajectory.reader import Run

MAX_ROWS = 200


def print_metrics(run: Run, summary: Summary) -> None:
    """Print each metric that some trial has a value of, with its interval; without scores, how to get them.

    Whatever the width, names and numbers stay whole: agents, then arms, go below each other where they do not fit.
    """
    if not summary.scorers:
        say_unbroken(f"This run has no scores. More than this: evalkit score {shlex.quote(run.path)}")
    if summary.scorers or summary.by is not None:
        table = _Table.of(summary)
        _print_table(table)
        _explain(table)
    for line in _notes(run, summary):
        say_unbroken(line)


def undeclared(summary: Summary) -> list[str]:
    """Numbers whose metric no installed scorer declares, in order."""
    return [
        name
        for name in summary.names
        if any(name in cell.figures and cell.figures[name].quantity.metric is None for cell in summary.cells)
    ]


@dataclass(frozen=True, slots=True)
class _Row:
    """A line of the table: a number of all trials or of a group, or the heading of a number's groups."""

    number: str
    group: str | None = None
    is_heading: bool = False


@dataclass(frozen=True, slots=True)
class _Table:
    """What is to be shown, before it is laid out."""

    summary: Summary
    cells: dict[tuple[str, Arm, str | None], Cell]
    rows: tuple[_Row, ...]
    left_out: int
    """Lines beyond those that are shown."""

    @classmethod
    def of(cls, summary: Summary) -> _Table:
        cells: dict[tuple[str, Arm, str | None], Cell] = {}
        for own in summary.cells:
            cells[own.agent, own.arm, own.group] = own
        groups = sorted({own.group for own in summary.cells if own.group is not None})
        rows = [
            row
            for name in summary.names
            for row in (
                [_Row(name)]
                if summary.by is None
                else [_Row(name, is_heading=True), *(_Row(name, group) for group in groups)]
            )
        ]
        return cls(summary, cells, tuple(rows[:MAX_ROWS]), max(len(rows) - MAX_ROWS, 0))

    @property
    def agents(self) -> list[str]:
        return sorted({own.agent for own in self.summary.cells})

    def arms(self, agent: str) -> list[Arm]:
        there = {own.arm for own in self.summary.cells if own.agent == agent}
        return [arm for arm in ARMS if arm in there]

    def names(self) -> list[Text]:
        strange = set(undeclared(self.summary))
        return [
            Text(INDENT + one_line(row.group))
            if row.group is not None
            else Text(
                one_line(row.number) + (" *" if row.number in strange else ""),
                style="bold" if row.is_heading else "",
            )
            for row in self.rows
        ]

    def unit(self, agent: str, label: str) -> list[Column]:
        """The agent's columns: for each arm the numbers, and what they rest on."""
        with_arms = {own.arm for own in self.summary.cells} != {"clean"}
        found: list[Column] = []
        for arm in self.arms(agent):
            heading = "\n".join(part for part in (label, arm if with_arms else "") if part)
            told = [self._told(row, agent, arm) for row in self.rows]
            found.append(Column(heading or "value [95 %]", [Text(value) for value, _ in told]))
            found.append(Column("n", [Text(count) for _, count in told]))
        return found

    def _told(self, row: _Row, agent: str, arm: Arm) -> tuple[str, str]:
        if row.is_heading:
            return "", ""
        own = self.cells.get((agent, arm, row.group))
        figure = None if own is None else own.figures.get(row.number)
        if figure is None:
            return "-", "" if own is None else "0"
        estimate = figure.estimate
        return interval_text(estimate.value, estimate.low, estimate.high), str(estimate.n)


def _print_table(table: _Table) -> None:
    by, agents = table.summary.by, table.agents
    heading = "metric" if by is None else f"metric, by {by}"
    names, labels = table.names(), agent_labels(agents)
    console = stdout()
    units = [table.unit(agent, labels[agent]) for agent in agents]
    room = console.width - names_width(heading, names, units, console.width)
    if len(agents) > 1 and len(pack(units, room)) < len(agents):
        print_columns(console, heading, names, units)
        for agent, label in labels.items():
            if not is_whole(agent, label):
                say_unbroken(f"{label} is {one_line(agent)}")
    else:
        for place, agent in enumerate(agents):
            if place:
                console.print()
            if len(agents) > 1:
                say_unbroken(agent, style="bold")
            print_columns(console, heading, names, [table.unit(agent, "")])
    if table.left_out:
        say(f"... and {table.left_out} more lines: name metrics with --metric, or see all with --json")


def _explain(table: _Table) -> None:
    """What the columns say, and why numbers are missing."""
    summary = table.summary
    say("")
    say(
        "In brackets: where the number may lie for further tasks of this kind (95 %); none where one task is all "
        "there is, or nothing tells how much tasks differ."
    )
    arms = {own.arm for own in summary.cells}
    faults = "; in the faulted arm a task's faults are averaged first" if "faulted" in arms else ""
    say(f"n: how many tasks count{faults}.")
    unscored = sum(own.unscored for own in summary.cells)
    if unscored and summary.by != "skill":  # whose trials can be in several groups
        say(f"Unscored trials, which no number counts that needs a verdict: {unscored}.")
    missing = _missing(summary)
    reasons: defaultdict[str, list[str]] = defaultdict(list)
    for name in summary.names:
        for reason in missing.get(name, ()):
            reasons[reason].append(name)
    say_reasons("- is no value, and never counted as 0:", reasons)
    say_not_shown(
        "Without any value, and so not shown", [name for name in missing if name not in summary.names]
    )


def _missing(summary: Summary) -> dict[str, list[str]]:
    """The numbers that some agent, arm or group has no value of, each with its reasons."""
    found: dict[str, list[str]] = {}
    for name, quantity in quantities_of(summary).items():
        reasons = [why_no_value(own, quantity, name) for own in summary.cells]
        if told := [reason for reason in dict.fromkeys(reasons) if reason is not None]:
            found[name] = told
    return found


def _notes(run: Run, summary: Summary) -> Iterator[str]:
    if names := undeclared(summary):
        yield f"* plain means: no scorer that is installed here declares {', '.join(names)}"
    for scorer, trials in sorted(summary.not_scored.items()):
        yield f"{trials} trials have no scores of {scorer}: evalkit score {shlex.quote(run.path)} --scorer {scorer}"
