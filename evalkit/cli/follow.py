"""How is a run followed while another process writes it?"""

from __future__ import annotations

import json as json_text
import os
import shlex
import socket
import time
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import typer
from rich.console import Console
from rich.live import Live
from rich.text import Text

from evalkit.cli.agent_table import number
from evalkit.cli.broken_lines import broken
from evalkit.cli.console import note, stdout
from evalkit.cli.prose import one_line
from evalkit.cli.run_table import print_run, run_as_json
from evalkit.cli.run_view import RunView
from evalkit.cli.trial_filter import TrialFilter
from evalkit.cli.trials_table import STYLES
from evalkit.trajectory.owner import Owner
from evalkit.trajectory.reader import load
from evalkit.trajectory.trial import Trial
from evalkit.trajectory.watching import InFlight, Watch

EVERY_S = 1.0
PLAIN_EVERY_S = 5.0
"""How often trials in flight are told where there is no terminal."""
MOST_IN_FLIGHT = 8
SCORES_WITHIN_S = 30.0
"""How long scores are waited for after the last trial."""


def follow(folder: Path, view: RunView, *, json: bool) -> None:
    """Tell trials as they finish and what is in flight, until the run ends; then the run as `show` tells it.

    The run is only read. One that nobody writes is shown once.
    """
    watch = Watch(folder)
    owner = watch.owner()
    if owner is None:
        note(f"nobody is running this run; as it stands: evalkit show {shlex.quote(str(folder))}")
    else:
        with _told(json=json) as told:
            _follow(watch, owner, told, view.asked)
        if not json:
            stdout().print()
    run = load(folder)
    if json:
        _print_line({"event": "end", "result": run_as_json(run, view)})
    else:
        print_run(run, view)


class _Tells(Protocol):
    def begun(self, done: Sequence[Trial], planned: int) -> None: ...
    def finished(self, trial: Trial) -> None: ...
    def in_flight(self, trials: Sequence[InFlight]) -> None: ...


def _follow(watch: Watch, owner: Owner, told: _Tells, asked: TrialFilter) -> None:
    planned = load(watch.run).manifest.planned
    done = [trial for trial in watch.finished() if asked.holds(trial)]
    told.begun(done, sum(map(asked.may_hold, planned)))
    scored = watch.scores()
    while True:
        writer = watch.owner()  # before the trials: what it commits after this look is seen at the next
        for trial in watch.finished():
            if asked.holds(trial):
                told.finished(trial)
        if writer is None:
            break
        owner = writer
        told.in_flight([one for one in watch.in_flight() if asked.may_hold(one.trial)])
        time.sleep(EVERY_S)
    told.in_flight(())
    _await_scores(watch, owner, scored)


def _await_scores(watch: Watch, owner: Owner, before: frozenset[tuple[str, int]]) -> None:
    """Wait until the process has scored its run, or has ended; not for ever."""
    if owner.host != socket.gethostname() or owner.pid == os.getpid():
        return
    until = time.monotonic() + SCORES_WITHIN_S
    while owner.is_alive() and watch.scores() == before and time.monotonic() < until:
        time.sleep(EVERY_S)
    if watch.scores() != before:
        time.sleep(EVERY_S)  # the files of all scorers come one after the other


@contextmanager
def _told(*, json: bool) -> Generator[_Tells]:
    console = stdout()
    if json:
        yield _JsonLines()
    elif not console.is_terminal:
        yield _Lines()
    else:
        with Live(console=console, auto_refresh=False, transient=True) as live:
            yield _Terminal(console, live)


class _Lines:
    """Plain lines: each trial in the results, what is in flight beside them, now and then."""

    def __init__(self) -> None:
        self._last = float("-inf")
        self._before: Sequence[str] = ()

    def begun(self, done: Sequence[Trial], planned: int) -> None:
        note(_counts(done, planned))

    def finished(self, trial: Trial) -> None:
        for line in _finished(trial, stdout().width):
            stdout().print(line, soft_wrap=True)

    def in_flight(self, trials: Sequence[InFlight]) -> None:
        ids = [one.trial.trial_id for one in trials]
        if not trials or ids == self._before or time.monotonic() - self._last < PLAIN_EVERY_S:
            return
        self._before, self._last = ids, time.monotonic()
        note("in flight: " + "; ".join(_flying(trials)))


class _Terminal:
    """Lines that stay, and below them what is in flight."""

    def __init__(self, console: Console, live: Live) -> None:
        self._console, self._live = console, live

    def begun(self, done: Sequence[Trial], planned: int) -> None:
        self._console.print(Text(_counts(done, planned), style="dim"))

    def finished(self, trial: Trial) -> None:
        for line in _finished(trial, self._console.width):
            self._console.print(line, soft_wrap=True)

    def in_flight(self, trials: Sequence[InFlight]) -> None:
        lines = [next(broken(line, self._console.width - 1))[0] for line in _flying(trials)]
        self._live.update(Text("\n".join(lines), style="dim"), refresh=True)


class _JsonLines:
    """One object a line."""

    def __init__(self) -> None:
        self._before: list[dict[str, object]] | None = None

    def begun(self, done: Sequence[Trial], planned: int) -> None:
        _print_line({"event": "begin", "done": len(done), "planned": planned or None})
        for trial in done:
            self.finished(trial)

    def finished(self, trial: Trial) -> None:
        _print_line(
            {
                "event": "trial",
                **_key(trial),
                "status": trial.status,
                "agent_s": trial.agent_s,
                "output_tokens": trial.output_tokens,
            }
        )

    def in_flight(self, trials: Sequence[InFlight]) -> None:
        told = [{**_key(one.trial), "steps": one.steps} for one in trials]
        if told != self._before:
            self._before = told
            _print_line({"event": "in_flight", "trials": told})


def _key(trial: Trial) -> dict[str, object]:
    return {
        "trial": trial.trial_id,
        "suite": trial.suite,
        "task": trial.task_id,
        "variant": trial.variant,
        "agent": trial.agent,
        "epoch": trial.epoch,
        "attempt": trial.attempt,
    }


def _counts(done: Sequence[Trial], planned: int) -> str:
    counts = Counter(trial.status for trial in done)
    told = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
    return f"{len(done)}{f' of {planned}' if planned else ''} trials are done{f': {told}' if told else ''}"


def _finished(trial: Trial, width: int) -> list[Text]:
    task = trial.task_id if trial.variant == "clean" else f"{trial.task_id} ({trial.variant})"
    epoch = f" epoch {trial.epoch}" if trial.epoch != 1 else ""
    tokens = "tokens unknown" if trial.output_tokens is None else f"{trial.output_tokens:,} tokens"
    line = f"{trial.status:<8}  {number(trial.agent_s, '.2f'):>7} s  {tokens}  {task}{epoch}  {trial.agent}"
    lines = [Text(piece) for piece, _ in broken(line, width)]
    lines[0].stylize(STYLES[trial.status], 0, len(trial.status))
    return lines


def _flying(trials: Sequence[InFlight]) -> list[str]:
    told = [
        one_line(f"{one.trial.task_id} ({one.trial.variant}) {one.trial.agent}, {one.steps} steps")
        for one in trials[:MOST_IN_FLIGHT]
    ]
    return [*told, f"and {len(trials) - MOST_IN_FLIGHT} more"] if len(trials) > MOST_IN_FLIGHT else told


def _print_line(value: Mapping[str, object]) -> None:
    typer.echo(json_text.dumps(value, ensure_ascii=False, allow_nan=False))
