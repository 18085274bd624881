"""How is a run scored on the command line, and what is said about it?"""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from evalkit.errors import Incomplete

if TYPE_CHECKING:
    from evalkit.scoring.grouping import By
    from evalkit.scoring.registry import Named
    from evalkit.scoring.running import Scored

PLAIN_EVERY_S = 5.0


def score_finished(run: Path, scorers: Sequence[Named]) -> Scored:
    """Score a run, with a bar on a terminal or plain lines; what failed is told at once."""
    from evalkit.cli.console import note
    from evalkit.scoring.running import score_run

    with _progress() as heard:
        scored = score_run(run, scorers, heard=heard)
    for failure in scored.failures:
        which = (
            failure.trial_id
            if failure.trials == 1
            else f"{failure.trials} trials, such as {failure.trial_id}"
        )
        kind = "trial " if failure.trials == 1 else ""
        at = "" if failure.step is None else f", step {failure.step}"
        place = f" ({failure.place})" if failure.place else ""
        note(f"scorer {failure.scorer} failed on {kind}{which}{at}: {failure.message}{place}")
    if scored.further:
        note(f"and in other ways on {scored.further} trials")
    return scored


def note_unfinished(run: Path) -> None:
    """Say so where another process still writes the run."""
    from evalkit.cli.console import note
    from evalkit.trajectory.owner import read_owner
    from evalkit.trajectory.reader import load

    owner = read_owner(run)
    if owner is None or owner.pid == os.getpid() or not owner.is_alive():
        return
    opened = load(run)
    planned = f" of {len(opened.manifest.planned)}" if opened.manifest.planned else ""
    note(
        f"the run is still being run by process {owner.pid}: {len(opened.rows())}{planned} trials are scored; when it "
        f"ends, score it again: evalkit score {shlex.quote(str(run))}"
    )


def print_scores(
    run: Path, scorers: Collection[str], *, by: By | None, all_metrics: bool, json: bool
) -> None:
    """Print what the scores of these scorers add up to: all of it, or what is worth a look."""
    from evalkit.cli.console import print_json
    from evalkit.cli.metric_table import print_glance, print_metrics
    from evalkit.cli.run_table import more, run_as_json
    from evalkit.cli.run_view import RunView
    from evalkit.cli.summing import run_summary, without_parts
    from evalkit.trajectory.reader import load

    scored = load(run)
    if json:
        print_json(run_as_json(scored, RunView(by=by), scorers=scorers))
        return
    summary = without_parts(run_summary(scored, by=by, scorers=scorers))
    if all_metrics:
        print_metrics(scored, summary)
    else:
        print_glance(scored, summary, more=more(scored, RunView(by=by)))


def refuse_failures(run: Path, scored: Scored) -> None:
    """Raise Incomplete where scorers gave nothing for some trials."""
    if not scored.failed:
        return
    which = ", ".join(f"{name} on {count} of {scored.trials} trials" for name, count in scored.failed.items())
    names = ",".join(scored.failed)
    raise Incomplete(
        f"scorers failed: {which}; all other scores stand",
        where=str(run),
        hint=f"Repair them, then: evalkit score {run} --scorer {names}",
    )


@contextmanager
def _progress() -> Generator[Callable[[int], None]]:
    with counting("scored", "scoring") as heard:
        yield lambda done: heard(done, None)


@contextmanager
def counting(done_word: str, doing_word: str) -> Generator[Callable[[int, int | None], None]]:
    """A bar on a terminal, plain lines now and then elsewhere; it is told how many trials are done, of how many."""
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from evalkit.cli.console import stderr

    console = stderr()
    if not console.is_terminal:
        yield _Lines(console.print, done_word)
        return
    told = TextColumn("{task.completed}{task.fields[of]} trials " + done_word)
    with Progress(SpinnerColumn(), told, TimeElapsedColumn(), console=console, transient=True) as bar:
        job = bar.add_task(doing_word, total=None, of="")
        yield lambda done, total: bar.update(job, completed=done, of=_of(total))


class _Lines:
    """A plain line now and then."""

    def __init__(self, say: Callable[[str], None], word: str) -> None:
        self._say, self._word, self._last = say, word, time.monotonic()

    def __call__(self, done: int, total: int | None) -> None:
        if done == total or time.monotonic() - self._last >= PLAIN_EVERY_S:
            self._last = time.monotonic()
            self._say(f"{done}{_of(total)} trials {self._word}")


def _of(total: int | None) -> str:
    return "" if total is None else f" of {total}"
