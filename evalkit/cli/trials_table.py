"""What do a run's trials look like, one below the other?"""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.text import Text

from evalkit.cli.agent_table import number
from evalkit.cli.console import stdout
from evalkit.cli.prose import one_line
from evalkit.cli.text_table import GAP
from evalkit.trajectory.trial import Trial

STYLES = {"passed": "green", "failed": "red", "unscored": "yellow"}
_HEADINGS = ("status", "stopped by", "checks", "calls", "seconds")
_LEFT = 2
"""So many of them are words, set to the left; the others are numbers."""
_BELOW = "    "


def print_trials(trials: Sequence[Trial]) -> None:
    """A line for each trial. Ids are never broken, so that they can be copied: one that does not fit stands below."""
    console = stdout()
    rows = [_cells(trial) for trial in trials]
    widths = [max(map(cell_len, column)) for column in zip(_HEADINGS, *rows, strict=True)]
    console.print(Text(GAP.join([*_set(_HEADINGS, widths), "trial"]), style="bold"), soft_wrap=True)
    room = console.width - sum(widths) - len(GAP) * len(widths)
    for trial, cells in zip(trials, rows, strict=True):
        trial_id = one_line(trial.trial_id)
        line = Text(GAP.join(_set(cells, widths)))
        line.stylize(STYLES[trial.status], 0, len(trial.status))
        fits = cell_len(trial_id) <= room
        console.print(line + Text(GAP + trial_id) if fits else line, soft_wrap=True)
        if not fits:
            console.print(Text(_BELOW + trial_id), soft_wrap=True)


def _cells(trial: Trial) -> tuple[str, ...]:
    checks = trial.checks
    return (
        trial.status,
        trial.stop_reason or "-",
        f"{sum(checks.values())}/{len(checks)}" if checks else "-",
        number(trial.tool_calls, "d"),
        number(trial.agent_s, ".2f"),
    )


def _set(cells: Sequence[str], widths: Sequence[int]) -> list[str]:
    return [
        cell.ljust(width) if place < _LEFT else cell.rjust(width)
        for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
