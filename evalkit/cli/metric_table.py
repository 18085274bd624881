"""What do the metrics of a run look like as a table?"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.text import Text

from evalkit.cli.agent_label import agent_labels, common_beginning, is_whole
from evalkit.cli.console import stdout
from evalkit.cli.glance import ALARMING, glance
from evalkit.cli.metric_words import explain_all, explain_glance, notes, undeclared
from evalkit.cli.prose import INDENT, one_line, say, say_unbroken
from evalkit.cli.summing import FIRST
from evalkit.cli.text_table import Column, Unit, names_width, pack, print_columns, width_of
from evalkit.project import find_project
from evalkit.scoring.arm import ARMS, Arm
from evalkit.scoring.figure_text import interval_text, number_text
from evalkit.scoring.summary import Cell, Figure, Summary, natural
from evalkit.trajectory.reader import Run

MAX_ROWS = 200


def print_metrics(run: Run, summary: Summary) -> None:
    """Print each metric that some trial has a value of, with its interval; without scores, how to get them.

    Whatever the width, names and numbers stay whole: agents, then arms, go below each other where they do not fit.
    """
    if _has_something(run, summary):
        table = _Table.of(summary, summary.names)
        _print_whole(table)
        explain_all(summary)
    for line in notes(run, summary, summary.names):
        say_unbroken(line)


def print_glance(run: Run, summary: Summary, *, more: str) -> None:
    """Print the metrics that are worth a look, on one screen, and count the others; `more` is the command that shows
    them.

    Agents stand side by side: where there are too many of them, with the interval of the success alone.
    """
    seen = glance(summary, find_project().bundled_names("scorers"))
    if _has_something(run, summary):
        table = _Table.of(summary, seen.shown)
        narrow = not table.fits(stdout().width)
        if narrow:
            _print_narrow(_Table.of(summary, seen.shown, with_interval=True))
        else:
            _print_whole(table)
        explain_glance(summary, seen, narrow=narrow, more=more)
    for line in notes(run, summary, seen.shown):
        say_unbroken(line)


def _has_something(run: Run, summary: Summary) -> bool:
    if not summary.scorers:
        say_unbroken(f"This run has no scores. More than this: evalkit score {shlex.quote(run.path)}")
    return bool(summary.scorers) or summary.by is not None


@dataclass(frozen=True, slots=True)
class _Row:
    """A line of the table: a number of all trials or of a group, its interval, or the heading of a number's groups."""

    number: str
    group: str | None = None
    is_heading: bool = False
    is_interval: bool = False


@dataclass(frozen=True, slots=True)
class _Table:
    """What is to be shown, before it is laid out."""

    summary: Summary
    cells: dict[tuple[str, Arm, str | None], Cell]
    rows: tuple[_Row, ...]
    left_out: int
    """Lines beyond those that are shown."""

    @classmethod
    def of(cls, summary: Summary, shown: Sequence[str], *, with_interval: bool = False) -> _Table:
        cells: dict[tuple[str, Arm, str | None], Cell] = {}
        for own in summary.cells:
            cells[own.agent, own.arm, own.group] = own
        groups = sorted({own.group for own in summary.cells if own.group is not None})
        rows: list[_Row] = []
        for name in shown:
            if summary.by is not None:
                rows += [_Row(name, is_heading=True), *(_Row(name, group) for group in groups)]
                continue
            rows.append(_Row(name))
            if with_interval and name == FIRST and _has_interval(summary, name):
                rows.append(_Row(name, is_interval=True))
        return cls(summary, cells, tuple(rows[:MAX_ROWS]), max(len(rows) - MAX_ROWS, 0))

    @property
    def heading(self) -> str:
        return "metric" if self.summary.by is None else f"metric, by {self.summary.by}"

    @property
    def agents(self) -> list[str]:
        return sorted({own.agent for own in self.summary.cells}, key=natural)

    def arms(self, agent: str) -> list[Arm]:
        there = {own.arm for own in self.summary.cells if own.agent == agent}
        return [arm for arm in ARMS if arm in there]

    def names(self) -> list[Text]:
        strange = set(undeclared(self.summary))
        return [_name(row, is_strange=row.number in strange) for row in self.rows]

    def units(self) -> list[list[Column]]:
        """Each agent's columns under its own heading."""
        return [self.unit(agent, label) for agent, label in agent_labels(self.agents).items()]

    def unit(self, agent: str, label: str) -> list[Column]:
        """The agent's columns: for each arm the numbers, and what they rest on."""
        found: list[Column] = []
        for arm in self.arms(agent):
            told = [self._told(row, agent, arm) for row in self.rows]
            styles = [self._style(row, agent, arm) for row in self.rows]
            values = [Text(value, style=style) for (value, _), style in zip(told, styles, strict=True)]
            found.append(Column(self._heading(label, arm) or "value [95 %]", values))
            found.append(Column("n", [Text(count) for _, count in told]))
        return found

    def narrow_unit(self, agent: str, label: str) -> list[Column]:
        """The agent's columns, one for each arm: numbers beside what they rest on, intervals below."""
        found: list[Column] = []
        for arm in self.arms(agent):
            figures = [self._figure(row, agent, arm) for row in self.rows]
            digits = max((len(str(own.estimate.n)) for own in figures if own is not None), default=1)
            cells = [
                Text(self._narrow(row, agent, arm, digits), style=self._style(row, agent, arm))
                for row in self.rows
            ]
            last = f"value{'n':>{digits + 2}}"
            found.append(Column(f"{self._heading(label, arm)}\n{last}".strip(), cells))
        return found

    def fits(self, width: int) -> bool:
        """Whether all agents stand side by side on a page that is so wide."""
        units = self.units()
        return sum(map(width_of, units)) <= width - names_width(self.heading, self.names(), units, width)

    def _heading(self, label: str, arm: Arm) -> str:
        with_arms = {own.arm for own in self.summary.cells} != {"clean"}
        return "\n".join(part for part in (label, arm if with_arms else "") if part)

    def _figure(self, row: _Row, agent: str, arm: Arm) -> Figure | None:
        own = self.cells.get((agent, arm, row.group))
        return None if own is None or row.is_heading else own.figures.get(row.number)

    def _style(self, row: _Row, agent: str, arm: Arm) -> str:
        figure = self._figure(row, agent, arm)
        alarming = figure is not None and bool(figure.estimate.value)
        return ALARMING.get(row.number, "") if alarming else ""

    def _told(self, row: _Row, agent: str, arm: Arm) -> tuple[str, str]:
        if row.is_heading:
            return "", ""
        figure = self._figure(row, agent, arm)
        if figure is None:
            return "-", "" if self.cells.get((agent, arm, row.group)) is None else "0"
        estimate = figure.estimate
        return interval_text(estimate.value, estimate.low, estimate.high), str(estimate.n)

    def _narrow(self, row: _Row, agent: str, arm: Arm, digits: int) -> str:
        figure = self._figure(row, agent, arm)
        if row.is_interval:
            estimate = None if figure is None else figure.estimate
            if estimate is None:
                return ""
            _, bracket, inside = interval_text(estimate.value, estimate.low, estimate.high).partition("[")
            return f"{bracket}{inside}"
        if figure is None:
            told, count = self._told(row, agent, arm)
        else:
            estimate = figure.estimate
            told = number_text(estimate.value, estimate.low, estimate.high)
            count = str(estimate.n)
        return f"{told}  {count:>{digits}}"


def _has_interval(summary: Summary, name: str) -> bool:
    figures = [own.figures[name] for own in summary.cells if name in own.figures]
    return any(own.estimate.low is not None for own in figures)


def _name(row: _Row, *, is_strange: bool) -> Text:
    if row.is_interval:
        return Text(f"{INDENT}95 %")
    if row.group is not None:
        return Text(INDENT + one_line(row.group))
    return Text(one_line(row.number) + (" *" if is_strange else ""), style="bold" if row.is_heading else "")


def _print_whole(table: _Table) -> None:
    agents, labels = table.agents, agent_labels(table.agents)
    names, units = table.names(), table.units()
    console = stdout()
    room = console.width - names_width(table.heading, names, units, console.width)
    if len(agents) > 1 and len(pack(units, room)) < len(agents):
        print_columns(console, table.heading, names, units)
        _say_shortened(labels)
    else:
        for place, agent in enumerate(agents):
            if place:
                console.print()
            if len(agents) > 1:
                say_unbroken(agent, style="bold")
            print_columns(console, table.heading, names, [table.unit(agent, "")])
    _say_left_out(table)


def _print_narrow(table: _Table) -> None:
    agents = table.agents
    beginning = common_beginning(agents)
    labels = agent_labels([agent.removeprefix(beginning) for agent in agents])
    units: list[Unit] = [
        [column]
        for agent, label in zip(agents, labels.values(), strict=True)
        for column in table.narrow_unit(agent, label)
    ]
    if beginning:
        say(f"All agents are {beginning}...")
    print_columns(stdout(), table.heading, table.names(), units)
    _say_shortened(labels, beginning)
    _say_left_out(table)


def _say_shortened(labels: Mapping[str, str], beginning: str = "") -> None:
    for agent, label in labels.items():
        if not is_whole(agent, label):
            say_unbroken(f"{label} is {one_line(beginning + agent)}")


def _say_left_out(table: _Table) -> None:
    if table.left_out:
        say(f"... and {table.left_out} more lines: name metrics with --metric, or see all with --json")
