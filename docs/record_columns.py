"""What does every column of the record mean? The tables of record.md, from evalkit.trajectory's own source.

A field's docstring is its meaning; columns.toml says what comes before it, or in its place. Types come from the
Arrow schema, allowed words from the field's Literal.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import itertools
import re
import sys
import tomllib
import types
import typing
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from evalkit.trajectory.effect import Effect
from evalkit.trajectory.manifest import RunManifest
from evalkit.trajectory.schema import SCHEMAS
from evalkit.trajectory.score import ScoreRow
from evalkit.trajectory.step import Act, Event, Prompt, Think
from evalkit.trajectory.trial import Trial

RECORDS: dict[str, tuple[type, ...]] = {
    "trials": (Trial,),
    "steps": (Prompt, Think, Act, Event),
    "effects": (Effect,),
    "scores": (ScoreRow,),
}
MANIFEST = "run.json"
WRITTEN = tomllib.loads(Path(__file__).with_name("columns.toml").read_text("utf-8"))


@dataclasses.dataclass(frozen=True)
class Field:
    """One field of a stored record: what its source says about it."""

    meaning: str | None
    words: tuple[str, ...]


def table(name: str) -> str:
    """The Markdown table of one table of a run, or of run.json. Raises SystemExit where a meaning is missing."""
    fields = _fields(RunManifest) if name == MANIFEST else _columns(name)
    kinds = _json_types() if name == MANIFEST else {one.name: _type(one.type) for one in SCHEMAS[name]}
    written, later = WRITTEN[name]["meaning"], WRITTEN[name].get("later", [])
    _refuse(name, "stored, but in no record", set(kinds) - set(fields))
    _refuse(name, "in a record, but not stored", set(fields) - set(kinds))
    _refuse(
        name,
        "without a meaning here or in the source",
        {c for c in kinds if not fields[c].meaning} - set(written),
    )
    _refuse(name, "not there", {*written, *later} - set(kinds))
    users = _users() if name == "steps" else None
    head = ["column", "type", *(["kinds"] if users else []), "meaning"]
    lines = [_row(head), _row(["---"] * len(head))]
    for column, kind in kinds.items():
        meaning = [
            written.get(column),
            fields[column].meaning,
            *(f"`{word}`" for word in fields[column].words),
        ]
        meaning += ["*Not filled in yet.*"] if column in later else []
        said = re.sub(r"\bNone\b", "null", " ".join(part for part in meaning if part))
        lines.append(_row([f"`{column}`", kind, *([users[column]] if users else []), said]))
    return "\n".join(lines)


def _refuse(name: str, problem: str, columns: set[str]) -> None:
    if columns:
        raise SystemExit(f"docs/columns.toml: [{name}]: {problem}: {', '.join(sorted(columns))}")


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _columns(name: str) -> dict[str, Field]:
    """The fields of a table's records; where several kinds of step share one, the first docstring counts."""
    found: dict[str, Field] = {}
    if name == "steps":
        kinds = tuple(record.kind for record in RECORDS["steps"])
        found = {"trial_id": Field(None, ()), "kind": Field(None, kinds)}
    for record in RECORDS[name]:
        for field, said in _fields(record).items():
            if field not in found or found[field].meaning is None:
                found[field] = said
    return found


def _users() -> dict[str, str]:
    """Which kinds of step use a column of `steps`."""
    records = {record.kind: set(_fields(record)) for record in RECORDS["steps"]}
    users: dict[str, str] = {}
    for column in SCHEMAS["steps"].names:
        kinds = [kind for kind, fields in records.items() if column in fields]
        users[column] = "all" if len(kinds) in (0, len(records)) else ", ".join(kinds)
    return users


def _fields(record: type) -> dict[str, Field]:
    hints = typing.get_type_hints(record)
    said = {name: text for base in reversed(record.__mro__) for name, text in _docstrings(base)}
    return {
        field.name.removesuffix("_"): Field(said.get(field.name), tuple(_words(hints[field.name])))
        for field in dataclasses.fields(record)
    }


def _docstrings(record: type) -> Iterator[tuple[str, str]]:
    """The string that stands under each field of a class."""
    if not dataclasses.is_dataclass(record):
        return
    (body,) = (
        node.body
        for node in ast.walk(ast.parse(inspect.getsource(sys.modules[record.__module__])))
        if isinstance(node, ast.ClassDef) and node.name == record.__name__
    )
    for field, following in itertools.pairwise(body):
        named = isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if named and isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
            yield field.target.id, " ".join(str(following.value.value).split())


def _words(hint: object) -> Iterator[str]:
    """The words of a Literal, also within `| None`."""
    if typing.get_origin(hint) is typing.Literal:
        yield from typing.get_args(hint)
    elif typing.get_origin(hint) in (typing.Union, types.UnionType):
        for part in typing.get_args(hint):
            yield from _words(part)


def _type(kind: pa.DataType) -> str:
    if pa.types.is_map(kind):
        return f"map {_type(kind.key_type)} to {_type(kind.item_type)}"
    if pa.types.is_list(kind):
        return f"list of {_type(kind.value_type)}"
    names = {"timestamp[us, tz=UTC]": "time, UTC", "int64": "integer", "double": "number"}
    return names.get(str(kind), str(kind))


def _json_types() -> dict[str, str]:
    shown = {"str": "string", "datetime": "time", "int": "integer", "tuple": "list", "Mapping": "object"}
    found: dict[str, str] = {}
    for field in dataclasses.fields(RunManifest):
        name = str(field.type).partition("[")[0].partition(" ")[0]
        found[field.name] = shown[name]
    return found
