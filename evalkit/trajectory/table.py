# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false, reportMissingTypeStubs=false, reportAttributeAccessIssue=false
# pyarrow ships no types.
"""What do the rows of one table of a run look like to someone who analyses them?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from evalkit.trajectory.layout import file_key, is_part
from evalkit.trajectory.parquet import check_parquet, read_groups, reading

if TYPE_CHECKING:
    import pandas as pd


class Table:
    """A table of a run. Nothing is read before it is asked for; rows that do not count are not in it.

    Every method raises ConfigError, naming the file, for one that is damaged or of a newer version.
    """

    def __init__(
        self,
        files: Sequence[str],
        schema: pa.Schema,
        filesystem: Any,
        hidden: Callable[[], Sequence[str]],
    ) -> None:
        self.files = tuple(files)
        self.schema = schema
        self._filesystem = filesystem
        self._hidden = hidden

    @cached_property
    def dataset(self) -> Any:
        """A lazy `pyarrow.dataset.Dataset` of the rows."""
        import pyarrow.dataset as ds  # brings pandas with it, which takes longer than most commands

        for path in self.files:
            check_parquet(path, self._filesystem)
        if not self.files:
            return ds.dataset(self.schema.empty_table())
        dataset = ds.dataset(
            list(self.files), schema=self.schema, filesystem=self._filesystem, format="parquet"
        )
        hidden = self._hidden()
        return dataset.filter(~ds.field("trial_id").isin(list(hidden))) if hidden else dataset

    def to_table(self, columns: Sequence[str] | None = None, filter: Any = None) -> pa.Table:  # noqa: A002 - pyarrow's name
        """The rows as an Arrow table: of these columns, and where this `pyarrow` expression holds."""
        if filter is None:
            return self._visible(columns)
        try:
            return self.dataset.to_table(columns=None if columns is None else list(columns), filter=filter)
        except (pa.ArrowInvalid, OSError):
            self._refuse_damaged()
            raise

    def iter_groups(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """The rows of these columns, a row group in memory at a time."""
        return self._groups(list(columns))

    def to_pandas(self, columns: Sequence[str] | None = None, filter: Any = None) -> pd.DataFrame:  # noqa: A002
        """The rows as a frame in which unknown numbers are `<NA>`, never NaN or 0."""
        import pandas as pd

        kinds = {
            pa.int64(): pd.Int64Dtype(),
            pa.float64(): pd.Float64Dtype(),
            pa.bool_(): pd.BooleanDtype(),
        }
        return self.to_table(columns, filter).to_pandas(types_mapper=kinds.get)

    def count_rows(self) -> int:
        """How many rows there are."""
        return self._visible(["trial_id"]).num_rows

    def of_trial(self, trial_id: str) -> pa.Table:
        """The rows of one trial; none where it is unknown or was replaced."""
        if trial_id in self._hidden():
            return _no_rows(self.schema)
        wanted = _text_array([trial_id])[0]
        own_part = f"-{file_key(trial_id)}.parquet"
        files = (
            path for path in self.files if not is_part(path.rpartition("/")[2]) or path.endswith(own_part)
        )
        groups = (
            rows.filter(pc.equal(rows.column("trial_id"), wanted))
            for path in files
            for rows in read_groups(path, self.schema, self._filesystem, trial_id=trial_id)
        )
        return pa.concat_tables([_no_rows(self.schema), *groups])

    def _visible(self, columns: Sequence[str] | None) -> pa.Table:
        names = list(self.schema.names if columns is None else columns)
        unknown = [name for name in names if name not in self.schema.names]
        if unknown:
            raise KeyError(f"no column {unknown[0]!r}; there are {', '.join(self.schema.names)}")
        return pa.concat_tables(self._groups(names))

    def _groups(self, names: list[str]) -> Iterator[pa.Table]:
        hidden = _text_array(self._hidden())
        needed = names if "trial_id" in names else [*names, "trial_id"]
        yield _no_rows(pa.schema([self.schema.field(name) for name in names]))
        for path in self.files:
            for rows in read_groups(path, self.schema, self._filesystem, needed):
                if len(hidden):
                    rows = rows.filter(pc.invert(pc.is_in(rows.column("trial_id"), hidden)))  # noqa: PLW2901
                yield rows.select(names)

    def _refuse_damaged(self) -> None:
        """Raise ConfigError for the first file that cannot be read to its end."""
        for path in self.files:
            with reading(path):
                for _ in read_groups(path, self.schema, self._filesystem):
                    pass


# `pa.array` and `Schema.empty_table` import pandas, to look whether they were given something of it; that
# takes longer than most commands.


def _no_rows(schema: pa.Schema) -> pa.Table:
    return pa.Table.from_batches([], schema=schema)


def _text_array(texts: Sequence[str]) -> pa.Array:
    builder = pa.lib.StringBuilder()
    builder.append_values(list(texts))
    return builder.finish()
