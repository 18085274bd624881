"""What has a trial in flight done so far?

One JSON object a line: the trial's header, then its steps. A line that was cut off when the process died
ends what is known, and so does one that makes no sense.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, cast

from evalkit.errors import ConfigError
from evalkit.trajectory.atomic import writing
from evalkit.trajectory.clean import cleaned
from evalkit.trajectory.column_types import record_from
from evalkit.trajectory.consistency import consistent_prefix
from evalkit.trajectory.folder import check_folder, open_file, opened
from evalkit.trajectory.step import Act, Event, Prompt, Step, Think
from evalkit.trajectory.trial import Trial

_STEP_TYPES: dict[str, type[Prompt | Think | Act | Event]] = {
    kind.kind: kind for kind in (Prompt, Think, Act, Event)
}
_UNDECIDED = frozenset({"reward", "rewards", "checks"})
_LONGEST_LINE = 256 * 1024 * 1024


class TrialJournal:
    """The append-only file of one trial in flight.

    When `append` returns, the step survives the death of this process.
    """

    def __init__(self, path: Path, header: Trial) -> None:
        self.path = path
        with writing(path.parent.parent):
            check_folder(path.parent)
            path.parent.mkdir(exist_ok=True)
            # A file of this name is none of this trial's, and may lead anywhere.
            self._handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
            try:
                self._write(_fields(cleaned(header)))
            except OSError:
                self.close()
                path.unlink(missing_ok=True)
                raise

    def append(self, step: Step) -> None:
        """Add one step. Raises UsageError where the disk does not take it."""
        with writing(self.path.parent.parent):
            self._write({"kind": step.kind, **_fields(cleaned(step))})

    def close(self) -> None:
        """Stop writing. Once is enough, twice does no harm."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def _write(self, fields: Mapping[str, object]) -> None:
        line = json.dumps(fields, default=_plain).encode("ascii") + b"\n"
        while line:
            line = line[os.write(self._handle, line) :]


@dataclass(frozen=True, slots=True)
class Journal:
    """What a journal says."""

    trial: Trial | None
    """As interrupted; None where not even the header can be read."""
    steps: tuple[Step, ...]
    """Those before the first that makes no sense."""
    sound: bool
    """Whether everything in it was understood, but for a last line that was cut off."""


def interrupted(header: Mapping[str, object]) -> Trial:
    """What becomes of a trial that was begun with this header and never finished.

    Raises ValueError for a header that says no trial: unknown columns, values of other types than their
    columns, or the identity incomplete.
    """
    given = {name: value for name, value in header.items() if name not in _UNDECIDED and value is not None}
    try:
        return record_from(
            Trial,
            {
                **given,
                "status": "unscored",
                "error_origin": "harness",
                "error_type": "interrupted",
                "error_message": "The process that ran this trial ended before the trial did.",
            },
        )
    except ValueError as error:
        raise ValueError(f"not the header of a trial: {error}") from error


def read_journal(path: Path) -> Journal:
    """What is known from a journal. One that cannot be opened or is no regular file says nothing."""
    try:
        with opened(path.parent) as folder, open_file(path, folder) as source:
            return _read(source)
    except (ConfigError, OSError):
        return Journal(None, (), sound=False)


def _read(source: BinaryIO) -> Journal:
    lines = iter(lambda: source.readline(_LONGEST_LINE), b"")
    first = next(lines, None)
    if first is None:
        return Journal(None, (), sound=True)
    try:
        trial = interrupted(_object(first))
    except (ValueError, RecursionError):
        return Journal(None, (), sound=False)
    steps: list[Step] = []
    sound = True
    for line in lines:
        if not line.endswith(b"\n") and len(line) < _LONGEST_LINE:
            break  # It was being written when the process died.
        try:
            steps.append(_step(_object(line)))
        except (ValueError, RecursionError):
            sound = False
            break
    consistent = consistent_prefix(steps)
    return Journal(trial, consistent, sound=sound and len(consistent) == len(steps))


def _object(line: bytes) -> dict[str, Any]:
    if not line.endswith(b"\n"):
        raise ValueError("cut off")
    value: object = json.loads(line)
    if not isinstance(value, dict):
        raise ValueError("no object")  # noqa: TRY004 - it is about a file's content
    return cast("dict[str, Any]", value)


def _step(fields: dict[str, Any]) -> Step:
    kind = fields.pop("kind", None)
    if not isinstance(kind, str) or kind not in _STEP_TYPES:
        raise ValueError(f"unknown kind of step: {kind!r}")
    return record_from(_STEP_TYPES[kind], fields)


def _fields(record: Trial | Prompt | Think | Act | Event) -> dict[str, object]:
    values = ((field.name, getattr(record, field.name)) for field in dataclasses.fields(record))
    return {name: value for name, value in values if value is not None}


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, object]", value))
    raise TypeError(f"not JSON: {value!r}")
