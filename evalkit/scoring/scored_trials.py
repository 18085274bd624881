# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false, reportMissingTypeStubs=false, reportAttributeAccessIssue=false
# pyarrow ships no types.
"""Which trials does a run have, and which scores do they have?

Everything is held by column: a number for each trial and metric, no object.
"""

from __future__ import annotations

import math
import shlex
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from evalkit.errors import ConfigError
from evalkit.trajectory.reader import Run
from evalkit.trajectory.trial import Status

Unit = tuple[str, str, str]
"""What epochs are averaged over: suite, task and variant. In statistics, the task is the unit."""
_TRIAL_COLUMNS = (
    "trial_id",
    "suite",
    "suite_digest",
    "task_id",
    "task_digest",
    "variant",
    "epoch",
    "agent",
    "skills",
    "difficulty",
    "status",
)
_SCORE_COLUMNS = [
    "trial_id",
    "scorer",
    "scorer_version",
    "metric",
    "value",
    "label",
    "reference_digest",
]


@dataclass(frozen=True, slots=True)
class LightTrial:
    """What of a trial's row is needed to sum it up."""

    trial_id: str
    suite: str
    suite_digest: str | None
    task_id: str
    task_digest: str | None
    variant: str
    epoch: int
    agent: str
    skills: tuple[str, ...]
    difficulty: str | None
    status: str

    @property
    def unit(self) -> Unit:
        return (self.suite, self.task_id, self.variant)


@dataclass(frozen=True, slots=True)
class Column:
    """The scores of one metric, one a trial."""

    values: NDArray[np.float64]
    """NaN stands for unknown, here and nowhere else."""
    labels: list[str | None] | None = None
    """Only where they were asked for."""
    versions: set[str] = field(default_factory=set[str])
    """Of the scorer that gave them."""
    references: set[str] = field(default_factory=set[str])
    """Digests of the reference costs that they rest on."""
    double: set[int] = field(default_factory=set[int])
    """Trials that have two scores, of which nobody knows the right one."""
    damaged: set[int] = field(default_factory=set[int])
    """Where a stored value is no finite number."""


class ScoredTrials:
    """The trials of a run in a fixed order, whatever order they are stored in, and the scores of each metric."""

    def __init__(
        self,
        trials: Sequence[LightTrial],
        columns: Mapping[tuple[str, str], Column],
        scored_by: Mapping[str, NDArray[np.bool_]],
    ) -> None:
        self.trials = tuple(trials)
        self.columns = columns
        """By scorer and metric."""
        self.scored_by = scored_by
        """By scorer, which trials it has given scores to, be they null."""
        places = {unit: place for place, unit in enumerate(sorted({trial.unit for trial in self.trials}))}
        self.units = tuple(places)
        self.unit_of = np.array([places[trial.unit] for trial in self.trials], dtype=np.int64)
        """The place in `units` of each trial's."""
        tasks = {task: place for place, task in enumerate(sorted({unit[:2] for unit in self.units}))}
        self.task_of = np.array([tasks[unit[:2]] for unit in self.units], dtype=np.int64)
        """Which task each unit is of, whatever its variant."""
        self.unscored = np.array([trial.status == "unscored" for trial in self.trials], dtype=np.bool_)

    @cached_property
    def outcomes(self) -> Column:
        """1 for passed, 0 for failed, by what the graders said; unknown for unscored trials and impossible twins."""
        told = {"passed": 1.0, "failed": 0.0}
        return Column(
            np.array(
                [
                    np.nan if trial.variant == "twin" else told.get(trial.status, np.nan)
                    for trial in self.trials
                ]
            )
        )

    @property
    def stored(self) -> dict[str, tuple[str, ...]]:
        """The metrics of each scorer that has rows, sorted."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        for scorer, metric in sorted(self.columns):
            found[scorer].append(metric)
        return {scorer: tuple(metrics) for scorer, metrics in found.items()}


def stored_scorers(run: Run) -> tuple[str, ...]:
    """The names of the scorers that have rows in a run, sorted."""
    names: set[str] = set()
    for group in _groups(run, ["scorer"]):
        names.update(_coded(group.column("scorer"))[1])
    return tuple(sorted(names))


def read_scored(
    run: Run, *, labelled: Callable[[str, str], bool] = lambda _scorer, _metric: False
) -> ScoredTrials:
    """Read a run's trials and scores; labels only of those (scorer, metric) that are `labelled`.

    Scores of trials that the run does not show are left out. Memory holds one number for each trial and metric, and a
    row group. Whether the metrics can have these scores, and whether a trial has two that differ, is what `readable`
    tells. Raises ConfigError for damaged files.
    """
    trials = _light_trials(run)
    reader = _ScoreReader([trial.trial_id for trial in trials], labelled, run=run.path)
    for group in _groups(run, _SCORE_COLUMNS):
        reader.add(group)
    return ScoredTrials(trials, reader.columns, reader.scored_by)


def _groups(run: Run, columns: list[str]) -> Iterator[pa.Table]:
    # Without empty ones: joining no chunks at all makes pyarrow import pandas.
    return (group for group in run.scores.iter_groups(columns) if group.num_rows)


def _light_trials(run: Run) -> list[LightTrial]:
    rows = run.trials.to_table(_TRIAL_COLUMNS)
    columns = {name: rows.column(name).to_pylist() for name in _TRIAL_COLUMNS}
    columns["skills"] = [tuple(skills or ()) for skills in columns["skills"]]
    columns["variant"] = [variant or "clean" for variant in columns["variant"]]
    _check_trials(columns, f"{run.path}/trials")
    trials = [LightTrial(*row) for row in zip(*columns.values(), strict=True)]
    return sorted(trials, key=lambda trial: (trial.unit, trial.agent, trial.epoch, trial.trial_id))


def _check_trials(columns: Mapping[str, Sequence[Any]], where: str) -> None:
    for name in ("trial_id", "suite", "task_id", "epoch", "agent", "status"):
        if None in columns[name]:
            raise ConfigError(f"damaged: a trial has no {name}", where=where)
    if unknown := set(columns["status"]) - set(get_args(Status)):
        raise ConfigError(f"damaged: {min(unknown)!r} is no status of a trial", where=where)


class _ScoreReader:
    """Sorts score rows into columns."""

    def __init__(self, ids: list[str], labelled: Callable[[str, str], bool], run: str) -> None:
        self.columns: dict[tuple[str, str], Column] = {}
        self.scored_by: dict[str, NDArray[np.bool_]] = {}
        self._n = len(ids)
        builder = pa.lib.StringBuilder()  # by hand, because `pa.array` imports pandas
        builder.append_values(ids)
        self._ids = pc.SetLookupOptions(value_set=builder.finish())
        self._labelled = labelled
        self._seen: dict[tuple[str, str], NDArray[np.bool_]] = {}
        self._run = run

    def add(self, rows: pa.Table) -> None:
        if rows.column("scorer").null_count or rows.column("metric").null_count:
            raise ConfigError(
                "a score does not say of which scorer and metric it is",
                where=f"{self._run}/scores",
                hint=f"Delete that folder and compute the scores again: evalkit score {shlex.quote(self._run)}",
            )
        places = _numbers(pc.call_function("index_in", [rows.column("trial_id")], self._ids), -1, pa.int64())
        scorer, scorers = _coded(rows.column("scorer"))
        metric, metrics = _coded(rows.column("metric"))
        version, versions = _coded(rows.column("scorer_version"))
        reference, references = _coded(rows.column("reference_digest"))
        values = _numbers(rows.column("value"), math.nan, pa.float64())
        known = _numbers(pc.call_function("is_valid", [rows.column("value")]), 0, pa.int8())
        damaged = (known == 1) & ~np.isfinite(values)
        kinds = scorer * len(metrics) + metric
        order = np.argsort(kinds, kind="stable")
        edges = np.flatnonzero(np.diff(kinds[order])) + 1
        for own in np.split(order, edges) if len(order) else ():
            name = (scorers[scorer[own[0]]], metrics[metric[own[0]]])
            shown = own[places[own] >= 0]
            column = self._column(name)
            self._mark_doubles(name, column, places[shown], np.where(damaged[shown], np.nan, values[shown]))
            column.values[places[shown]] = np.where(damaged[shown], np.nan, values[shown])
            column.damaged.update(places[shown[damaged[shown]]].tolist())
            column.versions.update(versions[code] for code in np.unique(version[shown]) if code >= 0)
            column.references.update(references[code] for code in np.unique(reference[shown]) if code >= 0)
            self.scored_by.setdefault(name[0], np.zeros(self._n, dtype=np.bool_))[places[shown]] = True
            if column.labels is not None:
                self._put_labels(column.labels, rows.column("label"), shown, places)

    def _mark_doubles(
        self, name: tuple[str, str], column: Column, places: NDArray[np.int64], values: NDArray[np.float64]
    ) -> None:
        """Note the trials that have two scores which say different things."""
        seen = self._seen.setdefault(name, np.zeros(self._n, dtype=np.bool_))
        order = np.argsort(places, kind="stable")
        ordered, told = places[order], values[order]
        again = np.flatnonzero(ordered[1:] == ordered[:-1]) + 1
        pairs = [(ordered[again], told[again - 1], told[again])]
        before = seen[places]
        pairs.append((places[before], column.values[places[before]], values[before]))
        for own, one, other in pairs:
            differ = ~((one == other) | (np.isnan(one) & np.isnan(other)))
            column.double.update(own[differ].tolist())
        seen[places] = True

    def _column(self, name: tuple[str, str]) -> Column:
        if name not in self.columns:
            labels: list[str | None] = [None] * self._n
            self.columns[name] = Column(np.full(self._n, np.nan), labels if self._labelled(*name) else None)
        return self.columns[name]

    @staticmethod
    def _put_labels(
        labels: list[str | None], column: pa.ChunkedArray, shown: NDArray[np.int64], places: NDArray[np.int64]
    ) -> None:
        if column.null_count == len(column):
            return
        texts: list[str | None] = column.take(_index(shown)).to_pylist()
        for place, text in zip(places[shown].tolist(), texts, strict=True):
            labels[place] = text


def _coded(column: pa.ChunkedArray) -> tuple[NDArray[np.int64], list[str]]:
    """The column as numbers, and what they stand for."""
    coded = column.combine_chunks().dictionary_encode()
    return _numbers(coded.indices, -1, pa.int64()), [text or "" for text in coded.dictionary.to_pylist()]


def _numbers(column: pa.Array | pa.ChunkedArray, unknown: float, kind: pa.DataType) -> NDArray[Any]:
    """The column for numpy. By way of DLPack and of buffers, because `to_numpy` and `pa.scalar` import pandas."""
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    whole = whole.cast(kind)
    bare = pa.Array.from_buffers(kind, len(whole), [None, whole.buffers()[1]], offset=whole.offset)
    numbers = np.from_dlpack(bare)
    if not whole.null_count:
        return numbers
    known = np.from_dlpack(pc.call_function("is_valid", [whole]).cast(pa.int8()))
    return np.where(known == 1, numbers, unknown).astype(numbers.dtype)


def _index(places: NDArray[np.int64]) -> pa.Array:
    # By hand, as above.
    return pa.Array.from_buffers(pa.int64(), len(places), [None, pa.py_buffer(np.ascontiguousarray(places))])
