# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false, reportMissingTypeStubs=false, reportUnknownLambdaType=false
# pyarrow ships no types.
"""How is one Parquet file of a run written and read?"""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Callable, Generator, Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.fs
import pyarrow.parquet as pq

from evalkit.errors import ConfigError, UsageError
from evalkit.trajectory.atomic import replacing
from evalkit.trajectory.folder import check_file
from evalkit.trajectory.schema import check_version, upgraded

ROW_GROUP_BYTES = 64 * 1024 * 1024
_PIECES = 32
"""A table of a few rows takes many times its `nbytes`, so as many as this are joined early."""
_ROW_GROUP_ROWS = 64 * 1024
_ROWS_AT_ONCE = 2 * 1024
"""As Python objects, rows take many times what they take in a row group."""

LOCAL = pyarrow.fs.LocalFileSystem()


def write_parquet(
    target: Path,
    schema: pa.Schema,
    tables: Iterable[pa.Table],
    *,
    group_bytes: int = ROW_GROUP_BYTES,
    **metadata: str,
) -> None:
    """Write tables one after the other into one file, which appears whole or not at all."""
    extended = schema.with_metadata({**(schema.metadata or {}), **metadata})
    with (
        replacing(target) as temporary,
        pq.ParquetWriter(temporary, extended, compression="zstd", use_dictionary=True) as writer,
    ):
        for group in row_groups(tables, group_bytes):
            writer.write_table(group, row_group_size=max(1, group.num_rows))


def row_groups(tables: Iterable[pa.Table], limit: int = ROW_GROUP_BYTES) -> Iterator[pa.Table]:
    """The same rows in tables of at most `limit` bytes each; a single row may be larger."""
    pending: list[pa.Table] = []
    size = rows = 0
    for table in tables:
        for piece in _pieces(table, limit):
            if pending and (size + piece.nbytes > limit or rows + piece.num_rows > _ROW_GROUP_ROWS):
                yield pa.concat_tables(pending).combine_chunks()
                pending, size, rows = [], 0, 0
            if len(pending) == _PIECES:
                pending = [pa.concat_tables(pending).combine_chunks()]
            pending.append(piece)
            size += piece.nbytes
            rows += piece.num_rows
    if pending:
        yield pa.concat_tables(pending).combine_chunks()


def _pieces(table: pa.Table, limit: int) -> Iterator[pa.Table]:
    if table.num_rows <= 1 or (table.nbytes <= limit and table.num_rows <= _ROW_GROUP_ROWS):
        yield table
        return
    middle = table.num_rows // 2
    yield from _pieces(table.slice(0, middle), limit)
    yield from _pieces(table.slice(middle), limit)


def _run_of(where: str) -> str:
    """The run that a file of a table belongs to; what is no such file is the run itself."""
    return where.rpartition("/")[0].rpartition("/")[0] or "." if where.endswith(".parquet") else where


@contextlib.contextmanager
def reading(where: str) -> Generator[None, None, None]:
    """Turn a damaged file into a ConfigError that names it, and a vanished one into a UsageError."""
    try:
        yield
    except FileNotFoundError as error:
        hint = "The run may have been compacted just now; open it again."
        raise UsageError("no longer there", where=where, hint=hint) from error
    except (pa.ArrowException, OSError, EOFError, ValueError) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        verb = "score" if where.endswith(".parquet") and where.split("/")[-2:-1] == ["scores"] else "resume"
        hint = f"It is cut off or damaged; restore it, or delete it and: evalkit {verb} {shlex.quote(_run_of(where))}"
        raise ConfigError(f"cannot be read: {reason}", where=where, hint=hint) from error


def _source(path: str, filesystem: Any) -> Any:
    """A file opened for reading; of a local one it is known that it is a regular file and no link."""
    if isinstance(filesystem, pyarrow.fs.LocalFileSystem):
        check_file(path)
    return filesystem.open_input_file(path)


def check_parquet(path: str, filesystem: Any = LOCAL) -> None:
    """Raise ConfigError unless this is a whole Parquet file of a version that can be read."""
    with reading(path), _source(path, filesystem) as source:
        metadata: dict[bytes, bytes] | None = pq.read_metadata(source).metadata
    check_version(metadata, path)


def read_groups(
    path: str,
    schema: pa.Schema,
    filesystem: Any = LOCAL,
    columns: list[str] | None = None,
    trial_id: str | None = None,
) -> Iterator[pa.Table]:
    """The rows of a file under the current schema, one row group in memory at a time.

    With a `trial_id`, row groups that cannot hold that trial are left out.
    """
    wanted = schema if columns is None else pa.schema([schema.field(name) for name in columns])
    with contextlib.ExitStack() as stack:
        with reading(path):
            source = stack.enter_context(_source(path, filesystem))
            file = stack.enter_context(pq.ParquetFile(source))
        check_version(file.metadata.metadata, path)
        present = None if columns is None else [name for name in columns if name in file.schema_arrow.names]
        for number in range(file.num_row_groups):
            if trial_id is not None and not _may_hold(file, number, trial_id):
                continue
            with reading(path):
                table = upgraded(file.read_row_group(number, columns=present, use_threads=False), wanted)
            yield table


def _may_hold(file: pq.ParquetFile, number: int, trial_id: str) -> bool:
    group = file.metadata.row_group(number)
    for place in range(group.num_columns):
        column = group.column(place)
        if column.path_in_schema == "trial_id":
            statistics = column.statistics
            if statistics is None or not statistics.has_min_max:
                return True
            return statistics.min <= trial_id <= statistics.max
    return True


def read_records(
    path: str,
    schema: pa.Schema,
    records: Callable[[pa.Table], list[Any]],
    filesystem: Any = LOCAL,
) -> Iterator[tuple[str, Any]]:
    """Each record of a file with its trial's id. Impossible values are a ConfigError that names the file."""
    for group in read_groups(path, schema, filesystem):
        for start in range(0, group.num_rows, _ROWS_AT_ONCE):
            with reading(path):
                table = group.slice(start, _ROWS_AT_ONCE)
                ids: list[str] = table.column("trial_id").to_pylist()
                if table.column("trial_id").null_count:
                    raise ValueError("a row without a trial_id")
                pairs = list(zip(ids, records(table), strict=True))
            yield from pairs
