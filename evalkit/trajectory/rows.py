# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false, reportMissingTypeStubs=false, reportAttributeAccessIssue=false
# pyarrow ships no types.
"""How does a record become rows of a table, and rows become records again?"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from evalkit.trajectory.effect import Effect
from evalkit.trajectory.schema import EFFECTS, SCORES, STEPS, TRIALS
from evalkit.trajectory.score import ScoreRow
from evalkit.trajectory.step import Act, Event, Prompt, Step, Think
from evalkit.trajectory.trial import Trial

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_STEP_TYPES: dict[str, type[Prompt | Think | Act | Event]] = {
    kind.kind: kind for kind in (Prompt, Think, Act, Event)
}


def trials_table(trials: Sequence[Trial]) -> pa.Table:
    """Rows of `trials`."""
    return _table(trials, TRIALS)


def steps_table(trial_id: str, steps: Sequence[Step]) -> pa.Table:
    """Rows of `steps`."""
    return _table(steps, STEPS, trial_id=[trial_id] * len(steps))


def steps_of_trials(trial_ids: Sequence[str], steps: Sequence[Step]) -> pa.Table:
    """Rows of `steps`, each of the trial whose id stands in its place."""
    return _table(steps, STEPS, trial_id=trial_ids)


def effects_table(effects: Sequence[Effect]) -> pa.Table:
    """Rows of `effects`."""
    return _table(effects, EFFECTS)


def scores_table(scores: Sequence[ScoreRow]) -> pa.Table:
    """Rows of `scores`."""
    return _table(scores, SCORES)


def trials_from(table: pa.Table) -> list[Trial]:
    """The trials of rows under the current schema. Raises ValueError for impossible values."""
    return _records(table, Trial)


def effects_from(table: pa.Table) -> list[Effect]:
    """The effects of rows under the current schema. Raises ValueError for impossible values."""
    return _records(table, Effect)


def scores_from(table: pa.Table) -> list[ScoreRow]:
    """The scores of rows under the current schema. Raises ValueError for impossible values."""
    return _records(table, ScoreRow)


def steps_from(table: pa.Table) -> list[Step]:
    """The steps of rows under the current schema, in their order. Raises ValueError for impossible values."""
    kinds: list[str] = table.column("kind").to_pylist()
    places: dict[str, list[int]] = {}
    for place, kind in enumerate(kinds):
        places.setdefault(kind, []).append(place)
    steps: list[Any] = [None] * len(kinds)
    for kind, rows in places.items():
        record = _STEP_TYPES.get(kind)
        if record is None:
            raise ValueError(f"unknown kind of step: {kind!r}")
        part = table if len(places) == 1 else _of_kind(table, rows[0])
        for place, step in zip(rows, _records(part, record), strict=True):
            steps[place] = step
    return steps


def _of_kind(table: pa.Table, example: int) -> pa.Table:
    # Compared with a value of the column itself, because a Python value makes pyarrow import pandas.
    column = table.column("kind")
    return table.filter(pc.equal(column, column[example]))


def _table(records: Sequence[object], schema: pa.Schema, **columns: Sequence[str]) -> pa.Table:
    arrays: list[Any] = []
    for field in schema:
        values = columns.get(field.name) or [
            getattr(record, _attribute(field.name), None) for record in records
        ]
        if pa.types.is_map(field.type):
            values = [list(value.items()) if isinstance(value, Mapping) else None for value in values]
        arrays.append(pa.chunked_array([pa.array(values, type=field.type)], type=field.type))
    return pa.Table.from_arrays(arrays, schema=schema)


def _records(table: pa.Table, record: type[Any]) -> list[Any]:
    names: list[str] = []
    columns: list[list[Any]] = []
    for field in dataclasses.fields(record):
        column = table.column(field.name.removesuffix("_"))
        if column.null_count == len(column):
            if field.default is dataclasses.MISSING and len(column):
                raise ValueError(f"column {field.name} is empty")
            continue
        names.append(field.name)
        columns.append(_values(column, field.default))
    return [record(**dict(zip(names, row, strict=True))) for row in zip(*columns, strict=True)]


def _values(column: pa.ChunkedArray, default: object) -> list[Any]:
    if pa.types.is_timestamp(column.type):
        return [None if value is None else _time(value) for value in column.cast(pa.int64()).to_pylist()]
    values: list[Any] = column.to_pylist()
    if pa.types.is_map(column.type):
        return [None if value is None else dict(value) for value in values]
    if pa.types.is_list(column.type):
        return [() if value is None else tuple(value) for value in values]
    if column.null_count and default is not None and default is not dataclasses.MISSING:
        return [default if value is None else value for value in values]
    return values


def _time(microseconds: int) -> datetime:
    # By hand, because pyarrow imports pandas to make times.
    try:
        return _EPOCH + timedelta(microseconds=microseconds)
    except OverflowError as error:
        raise ValueError(f"no time that Python can hold: {microseconds} microseconds from 1970") from error


def _attribute(column: str) -> str:
    return "class_" if column == "class" else column
