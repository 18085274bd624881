# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false, reportMissingTypeStubs=false
# pyarrow ships no types.
"""What is in a run?"""

from __future__ import annotations

import difflib
import heapq
import itertools
from collections.abc import Callable, Iterator
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.fs

from evalkit.errors import ConfigError, UsageError
from evalkit.trajectory.compaction import part_order, records_by_trial
from evalkit.trajectory.effect import Effect
from evalkit.trajectory.folder import check_file, names_in, open_file
from evalkit.trajectory.layout import TableName, committed_files, current_files, finished_files
from evalkit.trajectory.locate import is_remote, local_run
from evalkit.trajectory.manifest import RunManifest
from evalkit.trajectory.parquet import LOCAL, read_groups, read_records, reading
from evalkit.trajectory.parts import place_trials
from evalkit.trajectory.rows import effects_from, scores_from, steps_from, trials_from
from evalkit.trajectory.schema import EFFECTS, SCHEMAS, SCORES, STEPS, TRIALS
from evalkit.trajectory.score import ScoreRow
from evalkit.trajectory.step import Step
from evalkit.trajectory.table import Table
from evalkit.trajectory.trial import Trial

_PLANNED_ROW = ("suite", "task_id", "variant", "epoch", "agent")


def load(run: str | Path, *, every_attempt: bool = False) -> Run:
    """Open a run for reading: a folder, a URI that pyarrow knows (`s3://...`), or `latest`.

    With `every_attempt` the trials are shown too that a further attempt has replaced, each with its steps.
    Raises UsageError where there is no run, ConfigError where its run.json is damaged or of a newer version.
    """
    if is_remote(run):
        filesystem, root = pyarrow.fs.FileSystem.from_uri(str(run))
        return Run(str(run), root.rstrip("/"), filesystem, every_attempt=every_attempt)
    folder = str(local_run(run))
    return Run(folder, folder, LOCAL, every_attempt=every_attempt)


class Run:
    """A run, opened for reading. It shows the trials that were committed when it was opened.

    Of a planned row's attempts only the highest is shown, in every table, unless every attempt was asked for.
    """

    def __init__(self, path: str, root: str, filesystem: Any, *, every_attempt: bool = False) -> None:
        self.path = path
        self._every_attempt = every_attempt
        self._root = root
        self._filesystem = filesystem
        self.manifest = RunManifest.from_json(self._manifest_text(), where=f"{path}/run.json")
        # Trials are listed first: what is committed later then has no part here that counts.
        trials = self._names("trials")
        self.trials = self._table("trials", current_files(trials))
        self.steps = self._table("steps", committed_files(self._names("steps"), trials))
        self.effects = self._table("effects", committed_files(self._names("effects"), trials))
        self.scores = self._table("scores", sorted(self._names("scores")))

    def trial(self, trial_id: str) -> tuple[Trial, tuple[Step, ...]]:
        """One trial with its steps, by its id or a beginning that only it has.

        Raises UsageError, naming the nearest ids, where it is not known.
        """
        rows = self.trials.of_trial(trial_id)
        if not rows.num_rows:
            trial_id = self._whole_id(trial_id)
            rows = self.trials.of_trial(trial_id)
        with reading(self.path):
            own = tuple(steps_from(self.steps.of_trial(trial_id)))
            return trials_from(rows)[0], self._once(trial_id, own)

    def effects_of(self, trial_id: str) -> tuple[Effect, ...]:
        """The lasting changes of one trial, by its whole id."""
        with reading(self.path):
            return tuple(effects_from(self.effects.of_trial(trial_id)))

    def rows(self) -> tuple[Trial, ...]:
        """Every trial without its steps, in the order of their ids."""
        table = self.trials.to_table().sort_by("trial_id")
        with reading(self.path):
            return tuple(trials_from(table))

    def iter_rows(self) -> Iterator[Trial]:
        """Every trial without its steps, in the order of their ids; memory holds a row group."""
        hidden = set(self._hidden)
        order = part_order(self.trials.files, self._filesystem)
        for trial_id, trial in records_by_trial(
            self.trials.files, TRIALS, trials_from, order, self._filesystem
        ):
            if trial_id not in hidden:
                yield trial

    def iter_trials(self) -> Iterator[tuple[Trial, tuple[Step, ...]]]:
        """Every trial with its steps, in the order of their ids; memory holds a row group and one trial."""
        steps = self._by_trial(self.steps, STEPS, steps_from)
        for trial in self.iter_rows():
            yield trial, self._once(trial.trial_id, steps.of(trial.trial_id))

    def iter_whole(self) -> Iterator[tuple[Trial, tuple[Step, ...], tuple[Effect, ...]]]:
        """Every trial with its steps and effects, as `iter_trials` does."""
        effects = self._by_trial(self.effects, EFFECTS, effects_from)
        for trial, steps in self.iter_trials():
            yield trial, steps, effects.of(trial.trial_id)

    def scores_by_trial(self) -> Callable[[str], tuple[ScoreRow, ...]]:
        """What gives the scores of a trial by its id, asked for in the order of the ids.

        Memory holds a few rows of each file; of one that is not in that order, which evalkit never writes, all of them.
        """
        streams = [self._scores_in_order(path) for path in self.scores.files]
        return _ByTrial(heapq.merge(*streams, key=itemgetter(0))).of

    def _scores_in_order(self, path: str) -> Iterator[tuple[str, ScoreRow]]:
        records = read_records(path, SCORES, scores_from, self._filesystem)
        last = ""
        for rows in read_groups(path, SCORES, self._filesystem, ["trial_id"]):
            ids: list[str | None] = rows.column("trial_id").to_pylist()
            known = [last, *(trial_id for trial_id in ids if trial_id is not None)]
            if any(one > next_one for one, next_one in itertools.pairwise(known)):
                return iter(sorted(records, key=itemgetter(0)))
            last = known[-1]
        return records

    def _by_trial(self, table: Table, schema: Any, records: Any) -> _ByTrial:
        order = part_order(self.trials.files, self._filesystem)
        return _ByTrial(records_by_trial(table.files, schema, records, order, self._filesystem))

    def _once(self, trial_id: str, steps: tuple[Step, ...]) -> tuple[Step, ...]:
        """The steps, which are there once each. Raises ConfigError, naming the files, where they are not."""
        if len({step.step for step in steps}) == len(steps):
            return steps
        holding = [
            path
            for path in self.steps.files
            if any(
                trial_id in rows.column("trial_id").to_pylist()
                for rows in read_groups(path, STEPS, self._filesystem, ["trial_id"], trial_id)
            )
        ]
        raise ConfigError(
            f"steps of the trial {trial_id!r} are there twice",
            where=", ".join(holding),
            hint="Move the file that is too much out of the run; nothing is counted twice.",
        )

    def _whole_id(self, beginning: str) -> str:
        ids: list[str] = sorted(self.trials.to_table(["trial_id"]).column("trial_id").to_pylist())
        matching = [trial_id for trial_id in ids if trial_id.startswith(beginning)]
        if beginning in ids or len(matching) == 1:
            return beginning if beginning in ids else matching[0]
        if matching:
            problem = f"{len(matching)} trials begin with {beginning!r}"
            hint = f"Say more of the id: {', '.join(matching[:4])}{', ...' if len(matching) > 4 else ''}"
        else:
            near = difflib.get_close_matches(beginning, ids, n=1)
            problem = f"there is no trial {beginning!r} in this run"
            hint = f"Did you mean {near[0]}?" if near else f"See what there is: evalkit show {self.path}"
        raise UsageError(problem, where=self.path, hint=hint)

    @cached_property
    def _hidden(self) -> tuple[str, ...]:
        """Ids of trials that a further attempt has replaced."""
        everything = Table(self.trials.files, TRIALS, self._filesystem, hidden=tuple)
        places: dict[str, str] = {}
        highest = 1
        for path in self.trials.files:
            for rows in read_groups(path, TRIALS, self._filesystem, ["trial_id", "attempt"]):
                place_trials(places, rows.column("trial_id").to_pylist(), path)
                highest = max(highest, pc.call_function("max", [rows.column("attempt")]).as_py() or 1)
        if highest <= 1 or self._every_attempt:
            return ()
        rows = everything.to_table(["trial_id", "attempt", *_PLANNED_ROW]).to_pylist()
        rows.sort(key=_by_attempt)
        last = {tuple(row[name] for name in _PLANNED_ROW): row["trial_id"] for row in rows}
        shown = set(last.values())
        return tuple(row["trial_id"] for row in rows if row["trial_id"] not in shown)

    def _table(self, name: TableName, files: list[str]) -> Table:
        paths = [f"{self._root}/{name}/{file}" for file in files]
        return Table(paths, SCHEMAS[name], self._filesystem, hidden=lambda: self._hidden)

    def _names(self, table: TableName) -> list[str]:
        if self._filesystem is LOCAL:
            found = finished_files(names_in(Path(self._root, table)), table, f"{self._root}/{table}")
            for name in found:
                with reading(f"{self._root}/{table}/{name}"):
                    check_file(Path(self._root, table, name))
            return found
        selector = pyarrow.fs.FileSelector(f"{self._root}/{table}", allow_not_found=True)
        names = [info.base_name for info in self._filesystem.get_file_info(selector) if info.is_file]
        return finished_files(names, table, f"{self._root}/{table}")

    def _manifest_text(self) -> bytes:
        try:
            if self._filesystem is LOCAL:
                with open_file(Path(self._root, "run.json")) as source:
                    return source.read()
            with self._filesystem.open_input_stream(f"{self._root}/run.json") as source:
                return source.read()
        except OSError as error:
            raise UsageError(
                "this is no run: it holds no run.json that can be read", where=self.path
            ) from error


class _ByTrial:
    """Records that come in the order of their trials' ids, handed out trial by trial."""

    def __init__(self, records: Iterator[tuple[str, Any]]) -> None:
        self._groups = itertools.groupby(records, key=itemgetter(0))
        self._trial_id, self._group = next(self._groups, (None, iter(())))

    def of(self, trial_id: str) -> tuple[Any, ...]:
        """Those of one trial, which must not be before one that was asked for already."""
        while self._trial_id is not None and self._trial_id < trial_id:
            self._trial_id, self._group = next(self._groups, (None, iter(())))
        return tuple(record for _, record in self._group) if self._trial_id == trial_id else ()


def _by_attempt(row: dict[str, Any]) -> tuple[int, str]:
    return row["attempt"] or 1, row["trial_id"]
