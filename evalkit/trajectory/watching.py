# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyarrow ships no types.
"""What is a run doing that another process writes?

Nothing is written here, locked or recovered: whoever writes the run never notices.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from evalkit.errors import UsageError
from evalkit.trajectory.folder import names_in, open_file, opened
from evalkit.trajectory.journal import interrupted
from evalkit.trajectory.layout import current_files, finished_files, is_journal, journal_folder
from evalkit.trajectory.owner import Owner, read_owner
from evalkit.trajectory.parquet import read_records
from evalkit.trajectory.rows import trials_from
from evalkit.trajectory.schema import TRIALS
from evalkit.trajectory.trial import Trial

_AT_ONCE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class InFlight:
    """A trial that has been begun and has not ended."""

    trial: Trial
    """What was known of it when it began."""
    steps: int
    """That it has made so far."""


@dataclass(slots=True)
class _Read:
    """How far a journal has been read."""

    end: int = 0
    lines: int = 0
    trial: Trial | None = None


@dataclass(slots=True)
class Watch:
    """Looks at a run again and again, and reads only what has come since."""

    run: Path
    _files: set[str] = field(default_factory=set[str])
    _told: set[str] = field(default_factory=set[str])
    _journals: dict[str, _Read] = field(default_factory=dict[str, _Read])

    def owner(self) -> Owner | None:
        """The living process that writes the run; None where there is none."""
        owner = read_owner(self.run)
        return owner if owner is not None and owner.is_alive() else None

    def finished(self) -> list[Trial]:
        """Trials that have been committed since this was asked last; all there are at first. In the order of files."""
        folder = self.run / "trials"
        new: list[Trial] = []
        for name in current_files(finished_files(names_in(folder), "trials", str(folder))):
            if name in self._files:
                continue
            try:
                found = list(read_records(str(folder / name), TRIALS, trials_from))
            except (UsageError, OSError):
                if (folder / name).exists():
                    raise
                continue  # it is part of a larger file by now, which comes next time
            self._files.add(name)
            new += [trial for trial_id, trial in found if trial_id not in self._told]
            self._told.update(trial_id for trial_id, _ in found)
        return new

    def in_flight(self) -> tuple[InFlight, ...]:
        """Trials that have been begun, by their ids. A journal that cannot be read is passed over."""
        folder = journal_folder(self.run)
        names = [name for name in names_in(folder) if is_journal(name)]
        self._journals = {name: self._journals.get(name, _Read()) for name in names}
        for name, known in self._journals.items():
            try:
                with opened(folder) as handle, open_file(folder / name, handle) as source:
                    _read_on(source.fileno(), known)
            except (UsageError, OSError):
                continue  # it has ended in between, or is no journal
        found = [
            InFlight(known.trial, known.lines - 1)
            for known in self._journals.values()
            if known.trial is not None and known.trial.trial_id not in self._told
        ]
        return tuple(sorted(found, key=lambda one: one.trial.trial_id))

    def scores(self) -> frozenset[tuple[str, int]]:
        """The files of scores, and when each was written: other ones tell that the run was scored anew."""
        folder = self.run / "scores"
        found: set[tuple[str, int]] = set()
        for name in names_in(folder):
            try:
                found.add((name, os.lstat(folder / name).st_mtime_ns))
            except FileNotFoundError:
                continue
        return frozenset(found)


def _read_on(handle: int, known: _Read) -> None:
    """Count the lines that have come, and read the first, which says what trial it is."""
    if known.trial is None:
        head, newline, _ = os.pread(handle, _AT_ONCE, 0).partition(b"\n")
        if not newline:
            return
        try:
            header: object = json.loads(head)
            known.trial = interrupted(cast("dict[str, object]", header)) if isinstance(header, dict) else None
        except (ValueError, RecursionError):
            return
    while chunk := os.pread(handle, _AT_ONCE, known.end):
        known.end += len(chunk)
        known.lines += chunk.count(b"\n")
