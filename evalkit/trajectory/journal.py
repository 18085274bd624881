"""What has a trial in flight done so far?

One JSON object a line: the trial's header, then its steps. A line that was cut off when the process died
ends what is known.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from evalkit.trajectory.atomic import writing
from evalkit.trajectory.clean import cleaned
from evalkit.trajectory.consistency import consistent_prefix
from evalkit.trajectory.step import Act, Event, Prompt, Step, Think
from evalkit.trajectory.trial import Trial

_STEP_TYPES = {kind.kind: kind for kind in (Prompt, Think, Act, Event)}
_TIMES = ("started_at", "finished_at")


class TrialJournal:
    """The append-only file of one trial in flight.

    When `append` returns, the step survives the death of this process.
    """

    def __init__(self, path: Path, header: Trial) -> None:
        self.path = path
        with writing(path.parent.parent):
            path.parent.mkdir(exist_ok=True)
            self._handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o644)
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


def interrupted(header: Mapping[str, object]) -> Trial:
    """What becomes of a trial that was begun with this header and never finished.

    Raises ValueError for a header that says no trial: unknown columns, or the identity incomplete.
    """
    fields: dict[str, Any] = {
        **header,
        "status": "unscored",
        "reward": None,
        "rewards": None,
        "checks": None,
        "error_origin": "harness",
        "error_type": "interrupted",
        "error_message": "The process that ran this trial ended before the trial did.",
    }
    for name in _TIMES:
        if isinstance(fields.get(name), str):
            fields[name] = datetime.fromisoformat(fields[name])
    fields["skills"] = tuple(fields.get("skills") or ())
    try:
        return Trial(**fields)
    except TypeError as error:
        raise ValueError(f"not the header of a trial: {error}") from error


def read_journal(path: Path) -> tuple[Trial, tuple[Step, ...]] | None:
    """The trial as interrupted, with the steps that are known; None where not even the header is."""
    with path.open("rb") as lines:
        try:
            trial = interrupted(_object(lines.readline()))
        except (ValueError, RecursionError):
            return None
        steps: list[Step] = []
        for line in lines:
            try:
                steps.append(_step(_object(line)))
            except (ValueError, TypeError, KeyError, RecursionError):
                break
    return trial, consistent_prefix(steps)


def _object(line: bytes) -> dict[str, Any]:
    if not line.endswith(b"\n"):
        raise ValueError("cut off")
    return dict(json.loads(line))


def _step(fields: dict[str, Any]) -> Step:
    kind = _STEP_TYPES[fields.pop("kind")]
    if "started_at" in fields:
        fields["started_at"] = datetime.fromisoformat(fields["started_at"])
    return kind(**fields)


def _fields(record: Trial | Prompt | Think | Act | Event) -> dict[str, object]:
    values = ((field.name, getattr(record, field.name)) for field in dataclasses.fields(record))
    return {name: value for name, value in values if value is not None}


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, object]", value))
    raise TypeError(f"not JSON: {value!r}")
