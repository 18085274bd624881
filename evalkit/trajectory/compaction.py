# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false, reportMissingTypeStubs=false
# pyarrow ships no types.
"""How do many small files of a run become one large file a table, sorted by trial?"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

import pyarrow as pa

from evalkit.errors import ConfigError
from evalkit.trajectory.folder import check_folders
from evalkit.trajectory.layout import TableName, committed_files, compact_name, current_files, is_part
from evalkit.trajectory.parquet import LOCAL, read_groups, read_records, write_parquet
from evalkit.trajectory.parts import open_generation, remove_leftovers, table_files
from evalkit.trajectory.schema import SCHEMAS, TRIALS


def compact(run: Path) -> None:
    """Replace all current files of `steps`, `effects` and `trials` by one each.

    The large file stands for the small ones as soon as it has its name; they are deleted only then.
    Killed at any moment, the run reads the same as before.
    """
    check_folders(run)
    trials = table_files(run, "trials")
    current = current_files(trials)
    if any(map(is_part, current)):
        generation = open_generation(run)
        order = part_order([str(run / "trials" / name) for name in current])
        for table in ("steps", "effects"):
            _compact_table(run, table, committed_files(table_files(run, table), trials), order, generation)
        _compact_table(run, "trials", current, order, generation)
    remove_leftovers(run)


def part_order(trial_files: Sequence[str], filesystem: Any = LOCAL) -> dict[str, str]:
    """From the name of each part among these files to the id of its trial, in the order of the ids."""
    ids: list[tuple[str, str]] = []
    for path in trial_files:
        name = path.rpartition("/")[2]
        if is_part(name):
            own: list[str | None] = [
                trial_id
                for table in read_groups(path, TRIALS, filesystem, ["trial_id"])
                for trial_id in table.column("trial_id").to_pylist()
            ]
            if len(own) != 1 or own[0] is None:
                raise ConfigError(f"must hold one trial, and holds {len(own)} rows", where=path)
            ids.append((own[0], name))
    return {name: trial_id for trial_id, name in sorted(ids)}


def _compact_table(
    run: Path, table: TableName, names: Sequence[str], order: dict[str, str], generation: int
) -> None:
    if not any(map(is_part, names)):
        return
    schema = SCHEMAS[table]
    have = set(names)
    parts = (
        (trial_id, rows)
        for name, trial_id in order.items()
        if name in have
        for rows in read_groups(str(run / table / name), schema)
    )
    large = [slices(str(run / table / name), schema) for name in names if not is_part(name)]
    merged = heapq.merge(parts, *large, key=itemgetter(0))
    target = run / table / compact_name(generation)
    write_parquet(target, schema, (rows for _, rows in merged), supersedes=f"generation <= {generation}")


def slices(path: str, schema: pa.Schema) -> Iterator[tuple[str, pa.Table]]:
    """The rows of a large file, one trial at a time (a trial that spans row groups comes in pieces)."""
    for table in read_groups(path, schema):
        ids: list[str] = table.column("trial_id").to_pylist()
        start = 0
        for place in range(1, len(ids) + 1):
            if place == len(ids) or ids[place] != ids[start]:
                yield ids[start], table.slice(start, place - start)
                start = place


def records_by_trial(
    paths: Sequence[str],
    schema: pa.Schema,
    records: Any,
    order: dict[str, str],
    filesystem: Any = LOCAL,
) -> Iterator[tuple[str, Any]]:
    """Every record of these files with its trial's id, in the order of the ids, one row group at a time."""
    by_name = {path.rpartition("/")[2]: path for path in paths}
    parts = (
        pair
        for name in order
        if name in by_name
        for pair in read_records(by_name[name], schema, records, filesystem)
    )
    large = [
        read_records(path, schema, records, filesystem) for name, path in by_name.items() if not is_part(name)
    ]
    return heapq.merge(parts, *large, key=itemgetter(0))
