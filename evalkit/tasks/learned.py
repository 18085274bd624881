"""What has `suite check` found out about a suite's tasks that no file of theirs says?

Kept as `learned.json` beside suite.toml, each task's part pinned by its digest.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from evalkit.errors import ConfigError
from evalkit.tasks.section import Section
from evalkit.textfile import read_text

LEARNED_FILE = "learned.json"
VERSION = 1


@dataclass(frozen=True, slots=True)
class Learned:
    """What is known of one task."""

    noise: tuple[str, ...] = ()
    """Resources that change without anybody's doing, or as a cache."""
    passes_at_start: tuple[str, ...] = ()
    """Checks that pass before anybody has done anything."""


class _Entry(Section):
    digest: Annotated[str, Field(min_length=1)]
    noise: tuple[str, ...] = ()
    passes_at_start: tuple[str, ...] = ()


class _File(Section):
    version: Literal[1]
    tasks: Mapping[str, _Entry] = Field(default_factory=dict[str, _Entry])


def read_learned(folder: Path, digests: Mapping[str, str]) -> tuple[dict[str, Learned], tuple[str, ...]]:
    """By task what is known of it, and warnings where that was found out about another state of a task.

    Raises ConfigError for a file that is there and is no such file.
    """
    path = folder / LEARNED_FILE
    if not path.is_file():
        return {}, ()
    entries = _read(path).tasks
    old = [task for task, digest in digests.items() if task in entries and entries[task].digest != digest]
    known = {
        task: Learned(entries[task].noise, entries[task].passes_at_start)
        for task in digests
        if task in entries and task not in old
    }
    if not old:
        return known, ()
    said = f"{path}: not used for {', '.join(old)}, which has changed since: evalkit suite check --learn"
    return known, (said,)


def write_learned(folder: Path, found: Mapping[str, Learned], digests: Mapping[str, str]) -> Path:
    """Keep what was found out about these tasks; what is known of others stays, as long as they exist."""
    path = folder / LEARNED_FILE
    kept: dict[str, object] = {}
    if path.is_file():
        kept = {
            task: entry.model_dump(mode="json")
            for task, entry in _read(path).tasks.items()
            if task in digests
        }
    for task, learned in found.items():
        kept[task] = {
            "digest": digests[task],
            "noise": sorted(learned.noise),
            "passes_at_start": sorted(learned.passes_at_start),
        }
    text = json.dumps({"version": VERSION, "tasks": dict(sorted(kept.items()))}, indent=1)
    try:
        path.write_text(f"{text}\n", encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"it cannot be written: {error.strerror}", where=str(path)) from None
    return path


def _read(path: Path) -> _File:
    hint = "Make it anew: evalkit suite check --learn, after removing it."
    try:
        return _File.model_validate_json(read_text(path), strict=False)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise ConfigError(
            f"{first['msg']}{f' ({place})' if place else ''}", where=str(path), hint=hint
        ) from None
