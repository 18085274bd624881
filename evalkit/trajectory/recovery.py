"""What becomes of a run whose process died?"""

from __future__ import annotations

from pathlib import Path

from evalkit.trajectory.atomic import writing
from evalkit.trajectory.journal import read_journal
from evalkit.trajectory.layout import (
    journal_folder,
)
from evalkit.trajectory.locate import local_run
from evalkit.trajectory.owner import exclusive, read_owner, release
from evalkit.trajectory.parts import commit_parts, committed_trials, open_generation, remove_leftovers


def recover(path: str | Path) -> int:
    """Bring a run whose owner is dead in order; returns how many trials in flight were kept.

    Each becomes `unscored` (error origin `harness`, type `interrupted`) with the steps it had made. What does
    not count is deleted. A run that is still being written is left alone, and doing it twice does no harm.
    Raises UsageError where there is no run, or its folder cannot be written.
    """
    run = local_run(path)
    with writing(run), exclusive(run):
        owner = read_owner(run)
        if owner is not None and owner.is_alive():
            return 0
        kept = settle(run)
        release(run)
    return kept


def settle(run: Path) -> int:
    """Do what `recover` does, for a caller who knows that nobody else writes the run."""
    remove_leftovers(run)
    return commit_journals(run)


def commit_journals(run: Path) -> int:
    """Commit every trial in flight as interrupted; returns how many."""
    journals = sorted(journal_folder(run).glob("*.jsonl"))
    if not journals:
        return 0
    committed, _ = committed_trials(run)
    generation = open_generation(run)
    kept = 0
    for journal in journals:
        known = read_journal(journal)
        if known is not None and known[0].trial_id not in committed:
            trial, steps = known
            commit_parts(run, generation, trial, steps, ())
            kept += 1
        journal.unlink(missing_ok=True)
    return kept
