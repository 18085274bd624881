# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false, reportMissingTypeStubs=false
# pyarrow ships no types.
"""How are many finished trials written at once, when nothing is lost by beginning again?

A run that is being made keeps every trial as soon as it is there, in a file of its own. An import can start again, so
it writes large files at once: sorted pieces of bounded size, merged at the end.
"""

from __future__ import annotations

import heapq
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

import pyarrow as pa

from evalkit.trajectory.clean import cleaned
from evalkit.trajectory.compaction import slices
from evalkit.trajectory.layout import compact_name
from evalkit.trajectory.parquet import write_parquet
from evalkit.trajectory.parts import open_generation
from evalkit.trajectory.rows import steps_of_trials, trials_table
from evalkit.trajectory.schema import STEPS, TRIALS
from evalkit.trajectory.step import Act, Event, Prompt, Step, Think
from evalkit.trajectory.trial import Trial

PIECE_CHARACTERS = 16 * 1024 * 1024
PIECE_STEPS = 20_000
_GROUP_BYTES = 512 * 1024
"""Of a piece, one row group at a time is in memory while all are merged."""
_LARGE_GROUP_BYTES = 16 * 1024 * 1024
_STEPS_AT_ONCE = 1000
_TRIALS_AT_ONCE = 1000


class BulkTrials:
    """Trials that are added to a run which has no others yet, and count once `write` has been called."""

    def __init__(
        self, run: Path, *, piece_characters: int = PIECE_CHARACTERS, piece_steps: int = PIECE_STEPS
    ) -> None:
        self._run = run
        self._most_characters, self._most_steps = piece_characters, piece_steps
        self._waiting: dict[str, tuple[Trial, Sequence[Step]]] = {}
        self._characters = self._steps = 0
        self._pieces: list[tuple[Path, Path]] = []

    def add(self, trial: Trial, steps: Sequence[Step]) -> None:
        """Keep a trial. That its steps fit together, and no other has its id, is for the caller to see to."""
        row = cleaned(trial)
        kept = [cleaned(step) for step in steps]
        self._waiting[row.trial_id] = (row, kept)
        self._characters += sum(map(_characters, kept))
        self._steps += len(kept)
        if self._characters >= self._most_characters or self._steps >= self._most_steps:
            self._put_aside()

    def write(self, attempts: Mapping[str, int] | None = None) -> None:
        """Write one file for each table, sorted by trial. `attempts`: by a trial's id, where it is another attempt than
        the one that it was added as.
        """
        generation = open_generation(self._run)
        name, stands_for = compact_name(generation), f"generation <= {generation}"
        if self._pieces:
            self._put_aside()
            steps = _merged([steps for steps, _ in self._pieces], STEPS)
            trials = _merged([trials for _, trials in self._pieces], TRIALS)
        else:
            steps, trials = self._sorted_steps(), self._sorted_trials()
        if attempts:
            trials = (_renumbered(rows, attempts) for rows in trials)
        # The trials last: they are what makes the steps count.
        for table, schema, rows in (("steps", STEPS, steps), ("trials", TRIALS, trials)):
            write_parquet(
                self._run / table / name, schema, rows, group_bytes=_LARGE_GROUP_BYTES, supersedes=stands_for
            )
        for pair in self._pieces:
            for piece in pair:
                piece.unlink(missing_ok=True)

    def _put_aside(self) -> None:
        if not self._waiting:
            return
        # As names of unfinished files, so that what a death leaves behind is swept away.
        name = f".compact-{len(self._pieces) + 1:06d}.parquet.{secrets.token_hex(4)}.tmp"
        places = (self._run / "steps" / name, self._run / "trials" / name)
        write_parquet(places[0], STEPS, self._sorted_steps(), group_bytes=_GROUP_BYTES)
        write_parquet(places[1], TRIALS, self._sorted_trials(), group_bytes=_GROUP_BYTES)
        self._pieces.append(places)
        self._waiting.clear()
        self._characters = self._steps = 0

    def _sorted_steps(self) -> Iterator[pa.Table]:
        ids: list[str] = []
        steps: list[Step] = []
        for trial_id in sorted(self._waiting):
            for step in self._waiting[trial_id][1]:
                ids.append(trial_id)
                steps.append(step)
                if len(steps) == _STEPS_AT_ONCE:
                    yield steps_of_trials(ids, steps)
                    ids, steps = [], []
        if steps:
            yield steps_of_trials(ids, steps)

    def _sorted_trials(self) -> Iterator[pa.Table]:
        ids = sorted(self._waiting)
        for start in range(0, len(ids), _TRIALS_AT_ONCE):
            yield trials_table(
                [self._waiting[trial_id][0] for trial_id in ids[start : start + _TRIALS_AT_ONCE]]
            )


def _renumbered(rows: pa.Table, attempts: Mapping[str, int]) -> pa.Table:
    place = rows.schema.get_field_index("attempt")
    ids, known = rows.column("trial_id").to_pylist(), rows.column("attempt").to_pylist()
    numbers = [attempts.get(trial_id, attempt) for trial_id, attempt in zip(ids, known, strict=True)]
    return rows.set_column(place, rows.schema.field(place), pa.array(numbers, rows.schema.field(place).type))


def _merged(pieces: Iterable[Path], schema: pa.Schema) -> Iterator[pa.Table]:
    merged: Iterator[tuple[str, pa.Table]] = heapq.merge(
        *(slices(str(piece), schema) for piece in pieces), key=itemgetter(0)
    )
    return (rows for _, rows in merged)


def _characters(step: Prompt | Think | Act | Event) -> int:
    texts: tuple[Any, ...]
    if isinstance(step, Prompt):
        texts = (step.text,)
    elif isinstance(step, Think):
        texts = (step.reasoning, step.text, step.blocks)
    elif isinstance(step, Act):
        texts = (step.arguments, step.arguments_raw, step.observation, step.stdout, step.stderr)
    else:
        texts = (step.detail,)
    return sum(len(text) for text in texts if text is not None)
