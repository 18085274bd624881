"""What becomes of a run whose process died?"""

from __future__ import annotations

import dataclasses
import errno
import itertools
import os
from pathlib import Path

from evalkit.trajectory.atomic import writing
from evalkit.trajectory.folder import check_folders, delete_files, names_in, opened
from evalkit.trajectory.journal import Journal, read_journal
from evalkit.trajectory.layout import is_journal, journal_file, journal_folder, owner_file
from evalkit.trajectory.locate import local_run
from evalkit.trajectory.owner import exclusive, read_owner, release
from evalkit.trajectory.parts import (
    commit_parts,
    committed_trials,
    leftovers,
    open_generation,
    remove_leftovers,
)
from evalkit.trajectory.step import Act, Think

SET_ASIDE = ".bad"
"""How the names of journals end that could not be read to their end. They are kept, and never read again."""

_NOT_OURS = (errno.EACCES, errno.EPERM, errno.EROFS)


def recover(path: str | Path) -> int:
    """Bring a run whose owner is dead in order; returns how many trials in flight were kept.

    Each becomes `unscored` (error origin `harness`, type `interrupted`, stop reason `cancelled`) with the steps
    it had made, and their calls counted. What does not count is deleted; a journal that makes no sense is
    renamed to `*.bad`, after what is sound in it was kept. A run that is still being written is left alone, and
    so is one in which nothing is left to do; doing it twice does no harm. Raises UsageError where there is no
    run, where a folder in it is a link, and where trials in flight cannot be kept because the run cannot be
    written.
    """
    run = local_run(path)
    with writing(run):
        try:
            check_folders(run)
            if not (os.path.lexists(owner_file(run)) or _journals(run) or leftovers(run)):
                return 0
            return _recover(run)
        except OSError as error:
            if error.errno not in _NOT_OURS or _journals(run):
                raise
            return 0  # Nothing is lost: what is left over does not count for a reader either.


def _recover(run: Path) -> int:
    with exclusive(run):
        owner = read_owner(run)
        if owner is not None and owner.is_alive():
            return 0
        kept = settle(run)
        release(run)
    return kept


def settle(run: Path) -> int:
    """Do what `recover` does, for a caller who knows that nobody else writes the run."""
    check_folders(run)
    remove_leftovers(run)
    return commit_journals(run)


def commit_journals(run: Path) -> int:
    """Commit every trial in flight as interrupted; returns how many."""
    journals = _journals(run)
    if not journals:
        return 0
    committed, _ = committed_trials(run)
    generation = open_generation(run)
    folder = journal_folder(run)
    kept = 0
    for name in journals:
        journal = read_journal(folder / name)
        sound = journal.sound
        trial = journal.trial
        if trial is not None and journal_file(run, trial.trial_id).name != name:
            trial, sound = None, False
        if trial is not None and trial.trial_id not in committed:
            done = _commit(run, generation, journal)
            kept, sound = kept + done, sound and done
        if sound:
            delete_files(folder, [name])
        else:
            _set_aside(folder, name)
    return kept


def _commit(run: Path, generation: int, journal: Journal) -> bool:
    """Commit what a journal says; False where it says what no table can hold."""
    assert journal.trial is not None
    trial = dataclasses.replace(
        journal.trial,
        stop_reason="cancelled",
        model_calls=sum(isinstance(step, Think) for step in journal.steps),
        tool_calls=sum(isinstance(step, Act) for step in journal.steps),
    )
    try:
        commit_parts(run, generation, trial, journal.steps, ())
    except (ValueError, OverflowError):
        return False
    return True


def _set_aside(folder: Path, name: str) -> None:
    """Rename a journal, over no other file."""
    taken = set(names_in(folder))
    spare = (f"{name}{SET_ASIDE}-{number}" for number in itertools.count(2))
    target = next(one for one in itertools.chain([f"{name}{SET_ASIDE}"], spare) if one not in taken)
    with opened(folder) as handle:
        os.rename(name, target, src_dir_fd=handle, dst_dir_fd=handle)


def _journals(run: Path) -> list[str]:
    return list(filter(is_journal, names_in(journal_folder(run))))
