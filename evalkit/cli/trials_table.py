"""What do a run's trials look like, one below the other?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.cells import cell_len
from rich.text import Text

from evalkit.cli.agent_table import number
from evalkit.cli.console import stdout
from evalkit.cli.prose import one_line
from evalkit.cli.text_table import GAP
from evalkit.scoring.tampered import Codes
from evalkit.trajectory.trial import Trial

STYLES = {"passed": "green", "failed": "red", "unscored": "yellow"}
_HEADINGS = ("status", "stopped by", "checks", "calls", "seconds")
_LEFT = 2
"""So many of them are words, set to the left; the others are numbers."""
_BELOW = "    "


def most_telling(trials: Sequence[Trial], tampered: Mapping[str, Codes], most: int) -> Sequence[Trial]:
    """All of them in their order; where there are more than so many those first that need a look, and no others."""
    if len(trials) <= most:
        return trials

    def rank(trial: Trial) -> tuple[bool, bool]:
        codes = tampered.get(trial.trial_id)
        return trial.status != "unscored", trial.status == "passed" and not (codes and codes.confirmed)

    return sorted(trials, key=rank)[:most]


def print_trials(trials: Sequence[Trial], tampered: Mapping[str, Codes] | None = None) -> None:
    """A line for each trial, with the kinds of tampering where any trial has some.

    Ids are never broken, so that they can be copied: one that does not fit stands below.
    """
    console = stdout()
    codes = [(tampered or {}).get(trial.trial_id) for trial in trials]
    flagged = any(codes)
    headings = (*_HEADINGS, "tampering") if flagged else _HEADINGS
    rows = [
        (*_cells(trial), own.text if own else "") if flagged else _cells(trial)
        for trial, own in zip(trials, codes, strict=True)
    ]
    widths = [max(map(cell_len, column)) for column in zip(headings, *rows, strict=True)]
    console.print(Text(GAP.join([*_set(headings, widths), "trial"]), style="bold"), soft_wrap=True)
    room = console.width - sum(widths) - len(GAP) * len(widths)
    for trial, cells, own in zip(trials, rows, codes, strict=True):
        trial_id = one_line(trial.trial_id)
        line = Text(GAP.join(_set(cells, widths)))
        line.stylize(STYLES[trial.status], 0, len(trial.status))
        if own:
            line.stylize("bold red" if own.confirmed else "yellow", len(line) - widths[-1])
        fits = cell_len(trial_id) <= room
        if fits:
            console.print(line + Text(GAP + trial_id), soft_wrap=True)
        else:
            line.rstrip()
            console.print(line, soft_wrap=True)
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
        cell.ljust(width) if place < _LEFT or place >= len(_HEADINGS) else cell.rjust(width)
        for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
