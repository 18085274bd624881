"""What is changed in a text before it is stored?

Two things: what is no valid UTF-8 becomes U+FFFD and is counted, and secrets become markers. NUL is
valid and stays. Names by which rows find each other (ids, digests) are made valid but never redacted.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any, TypeAlias, TypeVar, cast

from evalkit.trajectory.effect import Effect
from evalkit.trajectory.redaction import redact
from evalkit.trajectory.score import ScoreRow
from evalkit.trajectory.step import Act, Event, Prompt, Think
from evalkit.trajectory.trial import Trial

Record = TypeVar("Record", Trial, Prompt, Think, Act, Event, Effect, ScoreRow, Prompt | Think | Act | Event)

Collection: TypeAlias = tuple[object, ...] | Mapping[str, object]

_SURROGATE = re.compile("[\ud800-\udfff]")
_NAMES = frozenset(
    {
        "run_id",
        "trial_id",
        "suite",
        "suite_digest",
        "task_id",
        "task_digest",
        "variant",
        "agent",
        "agent_digest",
        "image_digest",
        "grader_digest",
        "workspace_digest",
        "request_digest",
        "reference_digest",
        "scorer",
        "scorer_version",
        "metric",
    }
)


def valid_text(text: str) -> tuple[str, int]:
    """The text as valid Unicode, and how many characters of it became U+FFFD.

    Bytes that were decoded with `surrogateescape` and lone surrogates out of JSON are what occurs.
    """
    if text.isascii():
        return text, 0
    return _SURROGATE.subn("\ufffd", text)


def cleaned(record: Record) -> Record:
    """The record as it is stored. Returns the same object where nothing had to change."""
    changes: dict[str, Any] = {}
    replaced = 0
    for field in dataclasses.fields(record):
        value: Any = getattr(record, field.name)
        if isinstance(value, str):
            new, count = valid_text(value)
            if field.name not in _NAMES:
                new = redact(new)
        elif isinstance(value, tuple | Mapping):
            new, count = _cleaned_collection(cast("Collection", value))
        else:
            continue
        replaced += count
        if new != value:
            changes[field.name] = new
    if not changes:
        return record
    if replaced and not isinstance(record, Effect | ScoreRow):
        changes["replaced_chars"] = record.replaced_chars + replaced
    return dataclasses.replace(record, **changes)


def _cleaned_collection(value: Collection) -> tuple[object, int]:
    """Skills, step numbers, or a map from names to numbers."""
    pairs = [valid_text(item) if isinstance(item, str) else (item, 0) for item in value]
    count = sum(number for _, number in pairs)
    if isinstance(value, Mapping):
        return {name: value[key] for (name, _), key in zip(pairs, value, strict=True)}, count
    return tuple(item for item, _ in pairs), count
