"""How is a run written, so that a crash at any moment loses no finished trial?"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Self

from evalkit.errors import UsageError
from evalkit.trajectory.artifacts import ArtifactStore
from evalkit.trajectory.atomic import write_text, writing
from evalkit.trajectory.clean import valid_text
from evalkit.trajectory.compaction import compact
from evalkit.trajectory.consistency import check_trajectory
from evalkit.trajectory.effect import Effect
from evalkit.trajectory.folder import check_folders, open_file
from evalkit.trajectory.journal import TrialJournal, interrupted
from evalkit.trajectory.layout import (
    TABLES,
    artifacts_folder,
    is_unfinished,
    journal_file,
    journal_folder,
    manifest_file,
    owner_file,
)
from evalkit.trajectory.locate import local_run, new_run_path
from evalkit.trajectory.manifest import RunManifest
from evalkit.trajectory.owner import claim, exclusive, read_owner, release
from evalkit.trajectory.parts import (
    attempt_of,
    commit_parts,
    committed_trials,
    open_generation,
    remove_leftovers,
)
from evalkit.trajectory.recovery import commit_journals, settle
from evalkit.trajectory.score import ScoreRow
from evalkit.trajectory.score_files import write_scores
from evalkit.trajectory.step import Step
from evalkit.trajectory.trial import Trial


class RunWriter:
    """The one process that adds trials to a run, made by `create` or `open`.

    It may be used from several threads. As a context manager it gives the run up at the end (`close`),
    without compacting it (`finish`). Every method raises UsageError where the disk does not take what is
    written, and leaves nothing half-written.
    """

    def __init__(self, path: Path, manifest: RunManifest) -> None:
        self.path = path
        self.manifest = manifest
        self.artifacts = ArtifactStore(artifacts_folder(path))
        self._lock = threading.Lock()
        self._journals: dict[str, TrialJournal] = {}
        self._committed, self._attempts = committed_trials(path)
        self._generation = open_generation(path)

    @classmethod
    def create(cls, path: str | Path, manifest: RunManifest) -> Self:
        """Begin a new run. Raises UsageError where the folder exists and holds anything.

        What is left of a beginning whose process died before there was a run is nothing.
        """
        run = new_run_path(path)
        with writing(run):
            run.mkdir(parents=True, exist_ok=True)
            with exclusive(run):
                if not _nothing_begun(run):
                    raise UsageError(
                        "this folder is not empty",
                        where=str(run),
                        hint=f"To go on with the run in it: evalkit resume {run}",
                    )
                _lay_out(run, manifest)
        return cls(run, manifest)

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Go on with a run, after recovering it. Raises UsageError while another process writes it."""
        run = local_run(path)
        where = str(manifest_file(run))
        check_folders(run)
        with writing(run), open_file(manifest_file(run)) as source:
            manifest = RunManifest.from_json(source.read(), where=where)
        with writing(run), exclusive(run):
            claim(run)
            try:
                for folder in (*TABLES, journal_folder(run).name):
                    (run / folder).mkdir(exist_ok=True)
                settle(run)
                return cls(run, manifest)
            except BaseException:
                with contextlib.suppress(OSError):
                    release(run)
                raise

    def begin(self, trial_id: str, header: Mapping[str, object]) -> TrialJournal:
        """Keep a journal of a trial in flight, so that its steps survive a crash.

        `header` holds what is known of the `Trial` already, by column: at least its identity. Raises
        ValueError where it is incomplete, or the trial was begun or committed before.
        """
        trial = interrupted({"run_id": self.manifest.run_id, **header, "trial_id": trial_id})
        with self._lock:
            self._check_new(trial)
            if trial_id in self._journals:
                raise ValueError(f"trial {trial_id!r} was begun before")
            journal = TrialJournal(journal_file(self.path, _stored_id(trial)), trial)
            self._journals[trial_id] = journal
        return journal

    def commit(self, trial: Trial, steps: Sequence[Step], effects: Sequence[Effect] = ()) -> None:
        """Add a finished trial, whole or not at all, and drop its journal.

        Raises ValueError for steps that do not fit together, and for an id that was committed before.
        """
        check_trajectory(trial, steps, effects)
        with self._lock, writing(self.path):
            self._check_new(trial)
            commit_parts(self.path, self._generation, trial, steps, effects)
            self._committed.add(_stored_id(trial))
            self._attempts.add(attempt_of(trial))
            journal = self._journals.pop(trial.trial_id, None)
            if journal is not None:
                journal.close()
                journal.path.unlink(missing_ok=True)

    def write_scores(self, scores: Iterable[ScoreRow], *, scorers: Collection[str] = ()) -> None:
        """See `evalkit.trajectory.score_files.write_scores`."""
        write_scores(self.path, scores, scorers=scorers)

    def finish(self) -> None:
        """Make one large file a table and give the run up. Trials still in flight are kept as interrupted."""
        with self._lock, writing(self.path):
            self._close_journals()
            try:
                commit_journals(self.path)
                compact(self.path)
            finally:
                # A compaction that was cut short may stand for this generation already.
                self._generation = open_generation(self.path)
            release(self.path)

    def close(self) -> None:
        """Give the run up as it is. Trials in flight stay in the journal until the run is recovered."""
        with self._lock, writing(self.path):
            self._close_journals()
            release(self.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check_new(self, trial: Trial) -> None:
        if trial.run_id != self.manifest.run_id:
            raise ValueError(f"a trial of run {trial.run_id!r} in run {self.manifest.run_id!r}")
        if _stored_id(trial) in self._committed:
            raise ValueError(f"trial {trial.trial_id!r} was committed before")
        if attempt_of(trial) in self._attempts:
            raise ValueError(
                f"attempt {trial.attempt} at the planned row of {trial.trial_id!r} was committed before"
            )

    def _close_journals(self) -> None:
        for journal in self._journals.values():
            journal.close()
        self._journals.clear()


def _stored_id(trial: Trial) -> str:
    return valid_text(trial.trial_id)[0]


def _nothing_begun(run: Path) -> bool:
    """Whether a folder is empty, but for what a process has left that died before it had written run.json."""
    folders = {*TABLES, artifacts_folder(run).name, journal_folder(run).name}
    for path in run.iterdir():
        if path.name in folders and not path.is_symlink() and path.is_dir():
            if any(path.iterdir()):
                return False
        elif path == owner_file(run):
            owner = read_owner(run)
            if owner is not None and owner.is_alive():
                return False
        elif not is_unfinished(path.name):
            return False
    return True


def _lay_out(run: Path, manifest: RunManifest) -> None:
    folders = [run / name for name in (*TABLES, artifacts_folder(run).name, journal_folder(run).name)]
    try:
        claim(run)
        for folder in folders:
            folder.mkdir(exist_ok=True)
        remove_leftovers(run)
        write_text(manifest_file(run), manifest.to_json())
    except BaseException:
        with contextlib.suppress(OSError):
            release(run)
            for folder in folders:
                folder.rmdir()
        raise
