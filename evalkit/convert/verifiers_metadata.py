"""What does the metadata beside verifiers' results say, and does it fit to them?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evalkit.convert.asked import thinking_asked
from evalkit.convert.json_text import JsonReader
from evalkit.convert.notes import Notes, Refused
from evalkit.convert.reported import finite
from evalkit.convert.source import Source
from evalkit.models.wire.json_values import as_object, text_in

_FOLDER = re.compile(r"(?P<env>.+?)--(?P<model>.+)")
"""As `vf-eval` names its folders: outputs/evals/<env>--<model>/<id>."""
_NEARLY = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """What is the same for all rows."""

    env: str
    model: str | None
    thinking: str | None
    temperature: float | None
    settings: Mapping[str, Any]
    averages: Mapping[str, float]
    """By column, as stated."""


def metadata_of(source: Source, notes: Notes) -> Metadata:
    """By `metadata.json` in the same folder, and where that is silent by the folder's name."""
    told = _read(source, notes)
    sampling = as_object(told.get("sampling_args"))
    arguments = {**told, **sampling}
    path = source.path.resolve().parent
    named = next(
        (found for name in (path.name, path.parent.name) if (found := _FOLDER.fullmatch(name))), None
    )
    env = text_in(told.get("env_id")) or text_in(told.get("env")) or (named["env"] if named else None)
    if env is None:
        env = path.name if source.name == "results.jsonl" else source.name.rpartition(".")[0] or source.name
    model = text_in(told.get("model")) or (named["model"].replace("--", "/") if named else None)
    if model is None:
        notes.warn("neither metadata.json nor the folder's name tells the model; say it with --agent")
    return Metadata(
        env=env,
        model=model,
        thinking=thinking_asked(sampling),
        temperature=finite(arguments.get("temperature"), notes, "a temperature"),
        settings={
            "model": model,
            **{
                name: told[name]
                for name in (
                    "env_args",
                    "base_url",
                    "sampling_args",
                    "max_tokens",
                    "temperature",
                    "version_info",
                )
                if told.get(name) is not None
            },
        },
        averages=_averages(told),
    )


def _read(source: Source, notes: Notes) -> Mapping[str, object]:
    beside = Source(source.path.with_name("metadata.json"))
    if not beside.path.is_file():
        packed = Source(source.path.with_name("metadata.json.gz"))
        if not packed.path.is_file():
            return {}
        beside = packed
    try:
        _ = beside.head
        return JsonReader(notes).object(beside.text(notes))
    except Refused as problem:
        notes.lose(f"metadata.json: {problem}")
        return {}


def _averages(told: Mapping[str, object]) -> dict[str, float]:
    stated = {name.removeprefix("avg_"): value for name, value in told.items() if name.startswith("avg_")}
    stated = {**as_object(stated.pop("metrics", None)), **stated}
    unheard = Notes()
    found = {name: finite(value, unheard, "an average") for name, value in stated.items()}
    return {name: value for name, value in found.items() if value is not None}


@dataclass(slots=True)
class Means:
    """The columns of the rows that were read, added up."""

    sums: dict[str, float] = field(default_factory=dict[str, float])
    counts: dict[str, int] = field(default_factory=dict[str, int])

    def add(self, columns: Mapping[str, float]) -> None:
        """One more row."""
        for name, value in columns.items():
            self.sums[name] = self.sums.get(name, 0.0) + value
            self.counts[name] = self.counts.get(name, 0) + 1

    def compare(self, stated: Mapping[str, float], notes: Notes) -> None:
        """Remark on every stated average that is not that of the rows."""
        for name, average in stated.items():
            if name in self.counts:
                mean = self.sums[name] / self.counts[name]
                if abs(mean - average) > _NEARLY * max(1.0, abs(mean)):
                    notes.warn(
                        f"metadata.json says that {name} is {average:.6g} on average; the rows give {mean:.6g}"
                    )
