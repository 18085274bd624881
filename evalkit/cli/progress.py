"""How does a running run show where it is?"""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Protocol

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from evalkit.cli.asking import Screen
from evalkit.cli.console import stderr
from evalkit.engine.plan import Planned
from evalkit.engine.progress import Progress as Hears
from evalkit.trajectory.step import Step
from evalkit.trajectory.trial import Trial

PLAIN_EVERY_S = 5.0


class Shown(Hears, Screen, Protocol):
    """Hears what happens, shows it, and makes room for a question."""


class _Bar:
    """A bar with counts, on a terminal."""

    def __init__(self, bar: Progress, total: int | None) -> None:
        self._bar = bar
        self._job = bar.add_task("trials", total=total, counts="", doing="")
        self._counts = {"passed": 0, "failed": 0, "unscored": 0}
        self._steps = 0
        self._running: list[str] = []

    @contextmanager
    def aside(self) -> Generator[None]:
        """While inside, the bar is not drawn."""
        self._bar.stop()
        try:
            yield
        finally:
            self._bar.start()

    def planned(self, total: int) -> None:
        self._bar.update(self._job, total=total)

    def started(self, planned: Planned) -> None:
        self._running.append(planned.task.id)
        self._show()

    def stepped(self, planned: Planned, step: Step) -> None:
        del planned, step
        self._steps += 1
        self._show()

    def finished(self, planned: Planned, trial: Trial) -> None:
        self._running.remove(planned.task.id)
        self._counts[trial.status] += 1
        self._bar.advance(self._job)
        self._show()

    def _show(self) -> None:
        counts = "  ".join(f"{number} {status}" for status, number in self._counts.items() if number)
        doing = self._running[0] if self._running else ""
        more = f" +{len(self._running) - 1}" if len(self._running) > 1 else ""
        self._bar.update(self._job, counts=f"{counts}  {self._steps} steps".strip(), doing=doing + more)


class _Lines:
    """Plain lines, where there is no terminal: one now and then, and one at the end."""

    def __init__(self, total: int | None) -> None:
        self._total, self._done, self._last = total, 0, time.monotonic()

    def aside(self) -> AbstractContextManager[None]:
        """Lines disturb nobody."""
        return nullcontext()

    def planned(self, total: int) -> None:
        self._total = total

    def started(self, planned: Planned) -> None:
        del planned

    def stepped(self, planned: Planned, step: Step) -> None:
        del planned, step

    def finished(self, planned: Planned, trial: Trial) -> None:
        del planned, trial
        self._done += 1
        late = time.monotonic() - self._last >= PLAIN_EVERY_S
        if late or self._done == self._total:
            self._last = time.monotonic()
            stderr().print(f"{self._done} of {self._total} trials")


@contextmanager
def live_progress(total: int | None) -> Generator[Shown]:
    """Show a bar on a terminal, plain lines elsewhere. `total` may be told later (`planned`)."""
    console = stderr()
    if not console.is_terminal:
        yield _Lines(total)
        return
    columns = (
        TextColumn("{task.fields[doing]}", style="dim"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[counts]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        yield _Bar(bar, total)
